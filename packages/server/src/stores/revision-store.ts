import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type ResourceName, type TypeUrl, type Version, XdskitError } from "@xdskit/api";
import type {
  CommitInfo,
  CommitResult,
  LayerCommit,
  Retention,
  Revision,
  RevisionId,
  Store,
  StoredChange,
  StoredKey,
  StoredResource,
} from "../contracts/store.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Reader, Tables, Writer } from "./tables.js";

/*
 * The tables, by key:
 *   heads       layer → id of its head
 *   revisions   id → Revision
 *   history     layer, number → id
 *   changes     id, part → what the revision changed, with the versions from before: read backwards they undo it
 *   index       layer, resource → what the head holds
 *   contents    resource, version → bytes
 *   references  the same → how often `index`, or `from` in `changes`, names it: at 0 the content goes
 *   meta        what `open` must clear up
 * Layers and resources stand there as hashes: names may be longer than a database's keys.
 */

interface IndexEntry extends StoredKey {
  readonly version: Version;
}

/** One entry of `index` and what a commit makes of it. */
interface Difference extends StoredChange {
  readonly entry: string;
  /** Undefined where the resource goes. */
  readonly resource: StoredResource | undefined;
}

/** So many changes of a revision are one value. */
const changesInPart = 500;
/** So many contents are looked at or written at once: others get a turn in between. */
const partSize = 1_000;
/** Set while contents are written ahead of their revision. */
const aheadKey = "ahead";

/** A `Store` over any database that has transactions. */
export class RevisionStore implements Store {
  readonly name: string;
  readonly #tables: Tables;

  private constructor(name: string, tables: Tables) {
    this.name = name;
    this.#tables = tables;
  }

  /** Opens it, and removes what a killed process left of a commit. */
  static async open(name: string, tables: Tables): Promise<RevisionStore> {
    if (tables.read((reader) => reader.get("meta", aheadKey)) !== undefined) {
      await tables.write((writer) => {
        for (const [key] of [...writer.range("contents", "")]) {
          if (writer.get("references", key) === undefined) writer.remove("contents", key);
        }
        writer.remove("meta", aheadKey);
      });
    }
    return new RevisionStore(name, tables);
  }

  async heads(): Promise<readonly Revision[]> {
    return this.#tables
      .read((reader) => [...reader.range<RevisionId>("heads", "")].map(([, id]) => revisionOf(reader, id)))
      .sort((a, b) => (a.layer < b.layer ? -1 : 1));
  }

  async head(layer: LayerName): Promise<Revision | undefined> {
    return this.#tables.read((reader) => headOf(reader, hashOf(layer)));
  }

  async revision(id: RevisionId): Promise<Revision | undefined> {
    return this.#tables.read((reader) => findRevision(reader, id));
  }

