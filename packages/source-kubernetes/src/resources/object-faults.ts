import { isDeepStrictEqual } from "node:util";
import type { ObjectFault } from "../objects/object-fault.js";

/** What is wrong with the objects of one kind. */
export class ObjectFaults {
  readonly #faults = new Map<string, readonly ObjectFault[]>();
  #changes = 0;

  /** How often they have become others. */
  get changes(): number {
    return this.#changes;
  }

  *[Symbol.iterator](): Iterator<ObjectFault> {
    for (const faults of this.#faults.values()) yield* faults;
  }

  /** An object has these from now on. */
  set(key: string, faults: readonly ObjectFault[]): void {
    if (isDeepStrictEqual(this.#faults.get(key) ?? [], faults)) return;
    this.#changes += 1;
    if (faults.length > 0) this.#faults.set(key, faults);
    else this.#faults.delete(key);
  }
}
