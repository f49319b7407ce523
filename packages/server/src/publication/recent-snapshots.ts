import type { Clock } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import { maxChanges, maxDrained, maxRevisions } from "../stores/history/following.js";

/** In this time clients come back that were here, or at another server, in milliseconds. */
export const recentMs = 10 * 60_000;
/** Connections drain from when a client has its new listeners: this many milliseconds after the change at most. */
const lateMs = 60_000;

/** How long, in milliseconds, something must be known that drains for `drainMs`. */
export function keptMs(drainMs: number): number {
  return Math.max(recentMs, drainMs + lateMs);
}

/** A snapshot that a change has replaced. */
interface Recent {
  readonly snapshot: Snapshot;
  readonly changed: number;
  readonly drains: boolean;
  /** When it was replaced, in milliseconds. */
  readonly at: number;
}

/**
 * The snapshots that were the newest until recently. A client that comes from another server of the store, or was cut
 * off for a moment, may have one of these.
 *
 * Those that were replaced by a change of listeners are kept as long as connections may drain from the old ones,
 * however many other changes came since: clients that come back do not say which listeners drain.
 */
export class RecentSnapshots {
  readonly #clock: Clock;
  readonly #drainMs: () => number;
  #kept: readonly Recent[] = [];

  /** `drainMs`: for how long connections drain from a replaced listener. */
  constructor(clock: Clock, drainMs: () => number = () => 0) {
    this.#clock = clock;
    this.#drainMs = drainMs;
  }

  /**
   * Adds a snapshot that a change of `changed` resources has replaced. `drains`: it gave listeners other routes, or
   * removed some.
   */
  add(snapshot: Snapshot, changed: number, drains = false): void {
    this.#kept = withinLimits([{ snapshot, changed, drains, at: this.#clock.now() }, ...this.#kept]);
  }

  /** Newest first. */
  list(): readonly Snapshot[] {
    return this.#current().map(({ snapshot }) => snapshot);
  }

  /** Whether connections may drain from listeners that only these snapshots have. */
  get drains(): boolean {
    return this.#current().some(({ drains }) => drains);
  }

  #current(): readonly Recent[] {
    const now = this.#clock.now();
    const isOver = ({ drains, at }: Recent) => at + (drains ? keptMs(this.#drainMs()) : recentMs) <= now;
    if (this.#kept.some(isOver)) this.#kept = this.#kept.filter((one) => !isOver(one));
    return this.#kept;
  }
}

/** Each snapshot holds its differences from the next one. */
function withinLimits(all: readonly Recent[]): readonly Recent[] {
  let [recent, recentChanges, drained, drainedChanges] = [0, 0, 0, 0];
  return all.filter(({ changed, drains }) => {
    recent += 1;
    recentChanges += changed;
    if (recent <= maxRevisions && recentChanges <= maxChanges) return true;
    if (!drains) return false;
    drained += 1;
    drainedChanges += changed;
    // The newest one counts whatever its size.
    return drained === 1 || (drained <= maxRevisions && drainedChanges <= maxDrained);
  });
}
