import type { ResourceType } from "@xdskit/api";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import type { PassMemory } from "./ordering.js";
import { numberOf } from "./past-snapshots.js";
import type { Sending } from "./sending.js";
import type { SharedResponse } from "./shared-responses.js";
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

/** One response of a move. */
export interface MoveStep {
  /** Which of the stream's types, in delivery order. */
  readonly index: number;
  /** What it brings the client to. */
  readonly set: ResourceSet;
  readonly response: SharedResponse;
  /** As streams sent it lately. */
  readonly sendings: (Sending | undefined)[];
}

/** The way from a place to a snapshot, as the first stream went it that was given the snapshot there: the others need not find it again. */
export interface Move {
  readonly steps: readonly MoveStep[];
  /** Types of which there was nothing to say, though they changed. */
  readonly silent: readonly number[];
  /** Where a stream stands once its client acknowledged everything. */
  readonly to: RestingPlace;
  /** Something of what is sent warms with what is sent next. */
  readonly warms: boolean;
  /** What it did to the past of the order of the stream that went last. */
  readonly memory: PassMemory;
}

/** Weak at both ends: places are there for as long as streams stand at them, and a snapshot that somebody remembers must not hold what came after it. */
const places = new WeakMap<Snapshot, Map<string, WeakRef<RestingPlace>>>();
const moves = new WeakMap<RestingPlace, WeakMap<Snapshot, RememberedMove>>();

interface RememberedMove {
  readonly move: Move;
  /** The bytes of its responses, which a move alone does not hold: a stream that is on its way for long keeps that, and these are for those that are to follow it. */
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

/** What the first stream did that went from there to the snapshot; undefined where none did. */
export function knownMove(from: RestingPlace, to: Snapshot): Move | undefined {
  const move = moves.get(from)?.get(to)?.move;
  // Who arrives there now would be where the line went on to.
  return move?.to.snapshot === to ? move : undefined;
}

/** For the others that stand there. Held as long as both are. */
export function rememberMove(from: RestingPlace, to: Snapshot, move: Move): void {
  let known = moves.get(from);
  if (known === undefined) {
    known = new WeakMap();
    moves.set(from, known);
  }
  known.set(to, { move, bytes: move.steps.map(({ response }) => response.body.bytes) });
}
