import type { OnDemandLimits } from "./options.js";

/** Whatever the settings say, nothing is asked for in a tight circle. Milliseconds. */
const soonestRetry = 10;
const soonestRecheck = 1_000;

/** When a call that failed so many times in a row is made again, milliseconds. */
export function retryAfter(failures: number, { retryMs, retryMaxMs }: OnDemandLimits): number {
  const first = Math.max(retryMs, soonestRetry);
  return Math.min(first * 2 ** (failures - 1), Math.max(first, retryMaxMs));
}

/** When a name that was absent so many times in a row is asked for again without a client's asking, milliseconds; never before that is stale. */
export function recheckAfter(absences: number, { negativeMs, recheckMs }: OnDemandLimits): number {
  const first = Math.max(negativeMs, soonestRecheck);
  return Math.min(first * 2 ** (absences - 1), Math.max(first, recheckMs));
}
