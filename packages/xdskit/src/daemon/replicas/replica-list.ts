import { setTimeout as delay } from "node:timers/promises";
import { deferred, type Finding } from "@xdskit/api";
import type { SharedKeys, SharedSession, StoreWatch } from "@xdskit/server";
import { type Replica, ReplicasThere } from "./replicas-there.js";
import type { FindNeighbors } from "./state-socket.js";

export interface ReplicaListOptions {
  readonly shared: SharedKeys;
  readonly self: Replica;
  /** The keys of the members begin so. Default: those of the servers that can be asked. */
  readonly prefix?: string | undefined;
  /** `with-others`: only while there are any, since a lease is written again and again. */
  readonly joins: "always" | "with-others";
  /** Finds those that have not joined, since they know of nobody. */
  readonly neighbors?: FindNeighbors | undefined;
  /** Is called before the others are told of this server, also when they are told again. It is tried again. */
  readonly beforeJoin: () => Promise<void>;
  /** A replica that was there is gone: it was stopped, or is taken for dead. */
  readonly gone: (replica: Replica) => void;
  /** How long after the store is back a server may take to join it again, in milliseconds. Default: 8,000. */
  readonly returnMs?: number | undefined;
  /** Reports that this server cannot make itself known; it tries again. Undefined: the problem is over. */
  readonly problem: (finding: Finding | undefined) => void;
}

/** A server that is silent for this many milliseconds is taken for dead. */
const ttlMs = 6_000;
const retryMs = 1_000;
export const membersPrefix = "replicas/members/";

/** Knows the servers of the same store, and makes this one known to them. */
export class ReplicaList {
  readonly #options: ReplicaListOptions;
  readonly #watch: StoreWatch;
  readonly #stopped = new AbortController();
  #session: SharedSession | undefined;
  #others: ReadonlyMap<string, Replica> = new Map();
  #isReported = false;
  /** Neighbors at the start that have not joined yet; undefined: nobody has looked. */
  #awaited: Set<string> | undefined;
  #changing = Promise.resolve();
  #isDue = false;
  readonly #known = deferred();
  /** Resolves once `isKnown`, and the others know of this server. */
  readonly known = this.#known.promise;
  #timer: NodeJS.Timeout | undefined;
  /** It has joined, or need not. */
  #hasAdapted = false;

  readonly #there: ReplicasThere;

  constructor(options: ReplicaListOptions) {
    this.#options = options;
    this.#there = new ReplicasThere(options.self.id, options.returnMs, () => this.#are());
    this.#adapt();
    this.#watch = options.shared.watch(options.prefix ?? membersPrefix, {
      entriesChanged: (entries) => {
        this.#isReported = true;
        this.#there.notified(entries);
      },
      away: () => this.#there.away(),
    });
  }

  /** Whether the list of servers has been read at least once, and has those that were there at the start. */
  get isKnown(): boolean {
    return this.#isReported && this.#awaited?.size === 0;
  }

  /** All others, by name. */
  get others(): readonly Replica[] {
    return [...this.#others.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Tells the others at once, before the session is over. */
  async close(): Promise<void> {
    this.#watch.close();
    this.#stopped.abort();
    clearTimeout(this.#timer);
    this.#there.close();
    await this.#changing;
    await this.#session?.close().catch(() => {});
  }

  /** Joins if there are others, and leaves if there is none. One change comes after the other. */
  #adapt(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#changing = this.#changing.then(async () => {
      this.#isDue = false;
      const isWanted = await this.#isWanted();
      if (this.#stopped.signal.aborted) return;
      if (isWanted && this.#session === undefined) await this.#join();
      if (!isWanted) await this.#leave();
      this.#hasAdapted = true;
      this.#seen();
    });
  }

  async #isWanted(): Promise<boolean> {
    const { joins, neighbors = async () => new Set<string>() } = this.#options;
    if (joins === "always" || this.#others.size > 0) {
      this.#awaited ??= new Set();
      this.#seen();
      return true;
    }
    const near = await neighbors();
    if (this.#awaited === undefined) {
      this.#awaited = new Set([...near].filter((id) => !this.#others.has(id)));
      // One that is there and does not join by then does not run.
      setTimeout(() => this.#seen(...near), ttlMs).unref();
    }
    this.#seen();
    if (near.size === 0) return false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#adapt(), ttlMs).unref();
    return true;
  }

  async #join(): Promise<void> {
    const { shared, self, prefix = membersPrefix, beforeJoin, problem } = this.#options;
    let hasProblem = false;
    do {
      let session: SharedSession | undefined;
      try {
        await beforeJoin();
        session = await shared.session({ ttlMs, lost: () => this.#lost() });
        const value = JSON.stringify(self);
        await shared.put({ key: prefix + self.id, value, expected: "any", session });
        this.#session = session;
        if (hasProblem) problem(undefined);
        // It was lost before it was known here.
        if (session.isOver) this.#lost();
        return;
      } catch (error) {
        // One that was opened would go on saying that it is alive.
        await session?.close().catch(() => {});
        if (this.#stopped.signal.aborted) return;
        const message = `other servers of the store cannot find this one: ${(error as Error).message}`;
        if (!hasProblem) problem({ code: "XDSKIT_STORE", severity: "warning", message });
        hasProblem = true;
        // It serves all the same, and tries again.
        this.#hasAdapted = true;
        this.#seen();
        await delay(retryMs * (1 + Math.random()), undefined, { signal: this.#stopped.signal, ref: false }).catch(
          () => {},
        );
      }
    } while (!this.#stopped.signal.aborted && (await this.#isWanted()));
  }

  #lost(): void {
    this.#session = undefined;
    if (!this.#stopped.signal.aborted) this.#adapt();
  }

  async #leave(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close().catch(() => {});
  }

  #are(): void {
    const before = this.#others;
    const others = this.#there.all();
    this.#others = others;
    this.#seen(...others.keys());
    for (const [id, replica] of before) if (!others.has(id)) this.#options.gone(replica);
    if (before.size > 0 !== others.size > 0) this.#adapt();
  }

  /** Nobody waits for these any more. */
  #seen(...ids: readonly string[]): void {
    for (const id of ids) this.#awaited?.delete(id);
    if (this.isKnown && this.#hasAdapted) this.#known.resolve();
  }
}
