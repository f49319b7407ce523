import { type Clock, type Resource, XdskitError } from "@xdskit/api";
import type { OnDemandLimits, Supplied } from "../../settings/on-demand-options.js";
import { maxInTurn } from "./intervals.js";
import type { SupplierLease } from "./lease.js";

/** The end of a call. */
export type SupplierResult =
  | { readonly kind: "answered"; readonly supplied: Supplied }
  | { readonly kind: "failed"; readonly error: unknown };

/** The same, after a check; `resource` is undefined if there is none. */
export type CheckedResult =
  | { readonly kind: "answered"; readonly resource: Resource | undefined }
  | Extract<SupplierResult, { readonly kind: "failed" }>;

interface WaitingCall {
  readonly lease: SupplierLease;
  readonly call: () => unknown;
  readonly ended: (result: SupplierResult) => void;
}

/**
 * The supplier's calls in progress, and those that wait. A call that takes longer than `timeoutMs` has failed: its slot
 * is free again, though a supplier that ignores its signal may go on.
 */
export class Calls {
  readonly #limits: Pick<OnDemandLimits, "concurrency" | "queue" | "timeoutMs">;
  readonly #clock: Clock;
  readonly #waiting = new Map<SupplierLease, WaitingCall>();
  /** For each, the function that stops its clock. */
  readonly #running = new Map<SupplierLease, () => void>();
  #started = 0;
  /**
   * Calls started in this turn of the event loop: thousands of names of a supplier that answers at once must not block
   * everything else.
   */
  #inThisTurn = 0;

  constructor(limits: Pick<OnDemandLimits, "concurrency" | "queue" | "timeoutMs">, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Calls as soon as there is room. `ended` is called once, unless the lease ends first; at once if too many wait.
   */
  add(lease: SupplierLease, call: () => unknown, ended: (result: SupplierResult) => void): void {
    const { concurrency, queue } = this.#limits;
    if (this.#running.size >= concurrency && this.#waiting.size >= queue) {
      const where = { type: lease.type.name, resource: lease.name };
      const error = XdskitError.of("XDSKIT_ON_DEMAND_BUSY", "too many names wait to be supplied", where);
      ended({ kind: "failed", error });
      return;
    }
    this.#waiting.set(lease, { lease, call, ended });
    this.#fill();
  }

  /**
   * Ends a call early: an `update` during the call is its answer, and a lease that ended needs none. False if it had
   * ended.
   */
  finish(lease: SupplierLease): boolean {
    const isRunning = this.#free(lease);
    if (isRunning) this.#fill();
    return this.#waiting.delete(lease) || isRunning;
  }

  /** Whether it is in progress: false while it waits, and once it ended. */
  isUnderWay(lease: SupplierLease): boolean {
    return this.#running.has(lease);
  }

  /** Waiting calls and calls in progress. */
  get pending(): number {
    return this.#waiting.size + this.#running.size;
  }

  /** Started since the start. */
  get started(): number {
    return this.#started;
  }

  #fill(): void {
    const { concurrency } = this.#limits;
    for (const next of this.#waiting.values()) {
      if (this.#running.size >= concurrency || this.#inThisTurn >= Math.min(concurrency, maxInTurn)) return;
      this.#waiting.delete(next.lease);
      this.#start(next);
    }
  }

  #countInTurn(): void {
    this.#inThisTurn += 1;
    if (this.#inThisTurn > 1) return;
    setImmediate(() => {
      this.#inThisTurn = 0;
      this.#fill();
    });
  }

  #start({ lease, call, ended }: WaitingCall): void {
    this.#started += 1;
    this.#countInTurn();
    const end = (result: SupplierResult) => {
      if (!this.#free(lease)) return;
      ended(result);
      this.#fill();
    };
    const { timeoutMs } = this.#limits;
    const late = () => end({ kind: "failed", error: new Error(`no answer within ${timeoutMs} ms`) });
    this.#running.set(lease, this.#clock.after(timeoutMs, late));
    // Not in this turn: the caller must not wait for the supplier's synchronous work, nor see its errors.
    Promise.resolve()
      // The lease may have ended meanwhile: a supplier that is called after that would never be told.
      .then(() => (this.#running.has(lease) ? call() : undefined))
      .then(
        (supplied) => end({ kind: "answered", supplied: supplied as Supplied }),
        (error: unknown) => end({ kind: "failed", error }),
      );
  }

  /** False if it was not in progress. */
  #free(lease: SupplierLease): boolean {
    this.#running.get(lease)?.();
    return this.#running.delete(lease);
  }
}
