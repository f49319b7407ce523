import { setTimeout as delay } from "node:timers/promises";
import type { Finding } from "@xdskit/api";
import type { SharedEntry, SharedKeys, SharedSession, StoreWatch } from "@xdskit/server";

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
}

/** The options of a membership. */
export interface MembershipOptions {
  readonly shared: SharedKeys;
  readonly self: Replica;
  /** Is called before the others are told of this server, also when they are told again. It is tried again. */
  readonly beforeJoin: () => Promise<void>;
  /** A replica that was there is gone: it was stopped, or is taken for dead. */
  readonly gone: (replica: Replica) => void;
  /** Reports that this server cannot make itself known; it tries again. Undefined: the problem is over. */
  readonly problem: (finding: Finding | undefined) => void;
}

/** A server that is silent for so many milliseconds is taken for dead. */
const ttlMs = 6_000;
const retryMs = 1_000;
const prefix = "replicas/members/";

/** Knows the servers of the same store. While the store is away, the last known servers stay known. */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #watch: StoreWatch;
  readonly #stopped = new AbortController();
  #session: SharedSession | undefined;
  #others = new Map<string, Replica>();
  #isKnown = false;
  #joining: Promise<void>;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#joining = this.#join();
    this.#watch = options.shared.watch(prefix, {
      changed: (entries) => this.#hear(entries),
      away: () => {},
    });
  }

  /** Whether the list of servers has been read at least once. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** All others, by name. */
  get others(): readonly Replica[] {
    return [...this.#others.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Tells the others at once, before the session is over. */
  async close(): Promise<void> {
    this.#watch.close();
    this.#stopped.abort();
    await this.#joining;
    await this.#session?.close().catch(() => {});
  }

  async #join(): Promise<void> {
    const { shared, self, beforeJoin, problem } = this.#options;
    let hasProblem = false;
    for (;;) {
      try {
        const lost = () => {
          if (!this.#stopped.signal.aborted) this.#joining = this.#join();
        };
        await beforeJoin();
        this.#session = await shared.session({ ttlMs, lost });
        const value = JSON.stringify(self);
        await shared.put({ key: prefix + self.id, value, expected: "any", session: this.#session });
        if (hasProblem) problem(undefined);
        return;
      } catch (error) {
        // One that was opened would go on saying that it is alive.
        await this.#session?.close().catch(() => {});
        if (this.#stopped.signal.aborted) return;
        const message = `other servers of the store cannot find this one: ${(error as Error).message}`;
        if (!hasProblem) problem({ code: "XDSKIT_STORE", severity: "warning", message });
        hasProblem = true;
        await delay(retryMs * (1 + Math.random()), undefined, { signal: this.#stopped.signal, ref: false }).catch(
          () => {},
        );
        if (this.#stopped.signal.aborted) return;
      }
    }
  }

  #hear(entries: readonly SharedEntry[]): void {
    const before = this.#others;
    this.#isKnown = true;
    this.#others = new Map();
    for (const { value } of entries) {
      const replica = JSON.parse(value) as Replica;
      if (replica.id !== this.#options.self.id) this.#others.set(replica.id, replica);
    }
    for (const [id, replica] of before) if (!this.#others.has(id)) this.#options.gone(replica);
  }
}
