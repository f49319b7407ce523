import type { Registry, Resource, ResourceTypes } from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import type { LayerUpdate, Source } from "../../contracts/source.js";
import type { Revision, RevisionId, Store, StoredResource, StoredVersion } from "../../contracts/stores/store.js";
import { maxChanges } from "../history/following.js";
import { decodeStored } from "../history/stored-content.js";
import type { KeptSourceOptions } from "./kept-options.js";

type Owned = Pick<KeptSourceOptions, "store" | "layers">;
type DecodingOptions = { readonly types: ResourceTypes; readonly registry: Registry };

/** What a source had when it was good for the last time. */
export interface LastGoodContent {
  /** Of all its layers. */
  readonly heads: readonly Revision[];
  readonly updates: readonly LayerUpdate[];
}

/** The heads of the source's layers. */
export async function ownHeads({ store, layers }: Owned): Promise<readonly Revision[]> {
  return (await store.heads()).filter(({ layer }) => layers.includes(layer));
}

/** The same; undefined: a layer has none. */
export async function headsOfAll(owned: Owned): Promise<readonly Revision[] | undefined> {
  const heads = await ownHeads(owned);
  return heads.length < owned.layers.length ? undefined : heads;
}

/** Reads all that these heads hold. */
export async function readLastGood(
  store: Store,
  heads: readonly Revision[],
  decoding: DecodingOptions,
): Promise<LastGoodContent> {
  const updates: LayerUpdate[] = [];
  for (const { id, layer } of heads) {
    const upsert = (await store.read(id)).map((stored) => decodeStored(stored, decoding));
    updates.push({ layer, kind: "replace", upsert });
  }
  return { heads, updates };
}

/**
 * The same for a source that has these updates now: only what it has not is read. Undefined: it has the same.
 */
export async function lastGoodUnlike(
  now: readonly LayerUpdate[],
  store: Store,
  heads: readonly Revision[],
  decoding: DecodingOptions,
): Promise<LastGoodContent | undefined> {
  const updates: LayerUpdate[] = [];
  let isSame = true;
  for (const { id, layer } of heads) {
    const has = new Map(now.filter((one) => one.layer === layer).flatMap(({ upsert }) => upsert.map(withItsId)));
    const upsert: Resource[] = [];
    const others: StoredVersion[] = [];
    for (const one of await store.versions(id)) {
      const same = has.get(idOf({ type: { typeUrl: one.type }, key: one.key }));
      if (same?.version === one.version) upsert.push(same);
      else others.push(one);
    }
    isSame &&= others.length === 0 && upsert.length === has.size;
    for (const stored of await contentsOf(store, id, others)) upsert.push(decodeStored(stored, decoding));
    updates.push({ layer, kind: "replace", upsert });
  }
  return isSame ? undefined : { heads, updates };
}

/**
 * The same updates, but each names only the files of what the last good revision does not have. The file of what is
 * gone is not known any more.
 */
export function withFilesSince(
  updates: readonly LayerUpdate[],
  lastGood: LastGoodContent,
  source: Pick<Source, "fileOf">,
): readonly LayerUpdate[] {
  return updates.map((update) => {
    const { layer, kind, upsert, files } = update;
    const had = lastGood.updates.find((one) => one.layer === layer);
    if (kind !== "replace" || files === undefined || had === undefined) return update;
    const before = new Map(had.upsert.map(withItsId));
    const changed = upsert.filter((one) => before.get(idOf(one))?.version !== one.version);
    const from = new Set(changed.map((one) => source.fileOf?.(layer, one)));
    return { ...update, files: files.filter((file) => from.has(file)) };
  });
}

/** These contents of a revision. Many are read at once. */
async function contentsOf(
  store: Store,
  id: RevisionId,
  versions: readonly StoredVersion[],
): Promise<readonly StoredResource[]> {
  const found: StoredResource[] = [];
  for (const one of versions.length > maxChanges ? [] : versions) {
    const bytes = await store.content(one.type, one.key, one.version);
    if (bytes !== undefined) found.push({ ...one, bytes });
  }
  if (found.length === versions.length) return found;
  const ids = new Set(versions.map(({ type, key }) => idOf({ type: { typeUrl: type }, key })));
  return (await store.read(id)).filter(({ type, key }) => ids.has(idOf({ type: { typeUrl: type }, key })));
}

function withItsId(resource: Resource): readonly [string, Resource] {
  return [idOf(resource), resource];
}
