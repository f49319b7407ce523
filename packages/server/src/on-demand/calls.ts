import type { Clock } from "../basics/clock.js";
import type { Supplied } from "../settings/on-demand-options.js";
import type { Lease } from "./lease.js";

/** How a call ended. */
export type Result =
  | { readonly kind: "answered"; readonly supplied: Supplied }
  | { readonly kind: "failed"; readonly error: unknown };

/** The calls of the supplier that are under way, and those that wait. */
export interface Calls {
  /**
   * Calls as soon as there is room; false, and nothing is done, if too many wait. `ended` is called once, unless the
   * lease ends first.
   */
  add(lease: Lease, call: () => unknown, ended: (result: Result) => void): boolean;
  /** Ends a call early: an `update` during the call is its answer, and a lease that ended needs none. */
  finish(lease: Lease): void;
  /** False while it waits, and once it ended. */
  isUnderWay(lease: Lease): boolean;
  /** Waiting and under way. */
  readonly pending: number;
  /** Started since the start. */
  readonly started: number;
}

/** The most calls that are started in one turn of the event loop. */
const mostInTurn = 1_000;

interface Waiting {
  readonly lease: Lease;
  readonly call: () => unknown;
  readonly ended: (result: Result) => void;
}

/**
 * Bounds the calls. One that takes longer than `timeoutMs` has failed: its slot is free again, though a supplier that
 * ignores its signal may go on.
 */
export function createCalls(
  limits: { readonly concurrency: number; readonly queue: number; readonly timeoutMs: number },
  after: Clock["after"],
): Calls {
  const waiting = new Map<Lease, Waiting>();
  /** What stops the clock of each. */
  const running = new Map<Lease, () => void>();
  let started = 0;
  /**
   * Calls started in this turn of the event loop: thousands of names of a supplier that answers at once must not block
   * everything else.
   */
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
    // Not in this turn: the caller must not wait for the supplier's synchronous work, nor see what it throws.
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
