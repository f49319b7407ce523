import { dropOldest } from "@xdskit/server";

/** Revisions that are asked for again and again: by a caller that waits for one, and by a page that shows one. */
const maxRecentRevisions = 16;

/** Puts what is known of a revision last, and forgets what was asked for longest ago. */
export function keepRecent<Known>(known: Map<string, Known>, revision: string, found: Known): void {
  known.delete(revision);
  known.set(revision, found);
  dropOldest(known, maxRecentRevisions);
}
