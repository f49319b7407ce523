import type { WantedName } from "./wanted.js";

/**
 * Names that no client subscribes to any more, of all groups. Clients choose the names, so their number is bounded.
 */
export class Lingering {
  readonly #most: number;
  /** In order: the name that was left first is the first. */
  readonly #entries = new Map<WantedName, (wanted: WantedName) => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `drop` takes it out again. */
  add(wanted: WantedName, drop: (wanted: WantedName) => void): void {
    this.#entries.set(wanted, drop);
    if (this.#entries.size > this.#most) this.dropOldest();
  }

  /** False if it was not there. */
  delete(wanted: WantedName): boolean {
    return this.#entries.delete(wanted);
  }

  /** Drops the name that was left first; false if there is none. */
  dropOldest(): boolean {
    for (const [oldest, drop] of this.#entries) {
      drop(oldest);
      return true;
    }
    return false;
  }
}
