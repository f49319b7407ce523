import type { ResourceType } from "@xdskit/api";
import { maxTransitions } from "../../model/basics/limits.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import type { Stage } from "../../planning/make-before-break.js";
import type { StreamEffect } from "../contract/effects.js";
import type { OutgoingResponse } from "../contract/response.js";
import { newOrderAtStart, type OrderAtStart } from "../ordering/order-at-start.js";
import { LineagePosition } from "../ordering/snapshot-lineage.js";
import { isUnconcerned } from "../responses/content.js";
import type { SharedResponse } from "../responses/shared-responses.js";
import { type Exchange, maxInFlight, type NumberedResponse } from "../state/exchange.js";
import { type SentState, sentAll } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { type UsedState, usesAll } from "../state/used-state.js";

/*
 * The steps of streams from one snapshot to the next, as data: cohorts, which hold the state of each type, and recorded
 * transitions between them. For example, a route moves to a new cluster. The first transition sends the cluster. Once
 * the client acknowledged it, the second sends the route. After the next answer, the third removes the old cluster.
 */

/** The state of one type: the set that streams were sent, and the sets that their clients use. */
interface TypeState {
  readonly sent: SentState;
  readonly used: UsedState;
}

/** The new state of one type. */
interface CohortChange extends TypeState {
  /** The index of the type among the stream's types, in delivery order. */
  readonly index: number;
}

/**
 * The facts that a stream records and reports for a usual acknowledgement. Streams whose clients acknowledge in the
 * same millisecond share it.
 */
interface Acknowledgement {
  readonly exchange: Exchange;
  readonly effects: readonly StreamEffect[];
}

/**
 * A recorded response, as streams send and remember it. Streams share it if they send it in the same millisecond with
 * the same nonce: a few objects for a thousand streams. An object for each stream would live until the next response,
 * and objects of that age cost the garbage collector most.
 */
export interface Sending {
  readonly numbered: NumberedResponse;
  readonly response: OutgoingResponse;
  /** The exchange with it as the only response in flight, of the last stream; shared with the next one if it can be. */
  exchange: Exchange | undefined;
  /** The last acknowledgement; shared within its millisecond. */
  acknowledged: Acknowledgement | undefined;
}

/** A response that streams send in an update. */
export interface RecordedResponse {
  /** The index of its type. */
  readonly index: number;
  readonly response: SharedResponse;
  /** The client is at this set once it used the response. */
  readonly set: ResourceSet;
  /** When the oldest change in it was published, in milliseconds; undefined if nobody recorded it. */
  readonly published: number | undefined;
  /** Recent sendings, for streams that send it with the same nonce in the same millisecond (`sendingOf`). */
  readonly sendings: (Sending | undefined)[];
}

/** The next step of each stream of a cohort when there is room to send. */
export interface RecordedTransition {
  /** The response that they send; undefined if they have none, and wait for answers or are in sync. */
  readonly sends: RecordedResponse | undefined;
  /** The new states: of the sent type, and of types that needed no response. */
  readonly changes: readonly CohortChange[];
  /** The changes that wait from then on. */
  readonly stage: Stage;
  readonly to: MovingCohort | InSyncCohort;
}

/**
 * Streams whose clients ask for the same in the same way (`key`), use one snapshot's resources of it, and wait for
 * nothing. All of them send the same for the next snapshot, so the responses of the first one are remembered here for
 * the others (`CohortUpdate`).
 */
export class InSyncCohort extends LineagePosition {
  /** Identifies the cohort among those at the snapshot. */
  readonly key: string;
  /**
   * The subscription of each type, if the cohort may pass by changes that concern none of them. Its streams' own states
   * stay behind until they do something (`CohortPosition.catchUp`), so a change costs a thousand of them one look.
   */
  readonly #passesBy: readonly Subscription[] | undefined;
  #hasPassedBy = false;
  /** The number of streams in it. */
  members = 0;
  /** The updates that streams went through from here, by the snapshot at their end. */
  #updates: WeakMap<Snapshot, RememberedUpdate> | undefined;

