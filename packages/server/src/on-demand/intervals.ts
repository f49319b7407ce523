import type { OnDemandLimits } from "../settings/on-demand-options.js";

/** So many calls are started, and names given up or done with, in one turn of the event loop. */
export const mostInTurn = 1_000;

/** Whatever the settings say, nothing is asked for in a tight circle. Milliseconds. */
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
