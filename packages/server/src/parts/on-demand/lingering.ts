import type { WantedName } from "./wanted.js";

/**
 * Names that no client subscribes to any more, of all groups. Clients choose the names, so their number is bounded.
 */
export type Lingering = ReturnType<typeof createLingering>;

export function createLingering(most: number) {
  /** In order: the name that was left first is the first. */
  const entries = new Map<WantedName, (wanted: WantedName) => void>();
  return {
    /** `drop` takes it out again. */
    add(wanted: WantedName, drop: (wanted: WantedName) => void) {
      entries.set(wanted, drop);
      if (entries.size <= most) return;
      for (const [oldest, end] of entries) {
        if (entries.size <= most) break;
        end(oldest);
      }
    },
    /** False if it was not there. */
    delete: (wanted: WantedName): boolean => entries.delete(wanted),
    /** Drops the name that was left first; false if there is none. */
    dropOldest(): boolean {
      for (const [oldest, end] of entries) {
        end(oldest);
        return true;
      }
      return false;
    },
  };
}
