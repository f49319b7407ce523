import type { Stage } from "../make-before-break.js";
import type { Node } from "../node.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { isAbsenceUnsaid } from "./absence.js";
import type { StreamOptions } from "./contract.js";
import { isFree } from "./free-changes.js";
import { answerTo, type Leg, type LegStep } from "./leg.js";
import { numberOf } from "./past-snapshots.js";
import { Recording } from "./recording.js";
import { knownMove, leadsTo } from "./remembered-moves.js";
import { type RestingPlace, restingPlace } from "./resting-place.js";
import type { SharedResponse } from "./shared-responses.js";
import { isFirst } from "./shared-stage.js";
import type { SnapshotLine } from "./snapshot-line.js";
import { drains, noErrors, type Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";

/**
 * Lets one stream repeat what another one did, since a change of a group means the same to most of its streams, and to work it out anew for each costs far more than to repeat it. A
 * stream rests, at a `RestingPlace`, once its client uses what it is to have. The first that is given a newer snapshot there works out by itself what it sends, which is recorded
 * (`Recording`); the others that rest there go the same `Leg`, step by step. Whatever else happens (a rejection, another subscription, a deadline) wakes a stream: it
 * goes on by itself from where it is, by `ServerStream` and `Delivery`, until it rests again.
 */
export class Mover {
  #place: RestingPlace | undefined;
  /** The leg that the stream repeats, or is at the end of. */
  #leg: Leg | undefined;
  /** How many steps of it were sent. */
  #taken = 0;
  /** All steps were sent. */
  #isLegOver = false;
  /** How many steps the client did not acknowledge yet. */
  #unanswered = 0;
  /** Which steps were acknowledged since the last `goOn`, where something waits for that: the sum of their `answerTo`. */
  #answers = 0;
  /** Of a stream that goes by itself where others may follow. */
  #recording: Recording | undefined;
  /** The snapshot from which the stream set out; kept only where it shares its order with others, for `isBetween`. */
  #from: Snapshot | undefined;
  /** The snapshot that the stream was given last; undefined while it rests, since its place knows it. */
  #given: Snapshot | undefined;
  /** The key of the places where the stream rests, as long as it asks for the same. */
  #key: string | undefined;

  get isResting(): boolean {
    return this.#place !== undefined;
  }

  /** The snapshot at which the stream rests, if it does. */
  get snapshot(): Snapshot | undefined {
    return this.#place?.snapshot;
  }

  /** The snapshot that the stream is to have: the one that it was given last, or the one that the line of its place has gone on to since. */
  get newest(): Snapshot | undefined {
    return this.#place === undefined ? this.#given : this.#place.snapshot;
  }

  /** Notes which snapshot a stream is to have that does not rest. */
  give(snapshot: Snapshot | undefined): void {
    this.#given = snapshot;
  }

  /** The stream rests at one of the two, or is on the way from the first to the second. */
  isBetween(from: Snapshot, to: Snapshot): boolean {
    if (this.#place !== undefined) return this.#place.snapshot === from || this.#place.snapshot === to;
    if (this.#leg !== undefined) return this.#from === from && this.#given === to;
    return this.#recording?.from === from && this.#recording.to === to;
  }

  /** Nothing is to be sent: the stream rests, or is at the end of a leg and no answer came since that may let it go on. */
  get isIdle(): boolean {
    return this.#place !== undefined || (this.#isLegOver && this.#answers === 0);
  }

  /** The leg that the stream repeats, or is at the end of, until its client acknowledged all of the way. */
  get leg(): Leg | undefined {
    return this.#leg;
  }

  /** The step of the leg that is to be sent next; undefined after the last. */
  get step(): LegStep | undefined {
    return this.#leg?.steps[this.#taken];
  }

  get isAtStart(): boolean {
    return this.#taken === 0;
  }

  get awaitsAnswers(): boolean {
    return this.#unanswered > 0;
  }

  /** The way of others knows what follows an acknowledgement that comes now: all steps of the leg are sent, or none of them waits for one. */
  get takesAnswers(): boolean {
    return this.#unanswered > 0 && (this.#isLegOver || this.#leg?.isFree === true);
  }

  /**
   * Sets out for a snapshot on the way of the first stream that rested at the same place. False where none did, or the stream does not rest: it goes by itself then, and is
   * recorded if others rest there. `isAccompanied`: other streams share its order; then it is recorded only where none of them can hold it back (`isFree`).
   */
  depart(to: Snapshot, subscribers: readonly Subscriber[], isAccompanied: boolean): boolean {
    const place = this.#place;
    if (place === undefined) {
      this.wake();
      return false;
    }
    const leg = knownMove(place, to);
    const isShared = place.residents > 1;
    this.wake();
    if (leg === undefined) {
      const mayRecord = isShared && (!isAccompanied || isFree(subscribers, place.snapshot, to));
      if (mayRecord) this.#recording = new Recording({ kind: "rest", place }, to, subscribers);
      return false;
    }
    this.#leg = leg;
    this.#given = to;
    if (isAccompanied) this.#from = place.snapshot;
    return true;
  }

  /** Something happens that the way of others does not know: the stream goes on by itself from where it is. */
  wake(): void {
    if (this.#place !== undefined) {
      this.#given = this.#place.snapshot;
      this.#place.residents -= 1;
      this.#place = undefined;
    }
    this.#recording = undefined;
    this.#from = undefined;
    if (this.#leg === undefined) return;
    this.#leg = undefined;
    this.#taken = 0;
    this.#isLegOver = false;
    this.#unanswered = 0;
    this.#answers = 0;
  }

  /** What `placeKey` is made of may be different from now on. */
  changed(): void {
    this.wake();
    this.#key = undefined;
  }

  /** Notes that `step` is sent. */
  take(): void {
    this.#taken += 1;
    this.#unanswered += 1;
  }

  /** Notes that the client acknowledged a step. */
  answered(step: LegStep): void {
    this.#unanswered -= 1;
    if (this.#leg?.to === undefined) this.#answers += answerTo(step);
    else if (this.#isLegOver) this.#arrive();
  }

  /** After a leg that waited for answers, and some that came: goes on as others did after these, or by itself, recorded. */
  goOn(subscribers: readonly Subscriber[]): void {
    const [after, answers, to] = [this.#leg, this.#answers, this.#given];
    if (answers === 0 || after === undefined || to === undefined) return;
    const leg = after.next.get(answers);
    const isKnown = leg !== undefined && leadsTo(leg, to);
    this.#answers = 0;
    this.#taken = 0;
    this.#isLegOver = false;
    this.#leg = isKnown ? leg : undefined;
    if (isKnown) return;
    this.#unanswered = 0;
    this.#recording = new Recording({ kind: "answers", after, answers }, to, subscribers);
  }

  /** Notes that all steps of the leg are sent. */
  endLeg(): void {
    this.#isLegOver = true;
    this.#arrive();
  }

  #arrive(): void {
    const place = this.#leg?.to;
    if (place === undefined || this.#unanswered > 0) return;
    this.wake();
    this.#rest(place);
  }

  #rest(place: RestingPlace): void {
    this.#place = place;
    // The place alone says from now on which snapshot it is, and must not keep an older one alive.
    this.#given = undefined;
    place.residents += 1;
  }

  /** Notes the stage of a stream that goes by itself. */
  noteStage(stage: Stage): void {
    this.#recording?.noteStage(stage);
  }

  /** Notes a response of a stream that goes by itself. */
  sent(subscriber: Subscriber, response: SharedResponse): void {
    this.#recording?.sent(subscriber, response);
  }

  /** A stream that goes by itself has nothing more to send, and nothing of it is held back: it rests if its client uses everything, or is at the end of a recorded leg that leads to rest. */
  settle(snapshot: Snapshot, subscribers: readonly Subscriber[], around: PlaceSurroundings): void {
    const recording = this.#recording?.to === snapshot ? this.#recording : undefined;
    this.#recording = undefined;
    if (this.#place !== undefined || this.#leg !== undefined) return;
    for (const subscriber of subscribers) {
      const set = around.needed(subscriber);
      if (subscriber.held !== set || !isCalm(subscriber)) return;
      if (subscriber.outstanding.length === 0 ? subscriber.acked !== set : recording === undefined) return;
    }
    this.#key ??= placeKey(subscribers, around);
    const key = subscribers.some(drains) ? `${keyOfDraining(subscribers, snapshot)}${this.#key}` : this.#key;
    const place = restingPlace(snapshot, key, () => subscribers.map(({ type }) => type), around.line);
    if (recording === undefined) this.#rest(place);
    else this.#end(recording, place, around.isAccompanied);
  }

  /** A stream that goes by itself has nothing more to send before an answer comes: what was recorded is a leg that others may go. */
  pause(snapshot: Snapshot, subscribers: readonly Subscriber[]): void {
    const recording = this.#recording?.to === snapshot ? this.#recording : undefined;
    this.#recording = undefined;
    if (recording !== undefined && subscribers.every(isCalm)) this.#end(recording, undefined, false);
  }

  #end(recording: Recording, to: RestingPlace | undefined, isAccompanied: boolean): void {
    const leg = recording.end(to);
    if (leg === undefined) return;
    this.#leg = leg;
    if (isAccompanied) this.#from = recording.from;
    this.#taken = leg.steps.length;
    this.#unanswered = leg.open.length;
    this.endLeg();
  }
}

/**
 * Whether the sets of a subscriber say everything about it, beside what drains: nothing is owed, rejected or undecided, and nothing has a TTL. What drains does so until a time that is
 * known, and what stays only because the client asks for it is named by that.
 */
function isCalm(subscriber: Subscriber): boolean {
  const { owed, everything, mustAnswer, rejection, instead, lifetimes, errors } = subscriber;
  if (owed.size > 0 || everything || mustAnswer || errors !== noErrors) return false;
  if (rejection !== undefined || instead.size > 0 || lifetimes !== undefined || isFirst(subscriber)) return false;
  const { draining, yielding, undecided, waitsFor } = subscriber;
  for (const { until } of draining) if (until === undefined) return false;
  if (yielding !== undefined) for (const { until } of yielding.values()) if (until !== undefined) return false;
  return undecided.size + waitsFor.size === 0;
}

/** What decides what a stream does, besides what its client asked for and got. */
export interface PlaceSurroundings {
  readonly options: StreamOptions;
  readonly node: Node;
  readonly told: Told;
  /** What the client needs to have of a type to be settled (`Ordering.meanwhile`). */
  readonly needed: (subscriber: Subscriber) => ResourceSet;
  readonly isOrdered: boolean;
  /** Other streams share its order. */
  readonly isAccompanied: boolean;
  /** The line of the snapshots that it is given; undefined where it has none. */
  readonly line: SnapshotLine | undefined;
}

/** Tells places from others at which something else drains, or stays for that. */
function keyOfDraining(subscribers: readonly Subscriber[], snapshot: Snapshot): string {
  let key = "";
  for (const { type, held, draining } of subscribers) {
    for (const { what } of draining) key += `_${numberOf(what)}`;
    key += held === snapshot.of(type) ? "," : `${ResourceSets.id(held)},`;
  }
  return key;
}

/**
 * Equal for streams that send the same when they are given the same snapshot, once they rest at the same one. Parameters, which are a client's own text, stand behind their
 * length, or a client could write such that it has the key of another place.
 */
function placeKey(
  subscribers: readonly Subscriber[],
  { options, node, told, isOrdered, isAccompanied }: PlaceSurroundings,
): string {
  const { variant, api, only } = options;
  let key = `${variant}${api}${only === undefined ? "" : "1"}${isOrdered ? "o" : ""}${isAccompanied ? "+" : ""} `;
  for (const { type, api, subscription, tellsVariants } of subscribers) {
    const { wildcard, names, parameters = "" } = subscription;
    const flags =
      (wildcard ? 1 : 0) +
      (tellsVariants ? 2 : 0) +
      (told.ttl(type) ? 4 : 0) +
      (isAbsenceUnsaid(type, node) ? 8 : 0) +
      (api === "v2" ? 16 : 0);
    key += `${numberOf(type)}.${names.id}.${flags}.${parameters.length}.${parameters} `;
  }
  return key;
}