  constructor(
    snapshot: Snapshot,
    key: string,
    types: readonly ResourceType[],
    passesBy: readonly Subscription[] | undefined,
  ) {
    super(snapshot, types);
    this.key = key;
    this.#passesBy = passesBy;
  }

  /** The states of its streams may be those of an earlier snapshot that is the same for them. */
  get hasPassedBy(): boolean {
    return this.#hasPassedBy;
  }

  override goOn(to: Snapshot): boolean {
    if (!super.goOn(to) && !this.#passBy(to)) return false;
    // The updates were worked out from the previous snapshot, whose other types may have mattered.
    this.#updates = undefined;
    return true;
  }

  #passBy(to: Snapshot): boolean {
    if (this.#passesBy === undefined) return false;
    for (const [index, subscription] of this.#passesBy.entries()) {
      const type = this.types[index] as ResourceType;
      const [before, after] = [this.snapshot.of(type), to.of(type)];
      if (before !== after && !isUnconcerned(sentAll(before), subscription, after)) return false;
    }
    this.snapshot = to;
    this.#hasPassedBy = true;
    return true;
  }

  /** The update to a snapshot; undefined if no stream went through it, or if it now ends at a later snapshot. */
  updateTo(to: Snapshot): CohortUpdate | undefined {
    const update = this.#updates?.get(to)?.update;
    return update?.leadsTo(to) ? update : undefined;
  }

  /** Remembers an update for the other members while both cohort and snapshot exist. */
  remember(update: CohortUpdate, to: Snapshot): void {
    this.#updates ??= new WeakMap();
    const bytes: Uint8Array[] = [];
    update.keepBytesIn(bytes);
    this.#updates.set(to, { update, bytes });
  }
}

interface RememberedUpdate {
  readonly update: CohortUpdate;
  /**
   * Keeps the bytes of its responses (`SharedResponseBody`) for the streams that must still send them. The update must
   * not hold them: its streams may be in it for long.
   */
  readonly bytes: readonly Uint8Array[];
}

/** How a cohort gets from one snapshot to another, for every order in which clients answer. */
export class CohortUpdate {
  readonly to: Snapshot;
  /** What the start meant for the order of the last stream that began it. */
  readonly orderAtStart: OrderAtStart = newOrderAtStart();
  readonly start: MovingCohort;
  /** Weak: a stream in a long update must not keep the old snapshot alive. */
  readonly #from: WeakRef<Snapshot>;
  readonly #cohorts = new Map<string, MovingCohort>();
  #bytes: WeakRef<Uint8Array[]> | undefined;
  /** The cohort at its end, once a stream got there. */
  #end: InSyncCohort | undefined;

  constructor(from: Snapshot, to: Snapshot, subscribers: readonly Subscriber[]) {
    this.#from = new WeakRef(from);
    this.to = to;
    this.start = new MovingCohort(this, statesOf(subscribers), []);
  }

  isBetween(from: Snapshot, to: Snapshot): boolean {
    return this.to === to && this.#from.deref() === from;
  }

  /** Whether it ends at this very snapshot: the cohort at its end may have followed the lineage since. */
  leadsTo(to: Snapshot): boolean {
    return this.#end === undefined || this.#end.snapshot === to;
  }

  endsIn(cohort: InSyncCohort): void {
    this.#end = cohort;
  }

  keepBytesIn(bytes: Uint8Array[]): void {
    this.#bytes = new WeakRef(bytes);
  }

  keep({ body }: SharedResponse): void {
    const bytes = this.#bytes?.deref();
    if (bytes !== undefined && bytes.length < maxInFlight) bytes.push(body.bytes);
  }

