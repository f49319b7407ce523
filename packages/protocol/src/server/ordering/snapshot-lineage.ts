import type { ResourceType } from "@xdskit/api";
import { longestKey, maxShared } from "../../model/basics/limits.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";

/**
 * The position of streams (`InSyncCohort`) or orders in a lineage of snapshots. It moves to the next snapshot while
 * the sets of its types stay the same, or as long as a change concerns none of its streams.
 */
export class LineagePosition {
  /** Set by `goOn` alone. Not a getter, because it is read several times for each stream and change. */
  snapshot: Snapshot;
  readonly types: readonly ResourceType[];
  /**
   * True if the lineage forgot this position, though its sets may be the same. There were too many positions, or the
   * next snapshot was not the target of every stream.
   */
  isLost = false;

  constructor(snapshot: Snapshot, types: readonly ResourceType[]) {
    this.snapshot = snapshot;
    this.types = types;
  }

  /** Moves to the next snapshot if that is the same for its streams; false: it is not. */
  goOn(to: Snapshot): boolean {
    for (const type of this.types) if (this.snapshot.of(type) !== to.of(type)) return false;
    this.snapshot = to;
    return true;
  }
}

/** The characters of all keys of a lineage; each position takes some more. A stream by names of its own has its own. */
const maxCharacters = maxShared * longestKey;
const besides = 100;

/**
 * The snapshots of one stack; only the newest is kept. Streams in sync are not given each snapshot. If a change does
 * not concern them, their position moves, which is one step for a thousand streams. For a stream, that equals getting
 * the snapshot and finding nothing new in it.
 */
export class SnapshotLineage {
  #newest: Snapshot | undefined;
  /** The positions at the newest snapshot, by key. Weak: a position lives while a stream or an order has it. */
  readonly #positions = new Map<string, WeakRef<LineagePosition>>();
  #characters = 0;

  /** Sets the first snapshot. Later ones come by `goOn`. */
  start(first: Snapshot): void {
    this.#newest ??= first;
  }

  isAt(snapshot: Snapshot): boolean {
    return this.#newest === snapshot;
  }

  /**
   * Sets the newest snapshot, perhaps the first one. `moves`: every stream whose target was the previous snapshot gets
   * this one. It is false while a rollout makes some streams wait.
   */
  goOn(to: Snapshot, moves: boolean): void {
    const before = this.#newest;
    if (before === to) return;
    this.#newest = to;
    if (before === undefined) return;
    if (!moves) this.#forgetAll();
    for (const [key, ref] of this.#positions) {
      if (ref.deref()?.goOn(to)) continue;
      this.#positions.delete(key);
      this.#characters -= key.length + besides;
    }
  }

  /** The position with this key at a snapshot; undefined if the lineage has gone on. */
  position<Made extends LineagePosition>(snapshot: Snapshot, key: string, make: () => Made): Made | undefined {
    if (snapshot !== this.#newest) return undefined;
    const known = this.#positions.get(key)?.deref();
    // Streams and orders use different keys, so the key tells the class.
    if (known !== undefined) return known as Made;
    if (!this.#positions.has(key)) this.#characters += key.length + besides;
    if (this.#characters > maxCharacters) {
      this.#forgetAll();
      this.#characters = key.length + besides;
    }
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
    this.#characters = 0;
  }
}
