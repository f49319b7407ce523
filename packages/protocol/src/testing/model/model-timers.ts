import { millisecondsOf } from "../sample-resources.js";
import type { SeenResponse } from "../wire.js";

/**
 * A client's timers for one type (rule 134): one for each resource with a TTL. Every response with the resource
 * restarts it.
 */
export class ModelTimers {
  /** Name → when its time is over. */
  readonly #ends = new Map<string, number>();

  /** Takes a response. `keepsOthers`: resources that are not in it stay. */
  receive(seen: SeenResponse, rejects: boolean, keepsOthers: boolean, now: number): void {
    if (!keepsOthers) this.#ends.clear();
    for (const name of seen.removed) this.#ends.delete(name);
    for (const { name, content, ttl } of seen.resources) {
      // It does not hold what it rejects; a rejected heartbeat without a body changes nothing.
      if (ttl === undefined || (rejects && content !== undefined)) this.#ends.delete(name);
      else if (!rejects) this.#ends.set(name, now + millisecondsOf(ttl));
    }
  }

  /** The names whose time is over by now. */
  over(now: number): readonly string[] {
    const over = [...this.#ends].filter(([, end]) => end <= now).map(([name]) => name);
    for (const name of over) this.#ends.delete(name);
    return over;
  }

  forget(name: string): void {
    this.#ends.delete(name);
  }
}
