import { setImmediate as nextTurn } from "node:timers/promises";
import type { ResourceName, TypeUrl, Version } from "@xdskit/api";
import type { StoreWatch } from "../../contracts/stores/shared-keys.js";
import type {
  CommitInfo,
  CommitResult,
  HeadsListener,
  LayerCommit,
  Retention,
  Revision,
  RevisionId,
  Store,
  StoredChange,
  StoredKey,
  StoredResource,
  StoredVersion,
} from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { damaged } from "../basics/damage.js";
import { storeFinding } from "../basics/store-finding.js";
import { commitLayers } from "./table-commit.js";
import { holdsContent, putContent } from "./table-contents.js";
import { aheadPrefix, contentKey, hashOf, newAheadMark, resourceHash } from "./table-keys.js";
import { onChange, TablePoll } from "./table-poll.js";
import { changesOf, findRevision, headOf, known, revisionOf } from "./table-reading.js";
import { forgetOld, oldIn } from "./table-retention.js";
import { TableShared } from "./table-shared.js";
import type { Reader, Tables } from "./tables.js";

/** The most resources to look at, to write, or to hand over at once: others get a turn in between. */
export const partSize = 1_000;

/**
 * Does in another thread what would hold up this one: transactions over more than 1,000 resources. Undefined: it cannot
 * be done there.
 */
export interface OtherThread {
  /** All contents were there when they were last looked at. `ahead`: the mark of those that were written for it. */
  commit(
    layers: readonly LayerCommit[],
    info: CommitInfo,
    ahead: string | undefined,
  ): Promise<CommitResult | undefined>;
  retain(retention: Retention): Promise<number | undefined>;
}

/** A `Store` over any database that has transactions. */
export class RevisionStore implements Store {
  readonly name: string;
  readonly #tables: Tables;
  readonly #other: OtherThread | undefined;
  readonly #poll = new TablePoll();
  readonly shared: TableShared;

  private constructor(name: string, tables: Tables, other: OtherThread | undefined) {
    this.name = name;
    this.#tables = tables;
    this.#other = other;
    this.shared = new TableShared(tables, this.#poll);
  }

  /** Opens it, and removes what a killed process left of a commit. */
  static async open(name: string, tables: Tables, other?: OtherThread): Promise<RevisionStore> {
    const isMarked = (reader: Reader) => [...reader.range("meta", aheadPrefix)].length > 0;
    if (tables.isReadOnly !== true && tables.read(isMarked)) {
      await tables.write((writer) => {
        for (const [key] of [...writer.range("contents", "")]) {
          if (writer.get("references", key) === undefined) writer.remove("contents", key);
        }
        for (const [key] of [...writer.range("meta", aheadPrefix)]) writer.remove("meta", key);
      });
    }
    return new RevisionStore(name, tables, other);
  }

  async heads(): Promise<readonly Revision[]> {
    return this.#tables.read(headsOf);
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
    const found: StoredResource[] = [];
    for (const part of inParts(this.#tables.read((reader) => versionsAt(reader, id)))) {
      if (found.length > 0) await nextTurn();
      this.#tables.read((reader) => {
        for (const entry of part) {
          const bytes = reader.get<Uint8Array>("contents", contentKey(entry.type, entry.key, entry.version));
          // It may have been forgotten meanwhile.
          if (bytes === undefined) known(reader, id);
          found.push({ ...entry, bytes: bytes ?? missing(entry) });
        }
      });
    }
    return found;
  }

  async versions(id: RevisionId): Promise<readonly StoredVersion[]> {
    return this.#tables.read((reader) => versionsAt(reader, id));
  }

  async changes(id: RevisionId): Promise<readonly StoredChange[]> {
    return this.#tables.read((reader) => changesOf(reader, known(reader, id).id));
  }

  async content(type: TypeUrl, key: ResourceName, version: Version): Promise<Uint8Array | undefined> {
    return this.#tables.read((reader) => reader.get<Uint8Array>("contents", contentKey(type, key, version)));
  }

