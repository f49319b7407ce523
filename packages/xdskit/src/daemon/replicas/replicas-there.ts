import type { SharedEntry, SharedVersion } from "@xdskit/server";

/** One server of a store, as the others know it. */
export interface Replica {
  /** Another one with each start. */
  readonly id: string;
  /** For people: the host and the process, or the name of its place. */
  readonly name: string;
  /** The address for the others: `unix:PATH`, `http://HOST:PORT` or `https://HOST:PORT`. */
  readonly address: string;
  /** The version of xdskit that it runs. */
  readonly version: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  /** Its clients come to an address of its own: no other server's clients can be sent to it. */
  readonly isApart?: boolean | undefined;
}

/** An entry of the store. */
interface Listed {
  readonly replica: Replica;
  readonly version: SharedVersion;
}

const usualReturnMs = 8_000;

/**
 * The other servers of a store, as far as its entries tell. While the store is away, the last known servers stay known.
 * When it is back, all of them join it again, each in its own time: until then one that was known before counts as
 * there.
 */
export class ReplicasThere {
  readonly #selfId: string;
  readonly #returnMs: number;
  readonly #onChanged: () => void;
  #isAway = false;
  /** As the store told it last. */
  #listed: ReadonlyMap<string, Listed> = new Map();
  /** Those that may still join again. */
  readonly #returning = new Map<string, Listed & { readonly timer: NodeJS.Timeout }>();

  /** `returnMs`: how long after the store is back a server may take to join it again, in milliseconds. */
  constructor(selfId: string, returnMs: number | undefined, onChanged: () => void) {
    this.#selfId = selfId;
    this.#returnMs = returnMs ?? usualReturnMs;
    this.#onChanged = onChanged;
  }

  /** By id. */
  all(): ReadonlyMap<string, Replica> {
    return new Map(Array.from([...this.#returning, ...this.#listed], ([id, { replica }]) => [id, replica]));
  }

  away(): void {
    this.#isAway = true;
  }

  notified(entries: readonly SharedEntry[]): void {
    const listed = new Map<string, Listed>();
    for (const { value, version } of entries) {
      const replica = JSON.parse(value) as Replica;
      if (replica.id !== this.#selfId) listed.set(replica.id, { replica, version });
    }
    if (this.#isAway) this.#awaitReturns();
    this.#isAway = false;
    this.#listed = listed;
    // The store may still tell of a session that is about to end: only a new entry says that a server has come back.
    for (const [id, { version, timer }] of this.#returning)
      if (listed.has(id) && listed.get(id)?.version !== version) {
        clearTimeout(timer);
        this.#returning.delete(id);
      }
    this.#onChanged();
  }

  close(): void {
    for (const { timer } of this.#returning.values()) clearTimeout(timer);
  }

  /** A known server may have ended while the store was away, and nobody knows yet. */
  #awaitReturns(): void {
    for (const [id, { replica, version }] of this.#listed) {
      if (this.#returning.has(id)) continue;
      const timer = setTimeout(() => {
        this.#returning.delete(id);
        this.#onChanged();
      }, this.#returnMs).unref();
      this.#returning.set(id, { replica, version, timer });
    }
  }
}
