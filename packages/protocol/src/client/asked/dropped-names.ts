import { isGlobName, maxNamesKept, type ResourceName } from "@xdskit/api";
import { maxRepeats } from "../../model/basics/limits.js";
import { wildcard } from "./wanted-names.js";

/**
 * SotW: names that were dropped on this stream, and those of them that are wanted again. The server may not have seen
 * that they were dropped. Names are canonical.
 */
export class DroppedNames {
  /** With the number of requests before. */
  readonly #dropped = new Map<ResourceName, number>();
  /** Names that are wanted again, and the number of times that they may be asked for anew. */
  readonly #unsure = new Map<ResourceName, number>();
  /** The number of requests in which the server reads names: those with the nonce of the last response. */
  #requests = 0;
  /** Of those, the ones before the last response. */
  #requestsBefore = 0;

  requested(): void {
    this.#requests += 1;
  }

  responded(): void {
    this.#requestsBefore = this.#requests;
  }

  drop(key: ResourceName): void {
    this.#dropped.set(key, this.#requests);
    if (this.#dropped.size <= maxNamesKept) return;
    for (const oldest of this.#dropped.keys()) {
      this.#dropped.delete(oldest);
      break;
    }
  }

  /**
   * The name is wanted. Returns whether to leave it out once more: each request without it may have crossed the last
   * response, and the resource was in that or an earlier one, so that no other response may follow.
   */
  want(key: ResourceName): boolean {
    const before = this.#dropped.get(key);
    if (before === undefined) return false;
    this.#dropped.delete(key);
    this.#unsure.set(key, isCollection(key) ? repeatsOfAll : maxRepeats);
    return before < this.#requestsBefore && this.#requestsBefore === this.#requests;
  }

  /** The name is no longer wanted, or something of it came. Returns whether it was unsure. */
  answered(key: ResourceName): boolean {
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
