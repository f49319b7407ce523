/** Unless it is set, the time between two looks at all metadata is this long, in milliseconds … */
export const leastPollMs = 2000;
/** … or this many times as long as one look takes, so that looking takes little of the machine's time … */
const share = 20;
/** … but never longer than this: unreported changes must not wait for minutes because of one slow look. */
const maxMs = 30_000;

/** Milliseconds until the next look at all metadata, after one that took `lastTookMs`. */
export function pollWaitMs(lastTookMs: number): number {
  return Math.min(maxMs, Math.max(leastPollMs, lastTookMs * share));
}
