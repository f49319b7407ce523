import type { ResourceType } from "@xdskit/api";
import { mostShared } from "../../model/limits.js";
import type { Snapshot } from "../../model/snapshot.js";

/**
 * Where streams (`SettledCohort`) or orders stand in a lineage of snapshots. The position moves to the next snapshot as
 * long as the sets of these types stay the same.
 */
export class LineagePosition {
  /** Set by `goOn` alone. Not a getter, because it is read several times for each stream and change. */
  snapshot: Snapshot;
  readonly types: readonly ResourceType[];
  /**
   * The lineage forgot this position though its sets may be the same. There were too many positions, or not every
   * stream had to get the next snapshot.
   */
  isLost = false;

  constructor(snapshot: Snapshot, types: readonly ResourceType[]) {
    this.snapshot = snapshot;
    this.types = types;
  }

  /** The next snapshot has the same sets of these types, so all who stand here stand there now. */
  goOn(to: Snapshot): void {
    this.snapshot = to;
  }
}

/**
 * The snapshots of one stack, of which it knows the newest. Settled streams are not given each snapshot: where a change
 * does not concern them, their position moves, which costs one step for a thousand streams. For a stream that is the
 * same as getting the snapshot and finding nothing new in it.
 */
export class SnapshotLineage {
  #newest: Snapshot | undefined;
  /** The positions at the newest snapshot, by key. Weak: one is there as long as a stream or an order stands there. */
  readonly #positions = new Map<string, WeakRef<LineagePosition>>();

  /** Sets the first snapshot. Later ones come by `goOn`. */
  start(first: Snapshot): void {
    this.#newest ??= first;
  }

  isAt(snapshot: Snapshot): boolean {
    return this.#newest === snapshot;
  }

  /**
   * Sets the newest snapshot, perhaps the first one. `moves`: every stream with the one before as target gets this one.
   * It is false while a rollout has some of them wait.
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

  /** The position with this key at a snapshot; undefined where the lineage has gone on. */
  position<Made extends LineagePosition>(snapshot: Snapshot, key: string, make: () => Made): Made | undefined {
    if (snapshot !== this.#newest) return undefined;
    const known = this.#positions.get(key)?.deref();
    // Streams and orders use different keys, so the key tells the class.
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
