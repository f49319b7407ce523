import { setTimeout as delay } from "node:timers/promises";
import type { Finding } from "@xdskit/api";
import type { SharedEntry, SharedKeys, SharedSession, StoreWatch } from "@xdskit/server";
import type { FindNeighbors } from "./state-socket.js";

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

/** The options of a membership. */
export interface MembershipOptions {
  readonly shared: SharedKeys;
  readonly self: Replica;
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

/** A server that is silent for so many milliseconds is taken for dead. */
const ttlMs = 6_000;
const retryMs = 1_000;
const usualReturnMs = 8_000;
const prefix = "replicas/members/";

/**
 * Knows the servers of the same store. While the store is away, the last known servers stay known. When it is back, all
 * of them join it again, each in its own time: until then one that was known before counts as there.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #watch: StoreWatch;
  readonly #stopped = new AbortController();
  #session: SharedSession | undefined;
  #others = new Map<string, Replica>();
  #isTold = false;
  /** Neighbors at the start that have not joined yet; undefined: nobody has looked. */
  #awaited: Set<string> | undefined;
  #changing = Promise.resolve();
  #isDue = false;
  #knows: () => void = () => {};
  /** Resolves once `isKnown`. */
  readonly known = new Promise<void>((resolve) => {
    this.#knows = resolve;
  });
  #timer: NodeJS.Timeout | undefined;
  #isAway = false;
  /** Those that may still join again. */
  readonly #returning = new Map<string, Replica>();
  #return: NodeJS.Timeout | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#adapt();
    this.#watch = options.shared.watch(prefix, {
      changed: (entries) => this.#hear(entries),
      away: () => {
        this.#isAway = true;
      },
    });
  }

  /** Whether the list of servers has been read at least once, and has those that were there at the start. */
  get isKnown(): boolean {
    return this.#isTold && this.#awaited?.size === 0;
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
    clearTimeout(this.#return);
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
    const { shared, self, beforeJoin, problem } = this.#options;
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

  #hear(entries: readonly SharedEntry[]): void {
    this.#isTold = true;
    const told = new Map<string, Replica>();
    for (const { value } of entries) {
      const replica = JSON.parse(value) as Replica;
      if (replica.id !== this.#options.self.id) told.set(replica.id, replica);
    }
    if (this.#isAway) this.#awaitReturns();
    this.#isAway = false;
    for (const id of told.keys()) this.#returning.delete(id);
    this.#are(new Map([...this.#returning, ...told]));
  }

  /** Nobody knows yet which of those that are known did not outlive the time without a store. */
  #awaitReturns(): void {
    const { returnMs = usualReturnMs } = this.#options;
    for (const [id, replica] of this.#others) this.#returning.set(id, replica);
    clearTimeout(this.#return);
    this.#return = setTimeout(() => {
      const left = new Map([...this.#others].filter(([id]) => !this.#returning.has(id)));
      this.#returning.clear();
      this.#are(left);
    }, returnMs).unref();
  }

  #are(others: Map<string, Replica>): void {
    const before = this.#others;
    this.#others = others;
    this.#seen(...others.keys());
    for (const [id, replica] of before) if (!others.has(id)) this.#options.gone(replica);
    if (before.size > 0 !== others.size > 0) this.#adapt();
  }

  /** Nobody waits for these any more. */
  #seen(...ids: readonly string[]): void {
    for (const id of ids) this.#awaited?.delete(id);
    if (this.isKnown) this.#knows();
  }
}
