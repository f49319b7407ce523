import type { ResourceType } from "@xdskit/api";
import type { Snapshot } from "../snapshot.js";

/** Where streams, or an order, stand at a snapshot, and go along with the line as long as nothing of these types becomes different. */
export class Standpoint {
  /** Changes by `goOn` alone; a field, because it is read several times for each stream and change. */
  snapshot: Snapshot;
  readonly types: readonly ResourceType[];
  /** The line forgot it: there were too many, or some of those at the newest were not to have the next. */
  isLost = false;

  constructor(snapshot: Snapshot, types: readonly ResourceType[]) {
    this.snapshot = snapshot;
    this.types = types;
  }

  /** Whoever stands there stands at the next snapshot from now on, which has the same of these types. */
  goOn(to: Snapshot): void {
    this.snapshot = to;
  }
}

/** Standpoints of one line that are remembered: more than that only clients make that ask for ever other things. */
const mostStandpoints = 2_000;

/**
 * The snapshots that one list of streams is given one after the other. A change that does not concern those who stand somewhere moves the place, not each of them: it is for
 * them as if they had been given the snapshot at once, before all others, and had found nothing new in it.
 */
export class SnapshotLine {
  #newest: Snapshot | undefined;
  /** Those at the newest. Weak: they are there for as long as somebody stands there. */
  readonly #standpoints = new Map<string, WeakRef<Standpoint>>();

  /** The first snapshot that there is; later ones come by `goOn`. */
  start(first: Snapshot): void {
    this.#newest ??= first;
  }

  isAt(snapshot: Snapshot): boolean {
    return this.#newest === snapshot;
  }

  /** Another snapshot is there, perhaps the first. `moves`: all who had the newest are to have this one now. */
  goOn(to: Snapshot, moves: boolean): void {
    const before = this.#newest;
    if (before === to) return;
    this.#newest = to;
    if (before === undefined) return;
    if (!moves) this.#forgetAll();
    for (const [key, ref] of this.#standpoints) {
      const standpoint = ref.deref();
      if (standpoint?.types.every((type) => before.of(type) === to.of(type))) standpoint.goOn(to);
      else this.#standpoints.delete(key);
    }
  }

  /** The standpoint with this key at a snapshot; undefined where the line has gone on. */
  standpoint<Made extends Standpoint>(snapshot: Snapshot, key: string, make: () => Made): Made | undefined {
    if (snapshot !== this.#newest) return undefined;
    const known = this.#standpoints.get(key)?.deref();
    // Keys say what they are of.
    if (known !== undefined) return known as Made;
    if (this.#standpoints.size >= mostStandpoints) this.#forgetAll();
    const made = make();
    this.#standpoints.set(key, new WeakRef(made));
    return made;
  }

  #forgetAll(): void {
    for (const ref of this.#standpoints.values()) {
      const standpoint = ref.deref();
      if (standpoint !== undefined) standpoint.isLost = true;
    }
    this.#standpoints.clear();
  }
}
