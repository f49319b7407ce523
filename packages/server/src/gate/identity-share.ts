import { RateLimit } from "../basics/rate-limit.js";
import type { ServerLimits } from "../settings/limits.js";

/** How fast one identity may ask. */
export type RequestLimits = Pick<ServerLimits, "requestsPerSecondPerIdentity" | "requestBurstPerIdentity">;

/** A call with requests that wait. */
export interface DelayedCall {
  /** Its handler gets one of them. False: none is left. */
  next(): boolean;
}

/** Bytes of requests that wait: of one identity, and of all. */
const most = { ofIdentity: 32 * 1024 * 1024, ofAll: 128 * 1024 * 1024 } as const;

/** At least so many requests are answered in one turn of the event loop, no more often than this, in milliseconds. */
const turn = { requests: 200, ms: 10 } as const;

/**
 * What one identity uses. Requests beyond its rate wait, one of each call in turn: so a call that floods waits for
 * itself, and its siblings hardly for it.
 */
export class IdentityShare {
  readonly open = { stream: 0, poll: 0 };
  readonly #limits: RequestLimits;
  /** Bytes that wait of all identities. */
  readonly #all: { bytes: number };
  readonly #waiting = new Set<DelayedCall>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #rate: { readonly perSecond: number; readonly burst: number; readonly limit: RateLimit } | undefined;

  /** `limits` are read each time; they can change. */
  constructor(limits: RequestLimits, all: { bytes: number }) {
    this.#limits = limits;
    this.#all = all;
  }

  /** Whether a request may be answered now: not before those that wait. */
  takes(): boolean {
    return this.#waiting.size === 0 && this.takesOne();
  }

  /**
   * Whether one more may be answered now, whatever waits: a poll is never kept waiting, so it does not stand behind
   * that.
   */
  takesOne(): boolean {
    const { requestsPerSecondPerIdentity: perSecond, requestBurstPerIdentity: burst } = this.#limits;
    if (this.#rate?.perSecond !== perSecond || this.#rate.burst !== burst)
      this.#rate = { perSecond, burst, limit: new RateLimit(perSecond, burst) };
    return this.#rate.limit.take(performance.now());
  }

  /** Whether there is room for another request that waits; it has the room until `release`. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > most.ofIdentity || this.#all.bytes + bytes > most.ofAll) return false;
    this.#count(bytes);
    return true;
  }

  release(bytes: number): void {
    this.#count(-bytes);
  }

  /** The call has requests that wait. */
  wait(call: DelayedCall): void {
    this.#waiting.add(call);
    this.#arm();
  }

  /** The call waits no more. */
  left(call: DelayedCall): void {
    this.#waiting.delete(call);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#all.bytes += bytes;
  }

  get #waitMs(): number {
    return Math.min(1_000, Math.max(turn.ms, 1_000 / this.#limits.requestsPerSecondPerIdentity));
  }

  #serve(): void {
    this.#timer = undefined;
    const due = (this.#limits.requestsPerSecondPerIdentity * turn.ms) / 1_000;
    for (let served = 0; served < Math.max(turn.requests, due); served++) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      if (!this.takesOne()) break;
      this.#waiting.delete(first);
      if (first.next()) this.#waiting.add(first);
    }
    this.#arm();
  }

  #arm(): void {
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#serve(), this.#waitMs).unref();
  }
}
