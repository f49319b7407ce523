import { dropOldest, RateLimit } from "@xdskit/server";

/** Changes over the API that one caller may make a second, sustained, if its role does not say. */
export const usualWritesPerSecond = 100;
/** So many seconds' worth may come at once. */
const burstS = 10;

/** Counts changes by caller, so that a program that runs wild leaves the API to others. */
export class WriteShares {
  readonly #rates = new Map<string, { readonly perSecond: number; readonly limit: RateLimit }>();

  /** Whether the caller may make another change now. */
  takes(caller: string, perSecond: number): boolean {
    let rate = this.#rates.get(caller);
    if (rate?.perSecond !== perSecond)
      rate = { perSecond, limit: new RateLimit(perSecond, Math.max(1, perSecond * burstS)) };
    this.#rates.delete(caller);
    this.#rates.set(caller, rate);
    dropOldest(this.#rates);
    return rate.limit.take(performance.now());
  }
}
