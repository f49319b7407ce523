import { type StatusCode, statusCode } from "@xdskit/protocol";
import type { Caller, CallFrom, Gate } from "../identity/caller.js";
import type { Evidence } from "../identity/evidence.js";

/** A call that is open, with who opened it. */
export interface OpenCall {
  readonly caller: Caller;
  readonly evidence: () => Evidence;
  readonly from: CallFrom;
  readonly end: (code: StatusCode, message: string) => void;
  /** In milliseconds since 1970; undefined: never. */
  readonly endsAt: number | undefined;
}

/** How often the ends of certificates and tokens are looked at, in milliseconds. */
const lookMs = 1_000;

/** So long after their ends streams end, each at a time of its own: not all in one second. */
const spreadMs = 60_000;

const ended = "the certificate or token of this stream has ended: connect again with a new one";
const changed = "the rules for callers have changed: connect again";

/** The calls that are open: they end once what their callers proved has ended, or counts no more. */
export class OpenCalls {
  readonly #gate: Gate;
  readonly #open = new Map<object, OpenCall>();
  readonly #spread: () => number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(gate: Gate, spread = () => Math.random() * spreadMs, now = Date.now) {
    this.#gate = gate;
    this.#spread = spread;
    this.#now = now;
  }

  /** `handler`: what stands for the call until `closed`. */
  opened(handler: object, call: Omit<OpenCall, "endsAt">): void {
    const { caller, evidence, from, end } = call;
    const { endsAt } = caller;
    const ends = endsAt === undefined ? undefined : endsAt + this.#spread();
    // Written out: a literal that begins with a spread gets a hidden class for each stream.
    this.#open.set(handler, { caller, evidence, from, end, endsAt: ends });
    if (endsAt !== undefined) this.#timer ??= setInterval(() => this.look(), lookMs).unref();
  }

  closed(handler: object): void {
    this.#open.delete(handler);
    if (this.#open.size === 0) this.stop();
  }

  /** Ends the calls whose time is over. */
  look(): void {
    const now = this.#now();
    for (const { endsAt, end } of [...this.#open.values()])
      if (endsAt !== undefined && endsAt <= now) end(statusCode.permissionDenied, ended);
  }

  /** Rules have changed: calls end whose callers may no longer do the same. */
  recheck(): void {
    for (const [handler, call] of [...this.#open]) {
      const known = this.#gate.callerOf(call.evidence, call.from);
      const compare = (caller: Caller | undefined) => {
        if (this.#open.get(handler) !== call || caller?.key === call.caller.key) return;
        call.end(caller === undefined ? statusCode.permissionDenied : statusCode.unavailable, changed);
      };
      if (known instanceof Promise) void known.then(compare);
      else compare(known);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
