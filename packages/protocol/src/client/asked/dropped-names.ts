import { isGlobName, maxNamesKept, type ResourceName } from "@xdskit/api";
import { maxRepeats } from "../../model/basics/limits.js";
import { wildcard } from "./wanted-names.js";

/**
 * SotW: names that were dropped on this stream, and those of them that are wanted again. The server may not have seen
 * that they were dropped. Names are canonical.
 */
export class DroppedNames {
  readonly #dropped = new Set<ResourceName>();
  /** Names that are wanted again, and the number of times that they may be asked for anew. */
  readonly #unsure = new Map<ResourceName, number>();

  drop(key: ResourceName): void {
    this.#dropped.add(key);
    if (this.#dropped.size <= maxNamesKept) return;
    for (const oldest of this.#dropped) {
      this.#dropped.delete(oldest);
      break;
    }
  }

  /** The name is wanted. */
  want(key: ResourceName): void {
    if (this.#dropped.delete(key)) this.#unsure.set(key, isCollection(key) ? repeatsOfAll : maxRepeats);
  }

  /** The name is no longer wanted, or something of it came. Returns whether it was unsure. */
  settle(key: ResourceName): boolean {
    return this.#unsure.delete(key);
  }

  /** The names to ask for anew now: each a few times at most, and only while it is not there. */
  takeRepeats(isThere: (key: ResourceName) => boolean): readonly ResourceName[] {
    const repeats: ResourceName[] = [];
    for (const [key, left] of this.#unsure) {
      if (isThere(key) || left === 0) this.#unsure.delete(key);
      else {
        this.#unsure.set(key, left - 1);
        repeats.push(key);
      }
    }
    return repeats;
  }
}

/** A client cannot see whether a collection came. */
const repeatsOfAll = 1;

function isCollection(key: ResourceName): boolean {
  return key === wildcard || isGlobName(key);
}