  async commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult> {
    const other = this.#isLarge(layers) ? this.#other : undefined;
    const ahead = await this.#writeAhead(
      layers.flatMap(({ upsert }) => upsert),
      other === undefined ? partSize : 0,
    );
    const result =
      (await other?.commit(layers, info, ahead)) ??
      (await this.#tables.write((writer) => commitLayers(writer, layers, info, ahead)));
    this.#poll.nudge();
    return result;
  }

  async retain(retention: Retention): Promise<number> {
    const old = this.#tables.read((reader) => oldIn(reader, retention));
    // Mostly there is nothing to do, which costs no transaction.
    if (old.length === 0) return 0;
    const isLarge = old.reduce((sum, { changes }) => sum + changes, 0) > partSize;
    const there = isLarge ? await this.#other?.retain(retention) : undefined;
    return there ?? (await this.#tables.write((writer) => forgetOld(writer, retention)));
  }

  watch(listener: HeadsListener): StoreWatch {
    const look = onChange(this.#tables, {
      signature: (reader) => [...reader.range<RevisionId>("heads", "")].join(" "),
      read: headsOf,
      tell: (heads) => listener.moved(heads),
      away: (error) => listener.away(storeFinding(error)),
    });
    return { close: this.#poll.add(look) };
  }

  async close(): Promise<void> {
    this.#poll.close();
    await this.shared.close();
    await this.#tables.close();
  }

  /** Whether a commit goes through so many resources that serving would wait for it. */
  #isLarge(layers: readonly LayerCommit[]): boolean {
    let named = 0;
    for (const { layer, kind, upsert, remove = [] } of layers) {
      named += upsert.length + remove.length;
      if (named > partSize) return true;
      if (kind === "patch") continue;
      const count = this.#tables.read((reader) => countUpTo(reader.range("index", hashOf(layer)), partSize + 1));
      if (count > partSize) return true;
    }
    return false;
  }

  /**
   * Writes the contents of a large commit in parts, so that serving never waits for all of them. Returns its mark;
   * undefined: no more than `few` are new, and the commit itself writes them.
   */
  async #writeAhead(resources: readonly StoredResource[], few: number): Promise<string | undefined> {
    const fresh: StoredResource[] = [];
    for (const part of inParts(resources)) {
      this.#tables.read((reader) => {
        for (const one of part) if (!holdsContent(reader, one)) fresh.push(one);
      });
      await nextTurn();
    }
    if (fresh.length <= few) return undefined;
    const mark = newAheadMark();
    for (const part of inParts(fresh)) {
      await this.#tables.write((writer) => {
        writer.put("meta", mark, true);
        for (const one of part) putContent(writer, one);
      });
      await nextTurn();
    }
    return mark;
  }
}

function headsOf(reader: Reader): readonly Revision[] {
  return [...reader.range<RevisionId>("heads", "")]
    .map(([, id]) => revisionOf(reader, id))
    .sort((a, b) => (a.layer < b.layer ? -1 : 1));
}

/** What a revision holds: what its layer holds now, without what later revisions changed. */
function versionsAt(reader: Reader, id: RevisionId): readonly StoredVersion[] {
  const { layer, number } = known(reader, id);
  const layerHash = hashOf(layer);
  const versions = new Map<string, StoredVersion>();
  for (const [key, entry] of reader.range<StoredVersion>("index", layerHash)) versions.set(key, entry);
  for (const [, later] of reader.range<RevisionId>("history", layerHash, "descending")) {
    if (revisionOf(reader, later).number <= number) break;
    for (const { type, key, from } of changesOf(reader, later)) {
      const entry = layerHash + resourceHash(type, key);
      if (from === undefined) versions.delete(entry);
      else versions.set(entry, { type, key, version: from });
    }
  }
  return [...versions.values()];
}

function* inParts<T>(resources: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < resources.length; at += partSize) yield resources.slice(at, at + partSize);
}

function countUpTo(entries: Iterable<unknown>, most: number): number {
  let count = 0;
  for (const _ of entries) {
    count += 1;
    if (count === most) break;
  }
  return count;
}

function missing({ type, key }: StoredKey): never {
  throw damaged("a content is missing", { type, resource: key });
}
