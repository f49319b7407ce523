import { type StatusCode, statusCode } from "@xdskit/protocol";
import type { Caller, Gate } from "../identity/caller.js";
import type { Evidence } from "../identity/evidence.js";

/** A call that is open, with who opened it. */
export interface OpenCall {
  /** By the rules of now. */
  readonly caller: Caller;
  readonly evidence: () => Evidence;
}

/** What stands for an open call. */
export interface EndableCall {
  end(code: StatusCode, message: string): void;
}

/** When a call was opened, in milliseconds since 1970, and its position among those that end together, from 0 to 1. */
interface OpenedCall extends OpenCall {
  caller: Caller;
  readonly at: number;
  readonly position: number;
}

/** How often the ends of certificates and tokens are looked at, in milliseconds. */
const lookMs = 1_000;

/** So long after their ends streams end, each at a time of its own: not all in one second. */
const spreadMs = 60_000;

/** By this part of it streams end sooner than at their greatest age, each at a time of its own. */
const soonerBy = 0.1;

const ended = "the certificate or token of this stream has ended: connect again with a new one";
const old = "this stream has the age that it may have: connect again";
const changed = "the rules for callers have changed: connect again";

/** The calls that are open: they end once what their callers proved has ended, or counts no more. */
export class OpenCalls {
  readonly #gate: Gate;
  readonly #open = new Map<EndableCall, OpenedCall>();
  readonly #position: () => number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(gate: Gate, position = Math.random, now = Date.now) {
    this.#gate = gate;
    this.#position = position;
    this.#now = now;
  }

  /** `handler`: what stands for the call until `closed`. */
  opened(handler: EndableCall, { caller, evidence }: OpenCall): void {
    // Written out: a literal that begins with a spread gets a hidden class for each stream. Rules that come later end
    // the calls that none restricts.
    const isRestricted = caller.isRestricted;
    const at = isRestricted ? this.#now() : 0;
    this.#open.set(handler, { caller, evidence, at, position: isRestricted ? this.#position() : 0 });
    this.#follow(caller);
  }

  #follow({ endsAt, maxAgeMs }: Caller): void {
    if (endsAt !== undefined || maxAgeMs !== undefined) this.#timer ??= setInterval(() => this.look(), lookMs).unref();
  }

  closed(handler: EndableCall): void {
    this.#open.delete(handler);
    if (this.#open.size === 0) this.stop();
  }

  /** Ends the calls whose time is over. */
  look(): void {
    const now = this.#now();
    for (const [handler, { caller, at, position }] of [...this.#open]) {
      const { endsAt, maxAgeMs } = caller;
      if (endsAt !== undefined && endsAt + position * spreadMs <= now) handler.end(statusCode.permissionDenied, ended);
      else if (maxAgeMs !== undefined && at + maxAgeMs * (1 - position * soonerBy) <= now)
        handler.end(statusCode.unavailable, old);
    }
  }

  /** Rules have changed: calls end whose callers may no longer do the same. */
  recheck(): void {
    for (const [handler, call] of [...this.#open]) {
      const known = this.#gate.callerOf(call.evidence, call.caller.from);
      const compare = (caller: Caller | undefined) => {
        if (this.#open.get(handler) !== call) return;
        if (caller?.key === call.caller.key) {
          call.caller = caller;
          this.#follow(caller);
          return;
        }
        handler.end(caller === undefined ? statusCode.permissionDenied : statusCode.unavailable, changed);
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
