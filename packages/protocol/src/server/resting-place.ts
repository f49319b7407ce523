import type { ResourceType } from "@xdskit/api";
import type { Snapshot } from "../snapshot.js";
import { numberOf } from "./past-snapshots.js";
import { type SnapshotLine, Standpoint } from "./snapshot-line.js";

/**
 * What streams have in common that rest: their clients ask for the same in the same way (`key`), use what one snapshot has of it, and wait for nothing. All of them send the same
 * when they are given the next snapshot, so the first one's leg is remembered here for the others (`Mover`).
 */
export class RestingPlace extends Standpoint {
  /** What tells it from other places at the snapshot. */
  readonly key: string;
  /** How many streams stand there. */
  residents = 0;
  /** What streams did that set out from here, by where they went (`remembered-moves.ts`). */
  moves: WeakMap<Snapshot, object> | undefined;

  constructor(snapshot: Snapshot, key: string, types: readonly ResourceType[]) {
    super(snapshot, types);
    this.key = key;
  }

  override goOn(to: Snapshot): void {
    super.goOn(to);
    // What was remembered was worked out from the snapshot before, whose other types may have mattered, too.
    this.moves = undefined;
  }
}

/** Weak at both ends: places are there for as long as streams stand at them, and a snapshot that somebody remembers must not hold what came after it. */
const places = new WeakMap<Snapshot, Map<string, WeakRef<RestingPlace>>>();

/** Places at one snapshot that are remembered: only clients that ask for ever other things make more. */
const mostPlaces = 2_000;

/** Characters of the longest key of a place that streams share: a stream with a longer one rests by itself. */
const longestKey = 4_000;

/** The place with this key at a snapshot, for streams that ask for these types: the same one for all streams of a line. */
export function restingPlace(
  snapshot: Snapshot,
  key: string,
  typesOf: () => readonly ResourceType[],
  line: SnapshotLine | undefined,
): RestingPlace {
  if (key.length > longestKey) return new RestingPlace(snapshot, key, typesOf());
  const onLine = line?.standpoint(snapshot, key, () => new RestingPlace(snapshot, key, typesOf()));
  if (onLine !== undefined) return onLine;
  let there = places.get(snapshot);
  if (there === undefined) {
    there = new Map();
    places.set(snapshot, there);
  }
  // Lines may have a snapshot in common; a stream that arrives here belongs to one of them.
  const id = line === undefined ? key : `${numberOf(line)} ${key}`;
  const known = there.get(id)?.deref();
  if (known !== undefined) return known;
  if (there.size >= mostPlaces) there.clear();
  const made = new RestingPlace(snapshot, key, typesOf());
  there.set(id, new WeakRef(made));
  return made;
}
