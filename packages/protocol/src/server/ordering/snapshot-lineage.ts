import type { ResourceType } from "@xdskit/api";
import { mostShared } from "../../model/limits.js";
import type { Snapshot } from "../../model/snapshot.js";

/**
 * Where streams (`SettledCohort`) or orders stand at a snapshot. It goes along with the line of
 * snapshots as long as nothing of these types becomes different.
 */
export class LineagePosition {
  /** Set by `goOn` alone. Not a getter, because it is read several times for each stream and change. */
  snapshot: Snapshot;
  readonly types: readonly ResourceType[];
  /**
   * The line forgot it though its types may be the same: there were too many positions, or not every stream was to have
   * the next snapshot.
   */
  isLost = false;

  constructor(snapshot: Snapshot, types: readonly ResourceType[]) {
    this.snapshot = snapshot;
    this.types = types;
  }

  /** The next snapshot has the same of these types: from now on, this is where whoever stands here stands. */
  goOn(to: Snapshot): void {
    this.snapshot = to;
  }
}

/**
 * The newest snapshot of one list of layers, as it follows one after the other. Streams that rest are not given each:
 * where a change does not concern what they ask for, their position moves to the new snapshot, which costs one step for
 * a thousand of them. To each it is as if it had been given the snapshot and had found nothing new in it.
 */
export class SnapshotLineage {
  #newest: Snapshot | undefined;
  /** The positions at the newest snapshot, by key. Weak: one is there as long as a stream or an order stands there. */
  readonly #positions = new Map<string, WeakRef<LineagePosition>>();

  /** Gives it the first snapshot that there is; later ones come by `goOn`. */
  start(first: Snapshot): void {
    this.#newest ??= first;
  }

  isAt(snapshot: Snapshot): boolean {
    return this.#newest === snapshot;
  }

  /**
   * Another snapshot is the newest, perhaps the first. `moves`: every stream that was to have the one before is to have
   * this one; a rollout has some of them wait.
   */
  goOn(to: Snapshot, moves: boolean): void {
    const before = this.#newest;
    if (before === to) return;
    this.#newest = to;
    if (before === undefined) return;
    if (!moves) this.#forgetAll();
    for (const [key, ref] of this.#positions) {
      const position = ref.deref();
      if (position?.types.every((type) => before.of(type) === to.of(type))) position.goOn(to);
      else this.#positions.delete(key);
    }
  }

  /** The position with this key at a snapshot; undefined where the line has gone on. */
  position<Made extends LineagePosition>(snapshot: Snapshot, key: string, make: () => Made): Made | undefined {
    if (snapshot !== this.#newest) return undefined;
    const known = this.#positions.get(key)?.deref();
    // The key says what it is the position of, and so its class.
    if (known !== undefined) return known as Made;
    if (this.#positions.size >= mostShared) this.#forgetAll();
    const made = make();
    this.#positions.set(key, new WeakRef(made));
    return made;
  }

  #forgetAll(): void {
    for (const ref of this.#positions.values()) {
      const position = ref.deref();
      if (position !== undefined) position.isLost = true;
    }
    this.#positions.clear();
  }
}
