import type { WantedName } from "./wanted.js";

/**
 * Names that no client subscribes to any more, of all groups. Clients choose the names, so their number is bounded.
 */
export interface Lingering {
  /** `drop` takes it out again. */
  add(wanted: WantedName, drop: (wanted: WantedName) => void): void;
  /** False if it was not there. */
  delete(wanted: WantedName): boolean;
  /** Drops the name that was left first; false if there is none. */
  dropOldest(): boolean;
}

export function createLingering(most: number): Lingering {
  /** In order: the name that was left first is the first. */
  const entries = new Map<WantedName, (wanted: WantedName) => void>();
  return {
    add(wanted: WantedName, drop: (wanted: WantedName) => void) {
      entries.set(wanted, drop);
      if (entries.size <= most) return;
      for (const [oldest, end] of entries) {
        if (entries.size <= most) break;
        end(oldest);
      }
    },
    delete: (wanted: WantedName): boolean => entries.delete(wanted),
    dropOldest(): boolean {
      for (const [oldest, end] of entries) {
        end(oldest);
        return true;
      }
      return false;
    },
  };
}
