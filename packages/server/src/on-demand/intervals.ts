import type { OnDemandLimits } from "./options.js";

/** When a call that failed so many times in a row is made again, milliseconds. */
export function retryAfter(failures: number, { retryMs, retryMaxMs }: OnDemandLimits): number {
  return Math.min(retryMs * 2 ** (failures - 1), Math.max(retryMs, retryMaxMs));
}

/** When a name that was absent so many times in a row is asked for again without a client's asking, milliseconds; never before that is stale. */
export function recheckAfter(absences: number, { negativeMs, recheckMs }: OnDemandLimits): number {
  return Math.min(negativeMs * 2 ** (absences - 1), Math.max(negativeMs, recheckMs));
}