  async history(
    layer: LayerName,
    { limit, before = Number.POSITIVE_INFINITY }: { readonly limit: number; readonly before?: number },
  ): Promise<readonly Revision[]> {
    return this.#tables.read((reader) => {
      const found: Revision[] = [];
      for (const [, id] of reader.range<RevisionId>("history", hashOf(layer), "descending")) {
        if (found.length >= limit) break;
        const revision = revisionOf(reader, id);
        if (revision.number < before) found.push(revision);
      }
      return found;
    });
  }

  async read(id: RevisionId): Promise<readonly StoredResource[]> {
    return this.#tables.read((reader) => {
      const { layer, number } = known(reader, id);
      const layerHash = hashOf(layer);
      const held = new Map<string, IndexEntry>();
      for (const [key, entry] of reader.range<IndexEntry>("index", layerHash)) held.set(key, entry);
      for (const [, later] of reader.range<RevisionId>("history", layerHash, "descending")) {
        if (revisionOf(reader, later).number <= number) break;
        for (const { type, key, from } of changesOf(reader, later)) {
          const entry = layerHash + resourceHash(type, key);
          if (from === undefined) held.delete(entry);
          else held.set(entry, { type, key, version: from });
        }
      }
      return [...held.values()].map((entry) => ({
        ...entry,
        bytes: reader.get<Uint8Array>("contents", contentKey(entry.type, entry.key, entry.version)) ?? missing(entry),
      }));
    });
  }

  async changes(id: RevisionId): Promise<readonly StoredChange[]> {
    return this.#tables.read((reader) => changesOf(reader, known(reader, id).id));
  }

  async content(type: TypeUrl, key: ResourceName, version: Version): Promise<Uint8Array | undefined> {
    return this.#tables.read((reader) => reader.get<Uint8Array>("contents", contentKey(type, key, version)));
  }

  async commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult> {
    const isAhead = await this.#writeAhead(layers.flatMap(({ upsert }) => upsert));
    return await this.#tables.write((writer) => {
      const conflict = layers.find(({ layer, parent }) => writer.get("heads", hashOf(layer)) !== parent);
      if (conflict !== undefined) {
        const { layer } = conflict;
        // What was written ahead of it is cleared up when the store is opened: another commit may need it until then.
        return { kind: "conflict", layer, head: headOf(writer, hashOf(layer)) };
      }
      const heads = layers.map((one) => commitLayer(writer, one, info));
      if (isAhead) writer.remove("meta", aheadKey);
      return { kind: "committed", heads };
    });
  }

  async retain(retention: Retention): Promise<number> {
    // Mostly there is nothing to do, which costs no transaction.
    if (this.#tables.read((reader) => oldIn(reader, retention)).length === 0) return 0;
    return await this.#tables.write((writer) => {
      const old = oldIn(writer, retention);
      for (const { key, id } of old) forget(writer, key, id);
      return old.length;
    });
  }

  close(): Promise<void> {
    return this.#tables.close();
  }

  /**
   * Writes the contents of a large commit in parts, so that serving never waits for all of them. False: few are new,
   * and the commit itself writes them.
   */
  async #writeAhead(resources: readonly StoredResource[]): Promise<boolean> {
    const fresh: StoredResource[] = [];
    for (const part of inParts(resources)) {
      this.#tables.read((reader) => {
        for (const one of part) if (!holdsContent(reader, one)) fresh.push(one);
      });
      await nextTurn();
    }
    if (fresh.length <= partSize) return false;
    for (const part of inParts(fresh)) {
      await this.#tables.write((writer) => {
        writer.put("meta", aheadKey, true);
        for (const one of part) putContent(writer, one);
      });
      await nextTurn();
    }
    return true;
  }
}

function* inParts(resources: readonly StoredResource[]): Iterable<readonly StoredResource[]> {
  for (let at = 0; at < resources.length; at += partSize) yield resources.slice(at, at + partSize);
}

function commitLayer(writer: Writer, commit: LayerCommit, info: CommitInfo): Revision | undefined {
  const { layer, parent } = commit;
  const layerHash = hashOf(layer);
  const before = headOf(writer, layerHash);
  const differences = differencesOf(writer, layerHash, commit);
  if (differences.length === 0 && before !== undefined) return before;
  const changes: StoredChange[] = [];
  for (const { entry, resource, type, key, from, to } of differences) {
    changes.push({ type, key, from, to });
    // The reference from `index` to the content of before becomes one from `changes`.
    if (resource === undefined) writer.remove("index", entry);
    else {
      putContent(writer, resource);
      writer.put("index", entry, { type, key, version: resource.version } satisfies IndexEntry);
      refer(writer, contentKey(type, key, resource.version), 1);
    }
  }
  const number = (before?.number ?? 0) + 1;
  const removed = changes.filter(({ to }) => to === undefined).length;
  const said = { layer, parent, number, ...info, upserted: changes.length - removed, removed };
  const revision: Revision = { id: hashOf(JSON.stringify([said, changes])), ...said };
  writer.put("revisions", revision.id, revision);
  writer.put("history", layerHash + numberKey(number), revision.id);
  writer.put("heads", layerHash, revision.id);
  for (let at = 0; at < changes.length; at += changesInPart)
    writer.put("changes", revision.id + numberKey(at), changes.slice(at, at + changesInPart));
  return revision;
}

function differencesOf(reader: Reader, layerHash: string, commit: LayerCommit): readonly Difference[] {
  const differences = new Map<string, Difference>();
  const note = ({ type, key }: StoredKey, resource?: StoredResource): string => {
    const entry = layerHash + resourceHash(type, key);
    const from = reader.get<IndexEntry>("index", entry)?.version;
    const to = resource?.version;
    if (from === to) differences.delete(entry);
    else differences.set(entry, { entry, resource, type, key, from, to });
    return entry;
  };
  for (const one of commit.remove ?? []) note(one);
  // What one commit both removes and puts in is there afterwards.
  const put = new Set(commit.upsert.map((one) => note(one, one)));
  if (commit.kind === "patch") return [...differences.values()];
  for (const [entry, { type, key, version }] of reader.range<IndexEntry>("index", layerHash)) {
    if (put.has(entry)) continue;
    differences.set(entry, { entry, resource: undefined, type, key, from: version, to: undefined });
  }
  return [...differences.values()];
}

