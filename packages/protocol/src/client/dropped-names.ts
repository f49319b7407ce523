import { isGlobName, type ResourceName } from "@xdskit/api";
import { wildcard } from "./wanted-names.js";

/** SotW: names that were dropped on this stream, and those of them that are wanted again: the server may not have seen that they were dropped. Names are canonical. */
export class DroppedNames {
  readonly #dropped = new Set<ResourceName>();
  /** Wanted again, and how often they may be asked for anew. */
  readonly #unsure = new Map<ResourceName, number>();

  drop(key: ResourceName): void {
    this.#dropped.add(key);
    if (this.#dropped.size <= mostDropped) return;
    for (const oldest of this.#dropped) {
      this.#dropped.delete(oldest);
      break;
    }
  }

  /** Somebody wants it. */
  want(key: ResourceName): void {
    if (this.#dropped.delete(key)) this.#unsure.set(key, isCollection(key) ? repeatsOfAll : mostRepeats);
  }

  /** Nobody does any more, or something came of it; whether it was unsure. */
  settle(key: ResourceName): boolean {
    return this.#unsure.delete(key);
  }

  /** Those that are to be asked for anew now: a few times at most, and not what is there. */
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

  clear(): void {
    this.#unsure.clear();
    this.#dropped.clear();
  }
}

/** How often a name is asked for anew because the server may not have seen that it was dropped. */
const mostRepeats = 3;
/** Whether a collection came nobody can see. */
const repeatsOfAll = 1;
/** Names that were dropped on a stream; of those before it is taken that the server has seen it. */
const mostDropped = 10_000;

function isCollection(key: ResourceName): boolean {
  return key === wildcard || isGlobName(key);
}
