import { getOrInsert, type XdskitError } from "@xdskit/api";
import type { StoredKey, StoredResource } from "@xdskit/server";
import { contentKey, damaged } from "@xdskit/server/tables";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue, Operation } from "./client/messages.js";
import { eachAtOnce, inParts, maxInRequest } from "./in-parts.js";
import { endOf, type Keys } from "./keys.js";

/** The target size of a page, in bytes. A much larger one takes long, and both ends hold it whole. */
const pageBytes = 4 * 1024 * 1024;
/** The first page has this many keys, each of which may be as large as a request may be. */
const firstPageKeys = 50;
const maxPageKeys = 5_000;

/** A resource without its bytes. */
export interface ContentName extends StoredKey {
  readonly version: string;
}

/** What puts a content: several values if it is larger than a request may be. */
export function putsOf(keys: Keys, resource: StoredResource): readonly Extract<Operation, { kind: "put" }>[] {
  const content = contentKey(resource.type, resource.key, resource.version);
  const { bytes } = resource;
  const puts: Extract<Operation, { kind: "put" }>[] = [];
  for (let at = 0; at === 0 || at < bytes.byteLength; at += maxInRequest.bytes) {
    const value = bytes.subarray(at, at + maxInRequest.bytes);
    puts.push({ kind: "put", key: keys.content(content, puts.length), value });
  }
  return puts;
}

/** Reads contents, whose bytes are undefined where they are not there. */
export async function readContents(
  client: EtcdClient,
  keys: Keys,
  names: readonly ContentName[],
): Promise<readonly (Uint8Array | undefined)[]> {
  const wanted = names.map(({ type, key, version }) => contentKey(type, key, version));
  const found = (await areMost(client, keys, wanted))
    ? await allContents(client, keys)
    : await someContents(client, keys, wanted);
  return wanted.map((content) => {
    const parts = found.get(content);
    return parts?.length === 1 ? parts[0] : parts && Buffer.concat(parts);
  });
}

/** Whether it costs less to read all contents. */
async function areMost(client: EtcdClient, keys: Keys, wanted: readonly string[]): Promise<boolean> {
  // One request has them; etcd would go through all keys to count them.
  if (wanted.length <= maxInRequest.operations) return false;
  const { count } = await client.range({ key: keys.contents(), end: endOf(keys.contents()), countOnly: true });
  // One by one costs about three times as much as reading along.
  return count < 3 * wanted.length;
}

type FoundContents = Map<string, Uint8Array[]>;

function note(found: FoundContents, keys: Keys, { key, value }: KeyValue): void {
  const [content = ""] = key.slice(keys.contents().length).split("/", 1);
  getOrInsert(found, content, () => []).push(value);
}

async function allContents(client: EtcdClient, keys: Keys): Promise<FoundContents> {
  const found: FoundContents = new Map();
  const end = endOf(keys.contents());
  let key = keys.contents();
  let limit = firstPageKeys;
  for (;;) {
    const page = await client.range({ key, end, limit });
    let bytes = 1;
    for (const one of page.found) {
      note(found, keys, one);
      bytes += one.value.byteLength;
    }
    const last = page.found.at(-1);
    if (!page.more || last === undefined) return found;
    key = `${last.key}\u0000`;
    limit = Math.min(maxPageKeys, 2 * limit, Math.ceil((page.found.length * pageBytes) / bytes));
  }
}

async function someContents(client: EtcdClient, keys: Keys, wanted: readonly string[]): Promise<FoundContents> {
  const found: FoundContents = new Map();
  const parts = inParts([...new Set(wanted)], () => 1);
  const answers = await eachAtOnce(parts, (part) =>
    client.transaction({
      compare: [],
      operations: part.map((content) => {
        const key = keys.content(content);
        return { kind: "range", range: { key: `${key}/`, end: endOf(`${key}/`) } };
      }),
    }),
  );
  for (const { ranges } of answers) for (const range of ranges) for (const one of range.found) note(found, keys, one);
  return found;
}

/** An error for a content that a revision names. */
export function missingContent({ type, key }: StoredKey): XdskitError {
  return damaged("a content is missing", { type, resource: key });
}
