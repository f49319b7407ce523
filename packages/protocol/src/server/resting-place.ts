import type { ResourceType } from "@xdskit/api";
import type { Snapshot } from "../snapshot.js";
import type { Leg } from "./leg.js";
import { numberOf } from "./past-snapshots.js";
import { type SnapshotLine, Standpoint } from "./snapshot-line.js";

/**
 * Where streams stand whose clients ask for the same in the same way, use what one snapshot has for it and wait for nothing. All who stand there do the same when they are given
 * the next snapshot.
 */
export class RestingPlace extends Standpoint {
  /** What tells it from other places at the snapshot. */
  readonly key: string;
  /** How many streams stand there. */
  residents = 0;

  constructor(snapshot: Snapshot, key: string, types: readonly ResourceType[]) {
    super(snapshot, types);
    this.key = key;
  }

  override goOn(to: Snapshot): void {
    super.goOn(to);
    // They were free to go for what there was of other types then.
    moves.delete(this);
  }
}

/** Weak at both ends: places are there for as long as streams stand at them, and a snapshot that somebody remembers must not hold what came after it. */
const places = new WeakMap<Snapshot, Map<string, WeakRef<RestingPlace>>>();
const moves = new WeakMap<RestingPlace, WeakMap<Snapshot, RememberedMove>>();

/** How a way begins. */
interface RememberedMove {
  readonly leg: Leg;
  /** The bytes of its responses, which a leg alone does not hold: a stream that is on its way for long keeps that, and these are for those that are to follow it. */
  readonly bytes: readonly Uint8Array[];
}

/** Places at one snapshot that are remembered: more than that only clients make that ask for ever other things. */
const mostPlaces = 2_000;

/** Characters of the longest key of a place that streams share. */
const longestKey = 4_000;

/** The place with this key at a snapshot, for streams that ask for these types: one and the same for all that are there on the same line. */
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
  // Lines may have a snapshot in common, and who goes on from here arrives on one of them.
  const id = line === undefined ? key : `${numberOf(line)} ${key}`;
  const known = there.get(id)?.deref();
  if (known !== undefined) return known;
  if (there.size >= mostPlaces) there.clear();
  const made = new RestingPlace(snapshot, key, typesOf());
  there.set(id, new WeakRef(made));
  return made;
}

/** What the first stream did that went from there to the snapshot, until it had to wait; undefined where none did. */
export function knownMove(from: RestingPlace, to: Snapshot): Leg | undefined {
  const leg = moves.get(from)?.get(to)?.leg;
  return leg !== undefined && leadsTo(leg, to) ? leg : undefined;
}

/** Who goes it to the end is at the snapshot then, and not where the line went on to. */
export function leadsTo(leg: Leg, to: Snapshot): boolean {
  return leg.to === undefined || leg.to.snapshot === to;
}

/** For the others that stand there. Held as long as both are. */
export function rememberMove(from: RestingPlace, to: Snapshot, leg: Leg): void {
  let known = moves.get(from);
  if (known === undefined) {
    known = new WeakMap();
    moves.set(from, known);
  }
  known.set(to, { leg, bytes: leg.steps.map(({ response }) => response.body.bytes) });
}
