import type { Cause, Retention, Revision } from "../../contracts/stores/store.js";

/**
 * Whether a lease made a revision: what it holds came, or went with it. Nobody rolls back to these, and where processes
 * register themselves there are many: they are counted apart, so that they do not push out what people did.
 */
function isOfLease(cause: Cause): boolean {
  return cause.kind === "lease-ended" || (cause.kind === "api" && cause.leased === true);
}

/** The `leases` of the revision that follows `before`. */
export function leasesAfter(before: Revision | undefined, cause: Cause): Pick<Revision, "leases"> {
  const leases = (before?.leases ?? 0) + (isOfLease(cause) ? 1 : 0);
  return leases === 0 ? {} : { leases };
}

/** The `time` of the revisions of one commit that follow these heads: time never goes back in a layer. */
export function timeAfter(heads: readonly (Revision | undefined)[], time: number): number {
  return Math.max(time, ...heads.map((head) => head?.time ?? time));
}

/**
 * Whether retention keeps a revision, followed by `next`, of the line that ends with `head`. All that are newer than a
 * kept one are kept, so only the old end of a line goes, and each revision that is left can be read.
 */
export function isKept(retention: Retention, head: Revision, one: Revision, next: Revision | undefined): boolean {
  const { revisions, leases, since, least = 1 } = retention;
  const { inUseSince = Number.POSITIVE_INFINITY, usedSince = Number.POSITIVE_INFINITY } = retention;
  const fromIt = head.number - one.number + 1;
  if (one.id === head.id || fromIt <= least || one.time >= inUseSince) return true;
  if (one.time < since) return false;
  const isUsed = next !== undefined && next.time >= usedSince;
  if (leases === undefined) return isUsed || fromIt <= revisions;
  const ofLeases = (head.leases ?? 0) - (one.leases ?? 0) + (isOfLease(one.cause) ? 1 : 0);
  return (isUsed || fromIt - ofLeases <= revisions) && ofLeases <= leases;
}
