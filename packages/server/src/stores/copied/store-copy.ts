import type { LayerCommit, Revision, RevisionId, Store, StoredResource } from "../../contracts/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { followedSince } from "../following.js";

const seenKey = "copy/seen";
/** Another server of this machine may write the same copy. */
const mostConflicts = 10;

/**
 * A copy of what the heads of another store hold, in a store of this machine: a server may start from it while the
 * other one is away. It has no history. A revision of the copy says in its message what it copies, so that a copy that
 * was cut off is an older copy, and never half of one.
 */
export class StoreCopy {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Where it is. */
  get name(): string {
    return this.#store.name;
  }

  /** The heads as the other store has them, as of `seen`. */
  async heads(): Promise<readonly Revision[]> {
    return (await this.#store.heads()).map(copied);
  }

  /** The content of a head; undefined: it is not copied. */
  async read(id: RevisionId): Promise<readonly StoredResource[] | undefined> {
    const head = (await this.#store.heads()).find((one) => copied(one).id === id);
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

  /** The other store has these heads now. The cost follows what changed. */
  async take(from: Store, heads: readonly Revision[]): Promise<void> {
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const own = new Map((await this.#store.heads()).map((head) => [head.layer, head]));
      const commits: LayerCommit[] = [];
      const told: Record<LayerName, Revision> = {};
      for (const head of heads) {
        const before = own.get(head.layer);
        const known = before && copied(before);
        if (known?.id === head.id) continue;
        // A server of this machine that heard of it later must not bring back what was. A store that was restored from a
        // backup has an older head, and says so.
        const isOld = known !== undefined && known.number >= head.number;
        if (isOld && (await from.head(head.layer))?.id !== head.id) continue;
        const { layer, kind, upsert, remove } = await followedSince(from, known, head);
        commits.push({ layer, parent: before?.id, kind, upsert, remove, always: true });
        told[layer] = head;
      }
      if (commits.length === 0) break;
      const message = JSON.stringify(told);
      const cause = { kind: "source", source: from.name } as const;
      const result = await this.#store.commit(commits, { author: "", cause, message, time: Date.now() });
      if (result.kind === "conflict") continue;
      await this.#store.retain({ revisions: 1, since: Date.now() });
      break;
    }
    await this.isNewest();
  }

  /** The copied heads are the newest ones until now. */
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