  /** The cohort of streams at these states; undefined if too many are remembered. */
  cohortAt(states: readonly TypeState[], inFlight: readonly RecordedResponse[]): MovingCohort | undefined {
    const key = keyOfStates(states, inFlight);
    let cohort = this.#cohorts.get(key);
    if (cohort !== undefined || this.#cohorts.size >= maxTransitions) return cohort;
    cohort = new MovingCohort(this, states, inFlight);
    this.#cohorts.set(key, cohort);
    return cohort;
  }
}

/** Equal for streams at equal values with equal responses in flight. */
function keyOfStates(states: readonly TypeState[], inFlight: readonly RecordedResponse[]): string {
  let key = "";
  for (const { sent, used } of states) {
    const { set: usedSet } = used;
    key += `${ResourceSets.id(sent.set)}/${sent.pending.id}/${usedSet === undefined ? "" : ResourceSets.id(usedSet)} `;
  }
  for (const { index, set } of inFlight) key += `>${index}.${ResourceSets.id(set)}`;
  return key;
}

function statesOf(subscribers: readonly Subscriber[]): readonly TypeState[] {
  return subscribers.map(({ sent, used }) => ({ sent, used }));
}

/**
 * Streams in an update at equal values: all of them do the same next.
 *
 * Invariant: each type has at most one response in flight, the one in `inFlight`. Invariant: `isPlain` holds for their
 * subscribers, so the states say everything about them.
 */
export class MovingCohort {
  readonly update: CohortUpdate;
  /** Where the update ends. */
  readonly snapshot: Snapshot;
  readonly states: readonly TypeState[];
  /** The responses that their clients have not answered, by index. */
  readonly inFlight: readonly RecordedResponse[];
  readonly #acknowledged = new Map<RecordedResponse, MovingCohort>();
  /** The cohort of the streams once their clients acknowledged all of `inFlight`, if nothing more is due then. */
  onceInSync: InSyncCohort | undefined;
  /** Their next step; undefined until a stream worked it out. */
  next: RecordedTransition | undefined;

  constructor(update: CohortUpdate, states: readonly TypeState[], inFlight: readonly RecordedResponse[]) {
    this.update = update;
    this.snapshot = update.to;
    this.states = states;
    this.inFlight = inFlight;
  }

  /** The cohort of streams whose client acknowledged a response; undefined if too many cohorts are remembered. */
  acknowledged(response: RecordedResponse): MovingCohort | undefined {
    const known = this.#acknowledged.get(response);
    if (known !== undefined) {
      this.#tellInSyncCohort(known);
      return known;
    }
    const states = this.states.map((state, index) =>
      index === response.index ? { sent: state.sent, used: usesAll(state.sent.set) } : state,
    );
    const inFlight = this.inFlight.filter((one) => one !== response);
    const cohort = this.update.cohortAt(states, inFlight);
    if (cohort === undefined) return undefined;
    this.#acknowledged.set(response, cohort);
    this.#tellInSyncCohort(cohort);
    return cohort;
  }

  /** Hands on the facts known by now: an answer may come before a stream found out that nothing more is due. */
  #tellInSyncCohort(cohort: MovingCohort): void {
    cohort.onceInSync ??= this.onceInSync;
    if (cohort.inFlight.length === 0 && cohort.onceInSync !== undefined && this.next !== undefined) {
      cohort.next ??= { sends: undefined, changes: [], stage: this.next.stage, to: cohort.onceInSync };
    }
  }

  /** The changes of a stream's types since it was in this cohort. */
  changesTo(subscribers: readonly Subscriber[]): readonly CohortChange[] {
    const changes: CohortChange[] = [];
    for (const [index, { sent, used }] of subscribers.entries()) {
      const before = this.states[index] as TypeState;
      if (before.sent !== sent || before.used !== used) changes.push({ index, sent, used });
    }
    return changes;
  }

  /** The cohort of streams that were here and sent a response. */
  after(subscribers: readonly Subscriber[], sends: RecordedResponse): MovingCohort | undefined {
    const inFlight = [...this.inFlight, sends].sort((a, b) => a.index - b.index);
    return this.update.cohortAt(statesOf(subscribers), inFlight);
  }

  /** The cohort of streams that were here and had nothing to send. */
  afterNothing(subscribers: readonly Subscriber[]): MovingCohort | undefined {
    return this.update.cohortAt(statesOf(subscribers), this.inFlight);
  }
}

/** Applies a transition to the types of a stream, without the response. */
export function change(subscribers: readonly Subscriber[], changes: readonly CohortChange[]): void {
  for (const { index, sent, used } of changes) {
    const subscriber = subscribers[index] as Subscriber;
    subscriber.sent = sent;
    subscriber.used = used;
  }
}
