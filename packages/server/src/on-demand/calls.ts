import type { Clock } from "../clock.js";
import type { Lease } from "./lease.js";
import type { Supplied } from "./options.js";

/** How a call ended. */
export type Result =
  | { readonly kind: "answered"; readonly supplied: Supplied }
  | { readonly kind: "failed"; readonly error: unknown };

/** The calls of the supplier that are under way, and those that wait. */
export interface Calls {
  /** Calls as soon as there is room; false, and nothing is done, when too many wait. `ended` is called once, unless the lease ends before. */
  add(lease: Lease, call: () => unknown, ended: (result: Result) => void): boolean;
  /** Ends a call from outside: what `update` says during it is its answer, and of a lease that ended nobody wants one. */
  finish(lease: Lease): void;
  /** False while it waits, and once it ended. */
  isUnderWay(lease: Lease): boolean;
  /** Waiting and under way. */
  readonly pending: number;
  /** Started since the start. */
  readonly started: number;
}

/** However many may be under way, so many are started in one turn of the event loop. */
const mostInTurn = 1_000;

interface Waiting {
  readonly lease: Lease;
  readonly call: () => unknown;
  readonly ended: (result: Result) => void;
}

/**
 * Bounds the calls. One that takes longer than `timeoutMs` has failed: its place is free again, though a supplier that does not listen to its signal may go on.
 */
export function createCalls(
  limits: { readonly concurrency: number; readonly queue: number; readonly timeoutMs: number },
  after: Clock["after"],
): Calls {
  const waiting = new Map<Lease, Waiting>();
  /** What stops the clock of each. */
  const running = new Map<Lease, () => void>();
  let started = 0;
  /** Started in this turn of the event loop: a supplier that answers at once must not keep everybody else waiting for thousands of names. */
  let inThisTurn = 0;

  const isBusy = () => running.size >= limits.concurrency || inThisTurn >= Math.min(limits.concurrency, mostInTurn);

  function fill(): void {
    if (isBusy()) return;
    for (const next of waiting.values()) {
      if (isBusy()) return;
      waiting.delete(next.lease);
      start(next);
    }
  }

  function countInTurn(): void {
    inThisTurn += 1;
    if (inThisTurn > 1) return;
    setImmediate(() => {
      inThisTurn = 0;
      fill();
    });
  }

  function start({ lease, call, ended }: Waiting): void {
    started += 1;
    countInTurn();
    const end = (result: Result) => {
      if (!running.has(lease)) return;
      free(lease);
      ended(result);
      fill();
    };
    const late = () => end({ kind: "failed", error: new Error(`no answer within ${limits.timeoutMs} ms`) });
    running.set(lease, after(limits.timeoutMs, late));
    // Not in this turn: whoever asks is not to wait for what a supplier does at once, nor to see what it throws.
    Promise.resolve()
      // It may have ended meanwhile: of that a supplier that is only called now would never hear.
      .then(() => (running.has(lease) ? call() : undefined))
      .then(
        (supplied) => end({ kind: "answered", supplied: supplied as Supplied }),
        (error: unknown) => end({ kind: "failed", error }),
      );
  }

  function free(lease: Lease): void {
    running.get(lease)?.();
    running.delete(lease);
  }

  return {
    add(lease, call, ended) {
      if (running.size >= limits.concurrency && waiting.size >= limits.queue) return false;
      waiting.set(lease, { lease, call, ended });
      fill();
      return true;
    },
    finish(lease) {
      waiting.delete(lease);
      if (!running.has(lease)) return;
      free(lease);
      fill();
    },
    isUnderWay: (lease) => running.has(lease),
    get pending() {
      return waiting.size + running.size;
    },
    get started() {
      return started;
    },
  };
}
