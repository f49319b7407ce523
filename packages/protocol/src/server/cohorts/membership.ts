import type { Snapshot } from "../../model/snapshot.js";
import { type Stage, wholeStage } from "../../planning/make-before-break.js";
import { isFree } from "../ordering/free-changes.js";
import type { SharedResponse } from "../responses/shared-responses.js";
import { drains, type Subscriber } from "../state/subscriber.js";
import { Journey, MovingCohort, type RecordedResponse, type RecordedTransition, SettledCohort } from "./cohort.js";
import { type CohortSurroundings, isPlain, keyOfDraining, keyOfRequests } from "./cohort-key.js";
import { settledCohort } from "./settled-cohort.js";

/**
 * Where one stream is: in a cohort, settled or on a journey, or by itself. A change of a group means the same to most
 * of its streams, and to work it out anew for each costs far more than to repeat it. So the first stream of a cohort
 * works out what it does next, which is recorded; the others repeat that. Whatever else happens (a rejection, another
 * subscription, a deadline) has a stream leave its cohort: it goes on by itself from where it is, until it settles
 * again.
 */
export class Membership {
  #cohort: SettledCohort | MovingCohort | undefined;
  /** The snapshot that the stream was given last; undefined in a cohort, which knows it. */
  #given: Snapshot | undefined;
  /** What the keys of the cohorts where the stream settles have in common, as long as it asks for the same. */
  #key: string | undefined;
  /** What the stream did by itself since it was last in a cohort whose next step nobody knows. */
  #stage: Stage | undefined;
  #response: SharedResponse | undefined;
  /** The stream did what its moving cohort does next, which is to wait for answers. */
  #isWaiting = false;

  /** The cohort of a stream that lacks nothing. */
  get settled(): SettledCohort | undefined {
    return this.#cohort instanceof SettledCohort ? this.#cohort : undefined;
  }

  /** The cohort of a stream on a journey. */
  get moving(): MovingCohort | undefined {
    return this.#cohort instanceof MovingCohort ? this.#cohort : undefined;
  }

  /**
   * The snapshot that the client must have: the one given last, or the one to which the lineage of its cohort went on.
   */
  get newest(): Snapshot | undefined {
    return this.#cohort === undefined ? this.#given : this.#cohort.snapshot;
  }

  /** The stream settled at one of the two, or is on a journey from the first to the second. */
  isBetween(from: Snapshot, to: Snapshot): boolean {
    const { settled, moving } = this;
    if (settled !== undefined) return settled.snapshot === from || settled.snapshot === to;
    return moving?.journey.isBetween(from, to) === true;
  }

  /** Nothing is to be sent: the stream settled, or its cohort waits for answers. */
  get isIdle(): boolean {
    return this.#isWaiting || this.settled !== undefined;
  }

  /** Nothing is held back that time may let go: the stream settled, or waits for answers alone. */
  get waitsForNoTime(): boolean {
    const cohort = this.#cohort;
    if (cohort === undefined) return false;
    return cohort instanceof SettledCohort || (this.#isWaiting && cohort.next?.stage === wholeStage);
  }

  /** Notes which snapshot a stream by itself must have. */
  give(snapshot: Snapshot | undefined): void {
    this.leave();
    this.#given = snapshot;
  }

  /**
   * Sets out for a snapshot with the others of a settled cohort. False where the stream goes by itself.
   * `isAccompanied`: other streams share its order; then it joins only where none of them can hold it back (`isFree`).
   */
  setOut(to: Snapshot, subscribers: readonly Subscriber[], isAccompanied: boolean): boolean {
    const cohort = this.settled;
    if (cohort === undefined) return false;
    let journey = cohort.journeyTo(to);
    const isWorthwhile = journey !== undefined || cohort.members > 1;
    const from = cohort.snapshot;
    this.leave();
    if (!isWorthwhile || (journey === undefined && isAccompanied && !isFree(subscribers, from, to))) return false;
    if (journey === undefined) {
      journey = new Journey(from, to, subscribers);
      cohort.remember(journey, to);
    }
    this.#join(journey.start);
    return true;
  }

  /** Something happens that its cohort does not share: the stream goes on by itself from where it is. */
  leave(): void {
    const cohort = this.#cohort;
    if (cohort !== undefined) this.#given = cohort.snapshot;
    if (cohort instanceof SettledCohort) cohort.members -= 1;
    this.#cohort = undefined;
    this.#isWaiting = false;
    this.#stage = undefined;
    this.#response = undefined;
  }

  /** What the keys of its cohorts are made of may be different from now on. */
  changed(): void {
    this.leave();
    this.#key = undefined;
  }

  /** The stream is in another cohort. */
  #join(cohort: SettledCohort | MovingCohort): void {
    this.#cohort = cohort;
    this.#isWaiting = false;
    this.#given = undefined;
    this.#stage = undefined;
    this.#response = undefined;
    if (cohort instanceof SettledCohort) cohort.members += 1;
  }

