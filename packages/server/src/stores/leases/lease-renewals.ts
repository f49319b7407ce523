import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Clock, XdskitError } from "@xdskit/api";
import type { SharedEntry, SharedKeys, SharedSession, StoreWatch } from "../../contracts/stores/shared-keys.js";
import { readAgainMs, sessionMs } from "../basics/paces.js";
import { type Renewals, readRenewals, renewalsText } from "./renewals-text.js";

/** The options of renewals between servers. */
export interface LeaseRenewalsOptions {
  readonly shared: SharedKeys;
  readonly clock: Clock;
  /** How many milliseconds a lease has left here; undefined: none. */
  readonly leftOf: (id: string) => number | undefined;
  /** Another server renewed a lease, which has this many milliseconds left there. */
  readonly renewed: (id: string, leftMs: number) => void;
  /** A server that may have known of renewals is gone, or some were missed. */
  readonly missed: () => void;
}

/** Renewals of this many milliseconds go out together, */
const batchMs = 1_000;
/** unless a lease has less than this left at the others: then they are told at once. */
const soonMs = 3_000;
/** A renewal waits at most this long until the others are told, in milliseconds. */
const patienceMs = 3_000;
/** How many batches are kept. A server that missed one gives all leases their whole time. */
const maxBatches = 4;
const prefix = "leases/renewed/";

/**
 * Tells the other servers of a store which leases were renewed here. Each server has one entry of the shared keys, with
 * what it renewed in the last seconds. It says what a lease has left, and no time of day: the clocks of servers differ.
 */
export class LeaseRenewals {
  readonly #options: LeaseRenewalsOptions;
  readonly #key = prefix + randomBytes(9).toString("base64url");
  readonly #stopped = new AbortController();
  /** By key, the number of the last batch that was heard of each other server. */
  readonly #others = new Map<string, number>();
  /** Leases that were renewed here, and until when the others let them live at least, by this server's clock. */
  readonly #renewed = new Map<string, number>();
  /** Renewals that the others do not know yet. */
  readonly #pending = new Set<string>();
  #first = 1;
  #batches: readonly Renewals[] = [];
  #session: SharedSession | undefined;
  #joining: Promise<void> | undefined;
  #watch: StoreWatch | undefined;
  /** `unknown`: the store has not said yet who else is there. */
  #state: "unknown" | "heard" | "away" = "unknown";
  #telling: Promise<void> | undefined;
  #cancelBatch: (() => void) | undefined;

  constructor(options: LeaseRenewalsOptions) {
    this.#options = options;
  }

