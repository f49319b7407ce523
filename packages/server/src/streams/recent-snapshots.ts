import type { Clock } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";

/** So many are kept, */
const mostRecent = 10;
/** for so many milliseconds, */
const recentMs = 10 * 60_000;
/** unless a change between them is larger: each holds what differs from the next. */
const mostChanged = 2_000;

/**
 * What was the newest until lately. A client that comes from another server of the store, or was cut off for a moment,
 * may have one of these.
 */
export class RecentSnapshots {
  readonly #clock: Clock;
  #kept: readonly { readonly snapshot: Snapshot; readonly until: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A change of so many resources has replaced it. */
  add(snapshot: Snapshot, changed: number): void {
    const until = this.#clock.now() + recentMs;
    const others = changed > mostChanged ? [] : [{ snapshot, until }, ...this.#kept];
    this.#kept = others.slice(0, mostRecent);
  }

  /** Newest first. */
  list(): readonly Snapshot[] {
    const now = this.#clock.now();
    if (this.#kept.some(({ until }) => until <= now)) this.#kept = this.#kept.filter(({ until }) => until > now);
    return this.#kept.map(({ snapshot }) => snapshot);
  }
}
