import type { Revision } from "@xdskit/server";

/** Told of each revision, for those who come to listen later. */
export class RevisionEvents {
  readonly #listeners = new Set<(revision: Revision) => void>();

  /** Calls a function at each new revision; returns a function that ends it. */
  readonly on = (listener: (revision: Revision) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly tell = (revision: Revision): void => {
    for (const listener of this.#listeners) listener(revision);
  };
}
