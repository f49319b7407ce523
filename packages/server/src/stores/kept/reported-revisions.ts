import { noteIn } from "../../basics/note-in.js";
import type { Revision, RevisionId, Store } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { revisionsSince } from "../history/following.js";

/** Tells of each new revision of some layers once: those that are made here, and those that the store tells of. */
export class ReportedRevisions {
  readonly #store: Pick<Store, "revision">;
  readonly #listener: (revision: Revision) => void;
  readonly #reported = new Set<RevisionId>();
  /** The heads that the store told last. Undefined before it told any. */
  #heads: ReadonlyMap<LayerName, Revision> | undefined;
  /** The heads are looked at one after the other. */
  #looking: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, "revision">, listener: (revision: Revision) => void) {
    this.#store = store;
    this.#listener = listener;
  }

  /** Nothing happens where it was told already. */
  report(revision: Revision): void {
    if (noteIn(this.#reported, revision.id)) this.#listener(revision);
  }

  /**
   * Tells of what other servers of the store have made since the last call. The first call tells nothing: its heads
   * were there before. Where too much was made in between, only the head is told. What cannot be read now is told with
   * the next call. Does not reject.
   */
  hear(heads: readonly Revision[]): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look(heads)).catch(() => {});
    return this.#looking;
  }

  async #look(heads: readonly Revision[]): Promise<void> {
    const before = this.#heads;
    const made: Revision[] = [];
    for (const head of before === undefined ? [] : heads) {
      const known = before?.get(head.layer);
      // A store that was restored from a backup has older ones again.
      if (head.id === known?.id || head.number < (known?.number ?? 0)) continue;
      made.push(...((await revisionsSince(this.#store, known, head)) ?? [head]));
    }
    this.#heads = new Map(heads.map((head) => [head.layer, head]));
    for (const revision of made) this.report(revision);
  }
}
