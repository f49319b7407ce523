import type { Clock } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import { mostChanges, mostRevisions } from "../stores/history/following.js";

/** In this time clients come back that were here, or at another server, in milliseconds. */
export const recentMs = 10 * 60_000;

/**
 * The snapshots that were the newest until recently. A client that comes from another server of the store, or was cut
 * off for a moment, may have one of these.
 */
export class RecentSnapshots {
  readonly #clock: Clock;
  #kept: readonly { readonly snapshot: Snapshot; readonly changed: number; readonly until: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a snapshot that a change of `changed` resources has replaced. */
  add(snapshot: Snapshot, changed: number): void {
    const until = this.#clock.now() + recentMs;
    // Each snapshot holds its differences from the next one.
    let rest = mostChanges;
    const fits = (one: { readonly changed: number }) => {
      rest -= one.changed;
      return rest >= 0;
    };
    const all = [{ snapshot, changed, until }, ...this.#kept].slice(0, mostRevisions);
    const end = all.findIndex((one) => !fits(one));
    this.#kept = end < 0 ? all : all.slice(0, end);
  }

  /** Newest first. */
  list(): readonly Snapshot[] {
    const now = this.#clock.now();
    if (this.#kept.some(({ until }) => until <= now)) this.#kept = this.#kept.filter(({ until }) => until > now);
    return this.#kept.map(({ snapshot }) => snapshot);
  }
}
