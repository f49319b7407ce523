import type { OnDemandLimits } from "../../settings/on-demand-options.js";

/** The number of calls that are started, and of names that are given up or finished, in one turn of the event loop. */
export const maxInTurn = 1_000;

/** The shortest pauses before another call, whatever the settings say. Milliseconds. */
const soonestRetry = 10;
const soonestRecheck = 1_000;

/** Milliseconds until the next call, after this many failures in a row. */
export function retryAfter(failures: number, { retryMs, retryMaxMs }: OnDemandLimits): number {
  const first = Math.max(retryMs, soonestRetry);
  return Math.min(first * 2 ** (failures - 1), Math.max(first, retryMaxMs));
}

/**
 * Milliseconds until an absent name is checked again by itself, after this many absences in a row; never before the
 * absence is stale.
 */
export function recheckAfter(absences: number, { negativeMs, recheckMs }: OnDemandLimits): number {
  const first = Math.max(negativeMs, soonestRecheck);
  return Math.min(first * 2 ** (absences - 1), Math.max(first, recheckMs));
}