  /** Joins the others. Does nothing where that has begun. */
  start(): void {
    if (this.#watch !== undefined || this.#stopped.signal.aborted) return;
    this.#joining = this.#join();
    this.#watch = this.#options.shared.watch(prefix, {
      entriesChanged: (entries) => this.#takeEntries(entries),
      away: () => {
        this.#state = "away";
      },
    });
  }

  /**
   * A lease was renewed here. Resolves once the others know that, or know enough to let it live for some seconds.
   * Rejects with XDSKIT_STORE if they cannot be told.
   */
  async renewed(id: string): Promise<void> {
    if (!this.#renewed.has(id)) this.#renewed.set(id, 0);
    if (this.#watch === undefined || (this.#others.size === 0 && this.#state === "heard")) return;
    this.#pending.add(id);
    if (!this.#isUrgent(id)) return this.#tellSoon();
    const late = new AbortController();
    const patience = delay(patienceMs, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new Error("the store does not answer");
    });
    try {
      await Promise.race([this.#tell(), patience]);
    } catch (error) {
      const message = `the other servers cannot be told that lease ${id} was renewed: ${(error as Error).message}`;
      throw XdskitError.of("XDSKIT_STORE", message, {}, { cause: error });
    } finally {
      late.abort();
      patience.catch(() => {});
    }
  }

  /** The lease is over. */
  forget(id: string): void {
    this.#renewed.delete(id);
    this.#pending.delete(id);
  }

  /** Reads what the others say now. Rejects with XDSKIT_STORE. */
  async look(): Promise<void> {
    if (this.#watch !== undefined) this.#hear(await this.#options.shared.list(prefix));
  }

  async close(): Promise<void> {
    this.#watch?.close();
    this.#watch = undefined;
    this.#cancelBatch?.();
    this.#stopped.abort();
    await this.#joining;
    await this.#session?.close().catch(() => {});
  }

  /** Has an entry beside those of the others, which goes when this server does. */
  async #join(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const lost = () => {
          if (!signal.aborted) this.#joining = this.#join();
        };
        this.#session = await this.#options.shared.session({ ttlMs: sessionMs, lost });
        return await this.#put();
      } catch {
        // What is wrong with the store is said by those who follow it.
        await this.#session?.close().catch(() => {});
        await delay(readAgainMs * (1 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  #takeEntries(entries: readonly SharedEntry[]): void {
    const wasAway = this.#state === "away";
    this.#state = "heard";
    if (wasAway) this.#options.missed();
    this.#hear(entries);
    for (const key of [...this.#others.keys()]) {
      if (entries.some((entry) => entry.key === key)) continue;
      this.#others.delete(key);
      this.#options.missed();
    }
  }

  #hear(entries: readonly SharedEntry[]): void {
    for (const { key, value } of entries) {
      if (key === this.#key) continue;
      const last = this.#others.get(key);
      const { first, batches } = readRenewals(value);
      const next = first + batches.length;
      // The store may tell an older state than was read.
      if (last === undefined || next > last + 1) this.#others.set(key, next - 1);
      if (last === undefined) this.#tellAll();
      else if (first > last + 1) this.#options.missed();
      for (const [at, batch] of batches.entries())
        if (first + at > (last ?? 0)) for (const [id, leftMs] of batch) this.#options.renewed(id, leftMs);
    }
  }

  /** A server that is new has not heard of anything. */
  #tellAll(): void {
    for (const id of this.#renewed.keys()) {
      this.#renewed.set(id, 0);
      this.#pending.add(id);
    }
    if (this.#pending.size > 0) this.#tellSoon();
  }

  #isUrgent(id: string): boolean {
    return (this.#renewed.get(id) ?? 0) - this.#options.clock.now() < soonMs;
  }

  #tellSoon(): void {
    this.#cancelBatch ??= this.#options.clock.after(batchMs, () => {
      this.#cancelBatch = undefined;
      this.#tell().catch(() => {});
    });
  }

  /** Resolves once all renewals so far are told. */
  #tell(): Promise<void> {
    this.#telling ??= this.#tellPending().finally(() => {
      this.#telling = undefined;
    });
    return this.#telling;
  }

  async #tellPending(): Promise<void> {
    await this.#joining;
    while (this.#pending.size > 0 && this.#watch !== undefined) await this.#put();
  }

  async #put(): Promise<void> {
    const { shared, clock, leftOf } = this.#options;
    const batch = new Map<string, number>();
    for (const id of this.#pending) {
      const left = leftOf(id);
      if (left !== undefined) batch.set(id, left);
    }
    this.#pending.clear();
    const reportedAt = clock.now();
    if (batch.size > 0) this.#batches = [...this.#batches, batch];
    const over = Math.max(0, this.#batches.length - maxBatches);
    this.#batches = this.#batches.slice(over);
    this.#first += over;
    const value = renewalsText({ first: this.#first, batches: this.#batches });
    try {
      await shared.put({ key: this.#key, value, expected: "any", session: this.#session });
    } catch (error) {
      // Somebody may have read it all the same: the batch keeps its number, and the next one says it again.
      for (const id of batch.keys()) this.#pending.add(id);
      this.#tellSoon();
      throw error;
    }
    for (const [id, left] of batch) this.#renewed.set(id, reportedAt + left);
    for (const id of this.#renewed.keys()) if (leftOf(id) === undefined) this.#renewed.delete(id);
  }
}
