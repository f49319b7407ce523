import { XdskitError } from "@xdskit/api";
import type { ContentOfCopy, CopiedKeys } from "../../contracts/stores/copied-keys.js";
import type { SharedEntry } from "../../contracts/stores/shared-keys.js";
import type { LayerCommit, Revision, RevisionId, Store, StoredResource } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { maxConflicts } from "../basics/paces.js";
import { followedSince } from "../history/following.js";

const seenKey = "copy/seen";
/** Begins the keys of copied shared entries. */
const sharedPrefix = "copy/shared/";
/** Begins the layers that hold contents which copied entries name: several where versions of one resource meet. */
const namedLayers = "\u0000named by shared keys: ";

/**
 * A copy of what the heads of another store hold, in a store of this machine: a server may start from it while the
 * other one is away. It has no history. A revision of the copy says in its message what it copies, so that a copy that
 * was cut off is an older copy, and never half of one.
 */
export class StoreCopy {
  readonly #store: Store;
  /** What `#takeContents` has taken last. */
  #named: string | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Where it is. */
  get name(): string {
    return this.#store.name;
  }

  /** The heads as the other store has them, as of `seen`. */
  async heads(): Promise<readonly Revision[]> {
    return (await this.#copiedHeads()).map(copied);
  }

  /** The content of a head; undefined: it is not copied. */
  async read(id: RevisionId): Promise<readonly StoredResource[] | undefined> {
    const head = (await this.#copiedHeads()).find((one) => copied(one).id === id);
    return head && (await this.#store.read(head.id));
  }

  async content(...asked: Parameters<Store["content"]>): Promise<Uint8Array | undefined> {
    return await this.#store.content(...asked);
  }

  /** When this was known to be the newest, in milliseconds since 1970; undefined: there is no copy. */
  async seen(): Promise<number | undefined> {
    const [entry] = await this.#store.shared.list(seenKey);
    return entry && Number(entry.value);
  }

  /**
   * The other store has these heads now. The cost follows what changed. Rejects with XDSKIT_STORE if other
   * writers of the copy keep getting there first.
   */
  async take(from: Store, heads: readonly Revision[]): Promise<void> {
    for (let tries = 0; tries < maxConflicts; tries += 1) {
      const own = new Map((await this.#store.heads()).map((head) => [head.layer, head]));
      const commits: LayerCommit[] = [];
      const taken: Record<LayerName, Revision> = {};
      for (const head of heads) {
        const before = own.get(head.layer);
        const known = before && copied(before);
        if (known?.id === head.id) continue;
        // A server of this machine that heard of it later must not bring back what was. A store that was restored from
        // a backup has an older head, and says so.
        const isOld = known !== undefined && known.number >= head.number;
        if (isOld && (await from.head(head.layer))?.id !== head.id) continue;
        const { layer, kind, upsert, remove } = await followedSince(from, known, head);
        commits.push({ layer, parent: before?.id, kind, upsert, remove, always: true });
        taken[layer] = head;
      }
      if (commits.length === 0) return;
      const message = JSON.stringify(taken);
      const cause = { kind: "source", source: from.name } as const;
      const result = await this.#store.commit(commits, { author: "", cause, message, time: Date.now() });
      if (result.kind === "conflict") continue;
      await this.#store.retain({ revisions: 1, since: Date.now() });
      return;
    }
    throw othersWereFaster();
  }

  /** The copied entries whose keys begin so, with the versions that they have in the other store. */
  async shared(prefix: string): Promise<readonly SharedEntry[]> {
    const entries = await this.#store.shared.list(`${sharedPrefix}${prefix}`);
    return entries.map(({ key, value }) => {
      const end = value.indexOf("\n");
      return { key: key.slice(sharedPrefix.length), value: value.slice(end + 1), version: value.slice(0, end) };
    });
  }

  /** The other store has these entries now, of those that must be known at a start. Rejects as `take` does. */
  async takeShared(from: Pick<Store, "content">, keys: CopiedKeys, entries: readonly SharedEntry[]): Promise<void> {
    const { shared } = this.#store;
    const before = new Map((await this.shared(keys.prefix)).map((entry) => [entry.key, entry]));
    await this.#takeContents(from, keys.contentsOf(entries));
    // Backwards: what others name comes before those who name it.
    for (const { key, value, version } of entries.toReversed()) {
      if (before.get(key)?.version === version && before.get(key)?.value === value) continue;
      await shared.put({ key: sharedPrefix + key, value: `${version}\n${value}`, expected: "any" });
    }
    const now = new Set(entries.map(({ key }) => key));
    for (const key of before.keys()) if (!now.has(key)) await shared.remove(sharedPrefix + key, "any");
  }

  /** Holds these contents, and none that was there before for the same reason. */
  async #takeContents(from: Pick<Store, "content">, named: readonly ContentOfCopy[]): Promise<void> {
    const names = JSON.stringify(named);
    if (names === this.#named) return;
    const heads = (await this.#store.heads()).filter(({ layer }) => layer.startsWith(namedLayers));
    const layers = new Map<LayerName, Map<string, StoredResource>>(heads.map(({ layer }) => [layer, new Map()]));
    for (const { type, key, version } of named) {
      const bytes = (await this.#store.content(type, key, version)) ?? (await from.content(type, key, version));
      if (bytes === undefined) continue;
      const id = JSON.stringify([type, key]);
      for (let number = 0; ; number += 1) {
        const layer = `${namedLayers}${number}`;
        const resources = layers.get(layer) ?? new Map<string, StoredResource>();
        layers.set(layer, resources);
        if (resources.has(id) && resources.get(id)?.version !== version) continue;
        resources.set(id, { type, key, version, bytes });
        break;
      }
    }
    for (const [layer, resources] of layers) await this.#replace(layer, [...resources.values()]);
    await this.#store.retain({ revisions: 1, since: Date.now() });
    this.#named = names;
  }

  async #replace(layer: LayerName, upsert: readonly StoredResource[]): Promise<void> {
    const info = { author: "", cause: { kind: "source", source: "" }, message: "", time: Date.now() } as const;
    for (let tries = 0; tries < maxConflicts; tries += 1) {
      const parent = (await this.#store.head(layer))?.id;
      const result = await this.#store.commit([{ layer, parent, kind: "replace", upsert }], info);
      if (result.kind === "committed") return;
    }
    throw othersWereFaster();
  }

  async #copiedHeads(): Promise<readonly Revision[]> {
    return (await this.#store.heads()).filter(({ layer }) => !layer.startsWith(namedLayers));
  }

  /** Everything in the copy is up to date as of now. */
  async isNewest(): Promise<void> {
    await this.#store.shared.put({ key: seenKey, value: `${Date.now()}`, expected: "any" });
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}

/** The revision of the other store that a revision of the copy stands for. */
function copied({ layer, message }: Revision): Revision {
  const revision = (JSON.parse(message) as Record<LayerName, Revision>)[layer] as Revision;
  // JSON knows no undefined.
  return { ...revision, parent: revision.parent };
}

function othersWereFaster(): XdskitError {
  const message = `other servers of this machine wrote to it at the same time, ${maxConflicts} times`;
  return XdskitError.of("XDSKIT_STORE", message);
}