  /** The stream repeated a recorded transition. */
  moved({ to }: RecordedTransition): void {
    if (to === this.#cohort) this.#isWaiting = true;
    else this.#join(to);
  }

  /** The client acknowledged a response of its journey, and all of the stream's cohort follows from that. */
  acknowledged(response: RecordedResponse): void {
    const to = this.moving?.acknowledged(response);
    if (to === undefined) this.leave();
    else this.#join(to);
  }

  /** Notes the stage of a stream that goes by itself. */
  noteStage(stage: Stage): void {
    if (this.#cohort !== undefined) this.#stage = stage;
  }

  /** Notes a response of a stream that goes by itself. */
  noteResponse(response: SharedResponse): void {
    if (this.#cohort !== undefined) this.#response = response;
  }

  /** A stream found out what its cohort sends next: others repeat it, if it follows from what the cohort shares. */
  recordSent(subscribers: readonly Subscriber[], index: number): void {
    const from = this.moving;
    const [stage, response] = [this.#stage, this.#response];
    if (from === undefined || stage === undefined || response === undefined) return;
    const changes = from.changesTo(subscribers);
    // Of a type that became empty it matters whether anything was ever sent (`isFirst`).
    const isShared = changes.every((one) => one.index === index || one.sent.set.size > 0);
    const { set } = (subscribers[index] as Subscriber).sent;
    const sends = { index, response, set, sendings: [] };
    const to = isShared && subscribers.every(isPlain) ? from.after(subscribers, sends) : undefined;
    if (to === undefined) {
      this.leave();
      return;
    }
    from.journey.keep(response);
    from.next = { sends, changes, stage, to };
    this.#join(to);
  }

  /** The same where there is nothing to send before an answer comes, or ever. `mayRest`: nothing is held back. */
  recordNothing(subscribers: readonly Subscriber[], mayRest: boolean, around: CohortSurroundings): void {
    const from = this.moving;
    if (from === undefined) {
      if (mayRest) this.#settle(subscribers, around);
      return;
    }
    const stage = this.#stage;
    const changes = from.changesTo(subscribers);
    const isShared = changes.every(({ sent }) => sent.set.size > 0) && subscribers.every(isPlain);
    if (stage === undefined || !isShared || (around.isAccompanied && !mayRest)) {
      this.leave();
      return;
    }
    if (from.open.length > 0) {
      const to = from.afterNothing(subscribers);
      if (to === undefined) {
        this.leave();
        return;
      }
      if (to !== from) from.next = { sends: undefined, changes, stage, to };
      to.next = { sends: undefined, changes: [], stage, to };
      // Once all is acknowledged nothing follows: then its streams settle without another look.
      if (mayRest) to.settlesIn = this.#whereToSettle(subscribers, from.journey.to, around);
      if (to.settlesIn !== undefined) from.journey.endsIn(to.settlesIn);
      this.#join(to);
      this.#isWaiting = true;
      return;
    }
    // Where nothing is in flight, only time lets a stream go on that may not rest.
    this.leave();
    if (!mayRest) return;
    this.#settle(subscribers, around);
    const { settled } = this;
    if (settled === undefined) return;
    from.journey.endsIn(settled);
    from.next = { sends: undefined, changes, stage, to: settled };
  }

  /**
   * A stream by itself has nothing to send, and nothing of it is held back: it settles if its client uses everything.
   */
  #settle(subscribers: readonly Subscriber[], around: CohortSurroundings): void {
    const snapshot = this.#given;
    if (snapshot === undefined || subscribers.some(({ inFlight }) => inFlight.length > 0)) return;
    const cohort = this.#whereToSettle(subscribers, snapshot, around);
    if (cohort !== undefined) this.#join(cohort);
  }

  /** The cohort of streams whose clients use all that is in flight, if nothing is due then. */
  #whereToSettle(
    subscribers: readonly Subscriber[],
    snapshot: Snapshot,
    around: CohortSurroundings,
  ): SettledCohort | undefined {
    for (const subscriber of subscribers) {
      const { sent, used, inFlight } = subscriber;
      const set = around.needed(subscriber);
      const isUsed = inFlight.length > 0 || used.acked === set;
      if (sent.set !== set || !isUsed || sent.pending.size > 0 || !isPlain(subscriber)) return undefined;
    }
    this.#key ??= keyOfRequests(subscribers, around);
    const key = subscribers.some(drains) ? `${keyOfDraining(subscribers, snapshot)}${this.#key}` : this.#key;
    return settledCohort(snapshot, key, () => subscribers.map(({ type }) => type), around.lineage);
  }
}
