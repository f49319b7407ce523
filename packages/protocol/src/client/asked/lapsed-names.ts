import { maxNamesKept, type ResourceName } from "@xdskit/api";
import { maxRepeats } from "../../model/basics/limits.js";

/**
 * Names whose resource was current on this stream until its time was over. A server that keeps one alive with
 * heartbeats that came too late thinks that the client has it, and would not send it again. Names are canonical.
 */
export class LapsedNames {
  readonly #ended = new Set<ResourceName>();
  /**
   * The number of repeated requests for each: a server whose heartbeats always come too late must not send it each
   * time.
   */
  readonly #times = new Map<ResourceName, number>();

  /** Its time is over. */
  add(key: ResourceName): void {
    if (this.#ended.size < maxNamesKept) this.#ended.add(key);
  }

  /** The name is no longer wanted, or it came. */
  delete(key: ResourceName): void {
    this.#ended.delete(key);
  }

  /** A heartbeat came for it. Returns whether to ask for it anew. */
  revives(key: ResourceName): boolean {
    const times = this.#times.get(key) ?? 0;
    if (!this.#ended.delete(key) || times >= maxRepeats || this.#times.size >= maxNamesKept) return false;
    this.#times.set(key, times + 1);
    return true;
  }
}
