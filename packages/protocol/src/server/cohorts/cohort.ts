import type { ResourceType } from "@xdskit/api";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import type { Snapshot } from "../../model/snapshot.js";
import type { Stage } from "../../planning/make-before-break.js";
import type { StreamEffect } from "../contract/effects.js";
import type { OutgoingResponse } from "../contract/response.js";
import { type Departure, newDeparture } from "../ordering/departure.js";
import { LineagePosition } from "../ordering/snapshot-lineage.js";
import type { SharedResponse } from "../responses/shared-responses.js";
import { type Sent, type UsedState, usesAll } from "../state/client-use.js";
import type { SentState } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";

/*
 * What streams do from one snapshot to the next, as data: cohorts, which say what each of the types is at, and recorded
 * transitions between them. For example, where a route moves to a new cluster: the first transition sends the cluster;
 * once the client acknowledged it, the second sends the route; and after the next answer the third removes the old
 * cluster.
 */

/** What streams were sent of one of their types, and what their clients use. */
interface TypeState {
  readonly sent: SentState;
  readonly used: UsedState;
}

/** What becomes of one type. */
interface Change extends TypeState {
  /** Which of the stream's types, in delivery order. */
  readonly index: number;
}

/**
 * What a stream notes and tells of a usual acknowledgement; streams whose clients acknowledge in the same millisecond
 * share it.
 */
interface Acknowledgement {
  readonly last: NonNullable<Subscriber["ackedLast"]>;
  readonly effects: readonly StreamEffect[];
}

/**
 * A recorded response as streams send and remember it that sent as many before (and so use the same nonce), in the same
 * millisecond: a few objects for a thousand streams. Each stream's own would live until its next response, and objects
 * of that age are what costs most to collect.
 */
export interface Sending {
  readonly sent: Sent;
  /** What is in flight then of a type of which nothing else is. */
  readonly inFlight: readonly Sent[];
  readonly response: OutgoingResponse;
  /** As of the millisecond in which it was acknowledged last. */
  acknowledged: Acknowledgement | undefined;
}

/** A response that streams send on a journey. */
export interface RecordedResponse {
  /** The index of its type. */
  readonly index: number;
  readonly response: SharedResponse;
  /** The set that it brings the client to. */
  readonly set: ResourceSet;
  /** As it was sent lately, for streams that send it with the same nonce in the same millisecond (`sendingOf`). */
  readonly sendings: (Sending | undefined)[];
}

/** What all streams of a cohort do when there is room to send. */
export interface RecordedTransition {
  /** What they send; undefined where they have nothing to send, and wait for answers or come to rest. */
  readonly sends: RecordedResponse | undefined;
  /** What is different then: of the type that is sent, and of types of which there was nothing to say. */
  readonly changes: readonly Change[];
  /** What is held back then. */
  readonly stage: Stage;
  readonly to: MovingCohort | SettledCohort;
}

/**
 * Streams whose clients ask for the same in the same way (`key`), use what one snapshot has of it, and wait for
 * nothing. All of them send the same when they are given the next snapshot, so what the first one sends is remembered
 * here for the others (`Journey`).
 */
export class SettledCohort extends LineagePosition {
  /** What tells it from other cohorts at the snapshot. */
  readonly key: string;
  /** How many streams are in it. */
  members = 0;
  /** What streams did that set out from here, by where they went. */
  #journeys: WeakMap<Snapshot, RememberedJourney> | undefined;

  constructor(snapshot: Snapshot, key: string, types: readonly ResourceType[]) {
    super(snapshot, types);
    this.key = key;
  }

  override goOn(to: Snapshot): void {
    super.goOn(to);
    // What was remembered was worked out from the snapshot before, whose other types may have mattered, too.
    this.#journeys = undefined;
  }

  /** The journey to a snapshot; undefined where no stream made it, or where it ends at a later snapshot by now. */
  journeyTo(to: Snapshot): Journey | undefined {
    const journey = this.#journeys?.get(to)?.journey;
    return journey?.leadsTo(to) ? journey : undefined;
  }

  /** Remembers a journey for the other members, as long as both cohort and snapshot are there. */
  remember(journey: Journey, to: Snapshot): void {
    this.#journeys ??= new WeakMap();
    const bytes: Uint8Array[] = [];
    journey.keepBytesIn(bytes);
    this.#journeys.set(to, { journey, bytes });
  }
}

interface RememberedJourney {
  readonly journey: Journey;
  /**
   * Keeps the bytes of its responses (`SharedBody`) for the streams that must still send them. A journey does not:
   * streams hold on to it as long as they are on it.
   */
  readonly bytes: readonly Uint8Array[];
}

/** Cohorts of one journey that are remembered: only clients that answer in ever new orders make more. */
const mostCohorts = 64;

/** Of so many responses of a journey the bytes are kept for streams that must still send them. */
const mostBytes = 16;

/** From one snapshot to another, in all orders in which clients answer. */
export class Journey {
  readonly to: Snapshot;
  /** What setting out did to the order of the stream that went last. */
  readonly departure: Departure = newDeparture();
  readonly start: MovingCohort;
  /** Weak: a stream that is on its way for long must not hold what was before. */
  readonly #from: WeakRef<Snapshot>;
  readonly #cohorts = new Map<string, MovingCohort>();
  #bytes: WeakRef<Uint8Array[]> | undefined;
  /** The cohort at its end, once a stream got there. */
  #end: SettledCohort | undefined;

