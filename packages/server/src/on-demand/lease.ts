import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { Wanted } from "./wanted.js";

/**
 * One call of the supplier and what follows from it: while somebody holds it, the supplier may say that something else is true of the name. Several names hold one
 * lease where the resource has them all.
 */
export class Lease {
  readonly type: ResourceType;
  /** That was asked for. */
  readonly name: ResourceName;
  readonly holders = new Set<Wanted>();
  /** What was supplied; undefined before, and where there is none. */
  resource: Resource | undefined;
  /** The call has not ended yet. */
  called = true;
  readonly #controller = new AbortController();

  constructor(wanted: Wanted) {
    this.type = wanted.type;
    this.name = wanted.name;
    this.holders.add(wanted);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Tells the supplier that its answer is wanted no more. */
  end(why: string): void {
    this.#controller.abort(new Error(why));
  }
}
