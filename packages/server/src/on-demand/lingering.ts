import type { Wanted } from "./wanted.js";

/** Names that nobody is subscribed to any more, of all groups. Clients decide how many names there are: only so many are kept. */
export interface Lingering {
  /** `drop` takes it out again. */
  add(wanted: Wanted, drop: () => void): void;
  /** False if it was not there. */
  delete(wanted: Wanted): boolean;
}

export function createLingering(most: number): Lingering {
  /** The one that was left first is the first. */
  const entries = new Map<Wanted, () => void>();
  return {
    add(wanted, drop) {
      entries.set(wanted, drop);
      for (const oldest of entries.values()) {
        if (entries.size <= most) break;
        oldest();
      }
    },
    delete: (wanted) => entries.delete(wanted),
  };
}