  constructor(from: Snapshot, to: Snapshot, subscribers: readonly Subscriber[]) {
    this.#from = new WeakRef(from);
    this.to = to;
    this.start = new MovingCohort(this, statesOf(subscribers), []);
  }

  isBetween(from: Snapshot, to: Snapshot): boolean {
    return this.to === to && this.#from.deref() === from;
  }

  /** Whether it ends at this very snapshot: the cohort at its end may have gone along with the lineage since. */
  leadsTo(to: Snapshot): boolean {
    return this.#end === undefined || this.#end.snapshot === to;
  }

  endsIn(cohort: SettledCohort): void {
    this.#end = cohort;
  }

  keepBytesIn(bytes: Uint8Array[]): void {
    this.#bytes = new WeakRef(bytes);
  }

  keep({ body }: SharedResponse): void {
    const bytes = this.#bytes?.deref();
    if (bytes !== undefined && bytes.length < mostBytes) bytes.push(body.bytes);
  }

  /** The cohort of streams at these states; undefined where too many are remembered. */
  cohortAt(states: readonly TypeState[], open: readonly RecordedResponse[]): MovingCohort | undefined {
    const key = keyOf(states, open);
    let cohort = this.#cohorts.get(key);
    if (cohort !== undefined || this.#cohorts.size >= mostCohorts) return cohort;
    cohort = new MovingCohort(this, states, open);
    this.#cohorts.set(key, cohort);
    return cohort;
  }
}

/** Equal for streams at equal values with equal responses in flight. */
function keyOf(states: readonly TypeState[], open: readonly RecordedResponse[]): string {
  let key = "";
  for (const { sent, used } of states) {
    const { acked } = used;
    key += `${ResourceSets.id(sent.set)}/${sent.pending.id}/${acked === undefined ? "" : ResourceSets.id(acked)} `;
  }
  for (const { index, set } of open) key += `>${index}.${ResourceSets.id(set)}`;
  return key;
}

function statesOf(subscribers: readonly Subscriber[]): readonly TypeState[] {
  return subscribers.map(({ sent, used }) => ({ sent, used }));
}

/**
 * Streams on a journey that stand at equal values: all of them do the same next.
 *
 * Invariant: of each of their types at most one response is in flight, that of `open`, and no older one.
 * Invariant: `isPlain` holds for their subscribers: the states say everything about them.
 */
export class MovingCohort {
  readonly journey: Journey;
  /** Where the journey leads. */
  readonly snapshot: Snapshot;
  readonly states: readonly TypeState[];
  /** The responses that their clients have not answered, by index. */
  readonly open: readonly RecordedResponse[];
  readonly #acknowledged = new Map<RecordedResponse, MovingCohort>();
  /** Where they settle once their clients acknowledged all of `open`, if nothing follows from that. */
  settlesIn: SettledCohort | undefined;
  /** Undefined until a stream found out. */
  next: RecordedTransition | undefined;

  constructor(journey: Journey, states: readonly TypeState[], open: readonly RecordedResponse[]) {
    this.journey = journey;
    this.snapshot = journey.to;
    this.states = states;
    this.open = open;
  }

  /** Where streams are once their client acknowledged a response; undefined where too many cohorts are remembered. */
  acknowledged(response: RecordedResponse): MovingCohort | undefined {
    const known = this.#acknowledged.get(response);
    if (known !== undefined) {
      this.#tellWhereToSettle(known);
      return known;
    }
    const states = this.states.map((state, index) =>
      index === response.index ? { sent: state.sent, used: usesAll(state.sent.set) } : state,
    );
    const open = this.open.filter((one) => one !== response);
    const cohort = this.journey.cohortAt(states, open);
    if (cohort === undefined) return undefined;
    this.#acknowledged.set(response, cohort);
    this.#tellWhereToSettle(cohort);
    return cohort;
  }

  /** What is known here by now: an answer may come before a stream found out that nothing follows. */
  #tellWhereToSettle(cohort: MovingCohort): void {
    cohort.settlesIn ??= this.settlesIn;
    if (cohort.open.length === 0 && cohort.settlesIn !== undefined && this.next !== undefined) {
      cohort.next ??= { sends: undefined, changes: [], stage: this.next.stage, to: cohort.settlesIn };
    }
  }

  /** What became different of streams since they were here. */
  changesTo(subscribers: readonly Subscriber[]): readonly Change[] {
    const changes: Change[] = [];
    for (const [index, { sent, used }] of subscribers.entries()) {
      const before = this.states[index] as TypeState;
      if (before.sent !== sent || before.used !== used) changes.push({ index, sent, used });
    }
    return changes;
  }

  /** The cohort of streams that were here and sent something. */
  after(subscribers: readonly Subscriber[], sends: RecordedResponse): MovingCohort | undefined {
    const open = [...this.open, sends].sort((a, b) => a.index - b.index);
    return this.journey.cohortAt(statesOf(subscribers), open);
  }

  /** The same for those that had nothing to send. */
  afterNothing(subscribers: readonly Subscriber[]): MovingCohort | undefined {
    return this.journey.cohortAt(statesOf(subscribers), this.open);
  }
}

/** Applies a transition to the types of a stream, but for the response. */
export function change(subscribers: readonly Subscriber[], changes: readonly Change[]): void {
  for (const { index, sent, used } of changes) {
    const subscriber = subscribers[index] as Subscriber;
    subscriber.sent = sent;
    subscriber.used = used;
  }
}