/** The revisions that retention does not keep, by their keys in `history`: the oldest ones of each layer. */
function oldIn(
  reader: Reader,
  { revisions, since }: Retention,
): readonly { readonly key: string; readonly id: string }[] {
  const old: { readonly key: string; readonly id: RevisionId }[] = [];
  for (const [layerHash, head] of reader.range<RevisionId>("heads", "")) {
    const newest = revisionOf(reader, head).number;
    for (const [key, id] of reader.range<RevisionId>("history", layerHash)) {
      const { number, time } = revisionOf(reader, id);
      if (id === head || (number > newest - revisions && time >= since)) break;
      old.push({ key, id });
    }
  }
  return old;
}

/** Removes the oldest revision of a layer: what it replaced cannot be read any more. */
function forget(writer: Writer, historyKey: string, id: RevisionId): void {
  for (const { type, key, from } of changesOf(writer, id)) {
    if (from !== undefined) refer(writer, contentKey(type, key, from), -1);
  }
  for (const [part] of [...writer.range("changes", id)]) writer.remove("changes", part);
  writer.remove("history", historyKey);
  writer.remove("revisions", id);
}

function refer(writer: Writer, content: string, by: 1 | -1): void {
  const count = (writer.get<number>("references", content) ?? 0) + by;
  if (count > 0) writer.put("references", content, count);
  else {
    writer.remove("references", content);
    writer.remove("contents", content);
  }
}

function putContent(writer: Writer, resource: StoredResource): void {
  if (holdsContent(writer, resource)) return;
  writer.put("contents", contentKey(resource.type, resource.key, resource.version), resource.bytes);
}

function holdsContent(reader: Reader, { type, key, version }: StoredResource): boolean {
  const content = contentKey(type, key, version);
  // Where a revision has it, nobody must read it.
  return reader.get("references", content) !== undefined || reader.get("contents", content) !== undefined;
}

function changesOf(reader: Reader, id: RevisionId): readonly StoredChange[] {
  const parts = [...reader.range<readonly StoredChange[]>("changes", id)].flatMap(([, part]) => part);
  return parts.map(({ type, key, from, to }) => ({ type, key, from, to }));
}

function headOf(reader: Reader, layerHash: string): Revision | undefined {
  const id = reader.get<RevisionId>("heads", layerHash);
  return id === undefined ? undefined : revisionOf(reader, id);
}

function findRevision(reader: Reader, id: RevisionId): Revision | undefined {
  const found = reader.get<Revision>("revisions", id);
  // JSON knows no undefined.
  return found === undefined ? undefined : { ...found, parent: found.parent };
}

/** A revision that another table names. */
function revisionOf(reader: Reader, id: RevisionId): Revision {
  const revision = findRevision(reader, id);
  if (revision === undefined) throw XdskitError.of("XDSKIT_STORE", `it is damaged: there is no revision ${id}`);
  return revision;
}

/** A revision that a caller names. */
function known(reader: Reader, id: RevisionId): Revision {
  const revision = findRevision(reader, id);
  if (revision === undefined)
    throw XdskitError.of("XDSKIT_REVISION_UNKNOWN", `there is no revision ${id.slice(0, 100)}`);
  return revision;
}

function missing({ type, key }: StoredKey): never {
  throw XdskitError.of("XDSKIT_STORE", "it is damaged: a content is missing", { type, resource: key });
}

/** 132 bits: collisions are practically impossible. */
function hashOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

function resourceHash(type: TypeUrl, key: ResourceName): string {
  return hashOf(JSON.stringify([type, key]));
}

function contentKey(type: TypeUrl, key: ResourceName, version: Version): string {
  return hashOf(JSON.stringify([type, key, version]));
}

/** Orders numbers as text. */
function numberKey(number: number): string {
  return number.toString().padStart(16, "0");
}
