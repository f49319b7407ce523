import { millisecondsOf } from "../sample-resources.js";
import type { SeenResponse } from "../wire.js";

/** What a client does about TTLs for one type (rule 134): a timer for each resource that has one, which every response starts anew that has it. */
export class ModelTimers {
  /** Name → when its time is over. */
  readonly #ends = new Map<string, number>();

  /** Takes a response. `keepsOthers`: what is not in it stays. */
  receive(seen: SeenResponse, rejects: boolean, keepsOthers: boolean, now: number): void {
    if (!keepsOthers) this.#ends.clear();
    for (const name of seen.removed) this.#ends.delete(name);
    for (const { name, content, ttl } of seen.resources) {
      // What it rejects it does not hold; a rejected heartbeat without a body changes nothing.
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
