import type { Retention } from "@xdskit/server";

/**
 * History that is kept of each layer: so many revisions, and beside them so many that leases made; none older than 90
 * days when the server starts.
 */
const keptRevisions = 1_000;
const keptOfLeases = 5_000;
const keptMs = 90 * 24 * 3_600_000;

/** What history to keep, from a start at this moment on. */
export function retentionNow(): Retention {
  return { revisions: keptRevisions, leases: keptOfLeases, since: Date.now() - keptMs };
}
