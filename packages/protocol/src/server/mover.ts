import type { Node } from "../node.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { isAbsenceUnsaid } from "./absence.js";
import type { StreamOptions } from "./contract.js";
import { isFree } from "./free-changes.js";
import { newPassMemory } from "./ordering.js";
import { numberOf } from "./past-snapshots.js";
import { noErrors } from "./resource-errors.js";
import { knownMove, type Move, type MoveStep, type RestingPlace, rememberMove, restingPlace } from "./resting-place.js";
import type { SharedResponse } from "./shared-responses.js";
import { isFirst } from "./shared-stage.js";
import type { SnapshotLine } from "./snapshot-line.js";
import { nothingDrains, type Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";

/** A move that is being made for the first time. */
interface Recording {
  readonly from: RestingPlace;
  readonly to: Snapshot;
  readonly steps: RecordedStep[];
}

interface RecordedStep {
  readonly subscriber: Subscriber;
  readonly set: ResourceSet;
  readonly response: SharedResponse;
}

/**
 * Lets one stream repeat what another did in its place: most streams of a group stand where a thousand others do, and go where those go. A stream rests once its client uses
 * what it is to have; a snapshot sends it on its way; whatever else happens wakes it, and it goes on by itself from where it is.
 */
export class Mover {
  #place: RestingPlace | undefined;
  #move: Move | undefined;
  /** Steps that were taken. */
  #taken = 0;
  #isPassOver = false;
  /** Steps that the client did not acknowledge yet. */
  #unanswered = 0;
  #recording: Recording | undefined;
  /** Where the move began, for the others of its order. */
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
    if (this.#move !== undefined) return this.#from === from && this.#move.to.snapshot === to;
    return this.#recording?.from.snapshot === from && this.#recording.to === to;
  }

  /** Nothing is to be sent. */
  get isIdle(): boolean {
    return this.#place !== undefined || this.#isPassOver;
  }

  /** The move that it makes, until its client acknowledged all of it. */
  get move(): Move | undefined {
    return this.#move;
  }

  /** What is to be sent next of the move. */
  get step(): MoveStep | undefined {
    return this.#move?.steps[this.#taken];
  }

  get isAtStart(): boolean {
    return this.#taken === 0;
  }

  get awaitsAnswers(): boolean {
    return this.#unanswered > 0;
  }

  /**
   * Goes where others went that stood at the same place; false where none did, or it does not rest. `accompanied`: what the stream asks for, where others of its order
   * want to know where it is; then others may go the way that it finds only where it is free.
   */
  depart(to: Snapshot, accompanied?: readonly Subscriber[]): boolean {
    const from = this.#place;
    if (from === undefined) {
      this.wake();
      return false;
    }
    const move = knownMove(from, to);
    const isShared = from.residents > 1;
    this.wake();
    if (move === undefined) {
      const mayRecord = isShared && (accompanied === undefined || isFree(accompanied, from.snapshot, to));
      if (mayRecord) this.#recording = { from, to, steps: [] };
      return false;
    }
    this.#move = move;
    this.#given = to;
    if (accompanied !== undefined) this.#from = from.snapshot;
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
    if (this.#move === undefined) return;
    this.#move = undefined;
    this.#taken = 0;
    this.#isPassOver = false;
    this.#unanswered = 0;
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
  answered(): void {
    this.#unanswered -= 1;
    if (this.#isPassOver) this.#arrive();
  }

  /** All steps are taken. */
  pass(): void {
    this.#isPassOver = true;
    this.#arrive();
  }

  #arrive(): void {
    const move = this.#move;
    if (move === undefined || this.#unanswered > 0) return;
    this.wake();
    this.#rest(move.to);
  }

  #rest(place: RestingPlace): void {
    this.#place = place;
    // Nothing else holds on to it.
    this.#given = undefined;
    place.residents += 1;
  }

  /** A response of its own. */
  sent(subscriber: Subscriber, response: SharedResponse): void {
    this.#recording?.steps.push({ subscriber, set: subscriber.held, response });
  }

  /** Looks where a stream is that has nothing to send: at rest, or at the end of a way that others may go. */
  settle(snapshot: Snapshot, subscribers: readonly Subscriber[], around: PlaceSurroundings): void {
    const recording = this.#recording;
    this.#recording = undefined;
    if (this.#place !== undefined || this.#move !== undefined) return;
    const recorded = recording?.to === snapshot ? recording.steps : noSteps;
    const silent: number[] = [];
    for (let index = 0; index < subscribers.length; index++) {
      const subscriber = subscribers[index] as Subscriber;
      const set = snapshot.of(subscriber.type);
      if (subscriber.held !== set || !isCalm(subscriber)) return;
      const sent = recorded.filter((step) => step.subscriber === subscriber);
      if (sent.length !== subscriber.outstanding.length || sent.length > 1) return;
      const [step] = sent;
      const before = step === undefined ? set : recording?.from.snapshot.of(subscriber.type);
      if (subscriber.acked !== before) return;
      if (step !== undefined && (step.set !== set || step.response.perishable.size > 0)) return;
      if (step === undefined && recording !== undefined && recording.from.snapshot.of(subscriber.type) !== set) {
        silent.push(index);
      }
    }
    this.#key ??= placeKey(subscribers, around);
    const place = restingPlace(snapshot, this.#key, () => subscribers.map(({ type }) => type), around.line);
    if (recording === undefined || recording.to !== snapshot || recording.from.key !== this.#key) {
      this.#rest(place);
      return;
    }
    const steps = recorded.map(({ subscriber, set, response }): MoveStep => {
      return { index: subscribers.indexOf(subscriber), set, response, sendings: [] };
    });
    const warms = steps.some(({ set }) => set.type.warmedBy.length > 0);
    const move: Move = { steps, silent, to: place, warms, memory: newPassMemory() };
    rememberMove(recording.from, snapshot, move);
    this.#move = move;
    if (around.isAccompanied) this.#from = recording.from.snapshot;
    this.#taken = steps.length;
    this.#unanswered = steps.length;
    this.pass();
  }
}

const noSteps: readonly RecordedStep[] = [];

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
