import type { Stage } from "../make-before-break.js";
import type { Node } from "../node.js";
import type { Snapshot } from "../snapshot.js";
import { isAbsenceUnsaid } from "./absence.js";
import type { StreamOptions } from "./contract.js";
import { isFree } from "./free-changes.js";
import { answerTo, type Leg, type LegStep } from "./leg.js";
import { numberOf } from "./past-snapshots.js";
import { Recording } from "./recording.js";
import { noErrors } from "./resource-errors.js";
import { knownMove, leadsTo, type RestingPlace, restingPlace } from "./resting-place.js";
import type { SharedResponse } from "./shared-responses.js";
import { isFirst } from "./shared-stage.js";
import type { SnapshotLine } from "./snapshot-line.js";
import { nothingDrains, type Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";

/**
 * Lets one stream repeat what another did in its place: most streams of a group stand where a thousand others do, and go where those go. A stream rests once its client uses
 * what it is to have; a snapshot sends it on its way; whatever else happens wakes it, and it goes on by itself from where it is.
 */
export class Mover {
  #place: RestingPlace | undefined;
  #leg: Leg | undefined;
  /** Steps of it that were taken. */
  #taken = 0;
  #isPassOver = false;
  /** Steps that the client did not acknowledge yet. */
  #unanswered = 0;
  /** What was acknowledged since the leg ended, where something waits for that; the sum of `answerTo`. */
  #answers = 0;
  #recording: Recording | undefined;
  /** Where the way began, for the others of its order. */
  #from: Snapshot | undefined;
  /** What the stream was given last; of one that rests its place knows it. */
  #given: Snapshot | undefined;
  /** Of the places where the stream rests, as long as it asks for the same. */
  #key: string | undefined;

  get isResting(): boolean {
    return this.#place !== undefined;
  }

  /** Where its client stands, while it rests. */
  get snapshot(): Snapshot | undefined {
    return this.#place?.snapshot;
  }

  /** What the stream is to have: what it was given last, or what the line of its place has gone on to since. */
  get newest(): Snapshot | undefined {
    return this.#place === undefined ? this.#given : this.#place.snapshot;
  }

  /** Notes what the stream, which does not rest, is to have. */
  give(snapshot: Snapshot | undefined): void {
    this.#given = snapshot;
  }

  /** It rests at one of the two, or is on the way from one to the other. */
  isBetween(from: Snapshot, to: Snapshot): boolean {
    if (this.#place !== undefined) return this.#place.snapshot === from || this.#place.snapshot === to;
    if (this.#leg !== undefined) return this.#from === from && this.#given === to;
    return this.#recording?.from === from && this.#recording.to === to;
  }

  /** Nothing is to be sent. */
  get isIdle(): boolean {
    return this.#place !== undefined || (this.#isPassOver && this.#answers === 0);
  }

  /** The leg that it goes, or that it went last, until its client acknowledged all of the way. */
  get leg(): Leg | undefined {
    return this.#leg;
  }

  /** What is to be sent next of the leg. */
  get step(): LegStep | undefined {
    return this.#leg?.steps[this.#taken];
  }

  get isAtStart(): boolean {
    return this.#taken === 0;
  }

  get awaitsAnswers(): boolean {
    return this.#unanswered > 0;
  }

  /** An acknowledgement now is one on which others went on. */
  get takesAnswers(): boolean {
    return this.#unanswered > 0 && (this.#isPassOver || this.#leg?.isFree === true);
  }

  /**
   * Goes where others went that stood at the same place; false where none did, or it does not rest. `isAccompanied`: others of its order want to know where it is; then others
   * may go the way that it finds only where it is free.
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

  /** Something happens that is not the usual: the stream goes on by itself. */
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
    this.#isPassOver = false;
    this.#unanswered = 0;
    this.#answers = 0;
  }

  /** It asks for something else, or in another way, than before. */
  changed(): void {
    this.wake();
    this.#key = undefined;
  }

  /** Sends what `step` said. */
  take(): void {
    this.#taken += 1;
    this.#unanswered += 1;
  }

  /** The client acknowledged a step. */
  answered(step: LegStep): void {
    this.#unanswered -= 1;
    if (this.#leg?.to === undefined) this.#answers += answerTo(step);
    else if (this.#isPassOver) this.#arrive();
  }

  /** Goes on after the answers that came: as others did, or by itself. */
  goOn(subscribers: readonly Subscriber[]): void {
    const [after, answers, to] = [this.#leg, this.#answers, this.#given];
    if (answers === 0 || after === undefined || to === undefined) return;
    const leg = after.next.get(answers);
    const isKnown = leg !== undefined && leadsTo(leg, to);
    this.#answers = 0;
    this.#taken = 0;
    this.#isPassOver = false;
    this.#leg = isKnown ? leg : undefined;
    if (isKnown) return;
    this.#unanswered = 0;
    this.#recording = new Recording({ kind: "answers", after, answers }, to, subscribers);
  }

  /** All steps are taken. */
  pass(): void {
    this.#isPassOver = true;
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
    // Nothing else holds on to it.
    this.#given = undefined;
    place.residents += 1;
  }

  /** How far a stream may be brought now that goes by itself. */
  stands(stage: Stage): void {
    this.#recording?.stands(stage);
  }

  /** A response of its own. */
  sent(subscriber: Subscriber, response: SharedResponse): void {
    this.#recording?.sent(subscriber, response);
  }

  /** Looks where a stream is that has nothing to send: at rest, or at the end of a way that others may go. */
  settle(snapshot: Snapshot, subscribers: readonly Subscriber[], around: PlaceSurroundings): void {
    const recording = this.#recording?.to === snapshot ? this.#recording : undefined;
    this.#recording = undefined;
    if (this.#place !== undefined || this.#leg !== undefined) return;
    for (const subscriber of subscribers) {
      const set = snapshot.of(subscriber.type);
      if (subscriber.held !== set || !isCalm(subscriber)) return;
      if (subscriber.outstanding.length === 0 ? subscriber.acked !== set : recording === undefined) return;
    }
    this.#key ??= placeKey(subscribers, around);
    const place = restingPlace(snapshot, this.#key, () => subscribers.map(({ type }) => type), around.line);
    if (recording === undefined) this.#rest(place);
    else this.#end(recording, place, around.isAccompanied);
  }

  /** The same of a stream of which something waits for an answer. */
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
    this.pass();
  }
}

/** Besides its sets: nothing is owed, rejected, waited for or kept alive. */
function isCalm(subscriber: Subscriber): boolean {
  const { owed, everything, mustAnswer, rejection, instead, lifetimes, errors } = subscriber;
  if (owed.size > 0 || everything || mustAnswer || errors !== noErrors) return false;
  if (rejection !== undefined || instead.size > 0 || lifetimes !== undefined || isFirst(subscriber)) return false;
  const { draining, yielding, undecided, waitsFor } = subscriber;
  return draining === nothingDrains && yielding === undefined && undecided.size + waitsFor.size === 0;
}

/** What decides what a stream does besides what its clients asked for and got. */
export interface PlaceSurroundings {
  readonly options: StreamOptions;
  readonly node: Node;
  readonly told: Told;
  readonly isOrdered: boolean;
  /** Others are in its order. */
  readonly isAccompanied: boolean;
  /** Along which it is given snapshots, where it goes along with others. */
  readonly line: SnapshotLine | undefined;
}

/** Equal for streams that do the same wherever they rest. What clients wrote themselves stands behind its length, or one could write the key of another place. */
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
