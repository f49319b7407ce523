import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { type Stage, wholeStage } from "../../planning/make-before-break.js";
import { isFree } from "../ordering/free-changes.js";
import type { SharedResponse } from "../responses/shared-responses.js";
import { sentAll } from "../state/sent-state.js";
import { drains, type Subscriber } from "../state/subscriber.js";
import { usesAll } from "../state/used-state.js";
import { CohortUpdate, InSyncCohort, MovingCohort, type RecordedResponse, type RecordedTransition } from "./cohort.js";
import { type CohortSurroundings, isPlain, keyOfDraining, keyOfRequests } from "./cohort-key.js";
import { inSyncCohort } from "./in-sync-cohort.js";

/**
 * A stream's position in a cohort (in sync or in an update), or none. A change of a group means the same to most of
 * its streams, and to repeat the work of one stream costs far less than to do it for each. So the first stream of a
 * cohort works out and records its next step, and the others repeat that. On any other event (a rejection, another
 * subscription, a deadline), a stream leaves its cohort. It then goes on alone until it is in sync again.
 */
export class CohortPosition {
  #cohort: InSyncCohort | MovingCohort | undefined;
  /** The stream's last snapshot; undefined in a cohort, which knows it. */
  #given: Snapshot | undefined;
  /** The part that the keys of its cohorts in sync share while its subscription stays the same. */
  #key: string | undefined;
  /** The stage that the stream worked out for a cohort whose next transition is not known. */
  #stage: Stage | undefined;
  #response: SharedResponse | undefined;
  /** When the oldest change in that response was published. */
  #published: number | undefined;
  /** The stream made its cohort's transition, and now waits for answers. */
  #isWaiting = false;

  /** The stream's cohort if it is in sync. */
  get inSync(): InSyncCohort | undefined {
    return this.#cohort instanceof InSyncCohort ? this.#cohort : undefined;
  }

  /** The stream's cohort if it is in an update. */
  get moving(): MovingCohort | undefined {
    return this.#cohort instanceof MovingCohort ? this.#cohort : undefined;
  }

  /** The client's target: the last given snapshot, or the newest one that its cohort followed the lineage to. */
  get wanted(): Snapshot | undefined {
    return this.#cohort === undefined ? this.#given : this.#cohort.snapshot;
  }

  /**
   * Brings the states of a stream in sync to the snapshot of its cohort, after changes that did not concern it: as if
   * it had been given each of these snapshots, and had found nothing new. Call it before the stream does anything, or
   * anybody looks at its states.
   */
  catchUp(subscribers: readonly Subscriber[]): void {
    const { inSync } = this;
    if (inSync?.hasPassedBy !== true) return;
    for (const subscriber of subscribers) {
      const set = inSync.snapshot.of(subscriber.type);
      if (subscriber.sent.set === set) continue;
      subscriber.sent = sentAll(set);
      subscriber.used = usesAll(set);
    }
  }

  /** Whether the stream is in sync at one of the two, or is in an update from the first to the second. */
  isBetween(from: Snapshot, to: Snapshot): boolean {
    const { inSync, moving } = this;
    if (inSync !== undefined) return inSync.snapshot === from || inSync.snapshot === to;
    return moving?.update.isBetween(from, to) === true;
  }

  /** Nothing is due: the stream is in sync, or its cohort waits for answers. */
  get isIdle(): boolean {
    return this.#isWaiting || this.inSync !== undefined;
  }

  /** The stream needs no `time` event: it is in sync, or it waits for answers alone. */
  get waitsForNoTime(): boolean {
    const cohort = this.#cohort;
    if (cohort === undefined) return false;
    return cohort instanceof InSyncCohort || (this.#isWaiting && cohort.next?.stage === wholeStage);
  }

  /** Sets the target of a stream that goes alone. */
  give(snapshot: Snapshot | undefined): void {
    this.leave();
    this.#given = snapshot;
  }

  /**
   * Goes to a snapshot with the others of a cohort in sync. Returns false if the stream goes alone.
   * `sharesOrder`: other streams share its order. Then it joins only if none of them can hold it back (`isFree`).
   */
  beginUpdate(to: Snapshot, subscribers: readonly Subscriber[], sharesOrder: boolean): boolean {
    const cohort = this.inSync;
    if (cohort === undefined) return false;
    let update = cohort.updateTo(to);
    const isWorthwhile = update !== undefined || cohort.members > 1;
    const from = cohort.snapshot;
    this.leave();
    if (!isWorthwhile || (update === undefined && sharesOrder && !isFree(subscribers, from, to))) return false;
    if (update === undefined) {
      update = new CohortUpdate(from, to, subscribers);
      cohort.remember(update, to);
    }
    this.#join(update.start);
    return true;
  }

  /**
   * The stream leaves its cohort, because of an event that the others do not share, and goes on alone from its state.
   */
  leave(): void {
    const cohort = this.#cohort;
    if (cohort !== undefined) this.#given = cohort.snapshot;
    if (cohort instanceof InSyncCohort) cohort.members -= 1;
    this.#cohort = undefined;
    this.#isWaiting = false;
    this.#stage = undefined;
    this.#response = undefined;
  }

  /** The stream leaves its cohort, and forgets its key because the key's parts may have changed. */
  leaveAndForgetKey(): void {
    this.leave();
    this.#key = undefined;
  }

  /** Joins another cohort. */
  #join(cohort: InSyncCohort | MovingCohort): void {
    this.#cohort = cohort;
    this.#isWaiting = false;
    this.#given = undefined;
    this.#stage = undefined;
    this.#response = undefined;
    if (cohort instanceof InSyncCohort) cohort.members += 1;
  }

  /** Records that the stream repeated a transition. */
  moved({ to }: RecordedTransition): void {
    if (to === this.#cohort) this.#isWaiting = true;
    else this.#join(to);
  }

  /** The client acknowledged a response of its update, which leads to another cohort. */
  acknowledged(response: RecordedResponse): void {
    const to = this.moving?.acknowledged(response);
    if (to === undefined) this.leave();
    else this.#join(to);
  }

  /** Keeps the stage of a stream that works out its next transition. */
  noteStage(stage: Stage): void {
    if (this.#cohort !== undefined) this.#stage = stage;
  }

  /** Keeps the response of a stream that works out its next transition. */
  noteResponse(response: SharedResponse, published: number | undefined): void {
    if (this.#cohort === undefined) return;
    this.#response = response;
    this.#published = published;
  }

  /**
   * A stream worked out the next response of its cohort. Others repeat it if it depends only on state that the cohort
   * shares.
   */
  recordSent(subscribers: readonly Subscriber[], index: number): void {
    const from = this.moving;
    const [stage, response] = [this.#stage, this.#response];
    if (from === undefined || stage === undefined || response === undefined) return;
    const changes = from.changesTo(subscribers);
    // For a type that became empty, it matters whether anything was ever sent (`isFirst`).
    const isShared = changes.every((one) => one.index === index || one.sent.set.size > 0);
    const { set } = (subscribers[index] as Subscriber).sent;
    const sends = { index, response, set, published: this.#published, sendings: [] };
    const to = isShared && subscribers.every(isPlain) ? from.after(subscribers, sends) : undefined;
    if (to === undefined) {
      this.leave();
      return;
    }
    from.update.keep(response);
    from.next = { sends, changes, stage, to };
    this.#join(to);
  }

  /** A stream has nothing to send until an answer comes, or at all. `mayBeInSync`: no change waits. */
  recordNothing(subscribers: readonly Subscriber[], mayBeInSync: boolean, around: CohortSurroundings): void {
    const from = this.moving;
    if (from === undefined) {
      if (mayBeInSync) this.#joinInSync(subscribers, around);
      return;
    }
    const stage = this.#stage;
    const changes = from.changesTo(subscribers);
    const isShared = changes.every(({ sent }) => sent.set.size > 0) && subscribers.every(isPlain);
    if (stage === undefined || !isShared || (around.sharesOrder && !mayBeInSync)) {
      this.leave();
      return;
    }
    if (from.inFlight.length > 0) {
      const to = from.afterNothing(subscribers);
      if (to === undefined) {
        this.leave();
        return;
      }
      if (to !== from) from.next = { sends: undefined, changes, stage, to };
      to.next = { sends: undefined, changes: [], stage, to };
      // Nothing is due after the last acknowledgement, so its streams are in sync then without more work.
      if (mayBeInSync) to.onceInSync = this.#inSyncCohortAt(subscribers, from.update.to, around);
      if (to.onceInSync !== undefined) from.update.endsIn(to.onceInSync);
      this.#join(to);
      this.#isWaiting = true;
      return;
    }
    // If nothing is in flight, only time can let a stream go on that must not be in sync.
    this.leave();
    if (!mayBeInSync) return;
    this.#joinInSync(subscribers, around);
    const { inSync } = this;
    if (inSync === undefined) return;
    from.update.endsIn(inSync);
    from.next = { sends: undefined, changes, stage, to: inSync };
  }

  /** A stream that goes alone has nothing to send, and no change waits. It is in sync if its client uses everything. */
  #joinInSync(subscribers: readonly Subscriber[], around: CohortSurroundings): void {
    const snapshot = this.#given;
    if (snapshot === undefined || subscribers.some(({ exchange }) => exchange.inFlight.length > 0)) return;
    const cohort = this.#inSyncCohortAt(subscribers, snapshot, around);
    if (cohort !== undefined) this.#join(cohort);
  }

  /** The cohort of the stream once its client uses everything in flight, if nothing is due then. */
  #inSyncCohortAt(
    subscribers: readonly Subscriber[],
    snapshot: Snapshot,
    around: CohortSurroundings,
  ): InSyncCohort | undefined {
    for (const subscriber of subscribers) {
      const { sent, used, exchange } = subscriber;
      const set = around.needed(subscriber);
      const isUsed = exchange.inFlight.length > 0 || used.set === set;
      if (sent.set !== set || !isUsed || sent.pending.size > 0 || !isPlain(subscriber)) return undefined;
    }
    this.#key ??= keyOfRequests(subscribers, around);
    const isDraining = subscribers.some(drains);
    const key = isDraining ? `${keyOfDraining(subscribers, snapshot)}${this.#key}` : this.#key;
    // What stays for now may have to go, what drains may name what goes, and streams that share an order wait for each
    // other.
    const isAlone = !around.sharesOrder && !isDraining;
    const mayPassBy = isAlone && subscribers.every(({ type, sent }) => sent.set === snapshot.of(type));
    const make = () => {
      const passesBy = mayPassBy ? subscribers.map(({ subscription }) => subscription) : undefined;
      return new InSyncCohort(
        snapshot,
        key,
        subscribers.map(({ type }) => type),
        passesBy,
      );
    };
    return inSyncCohort(snapshot, mayPassBy ? key : `~${key}`, make, around.lineage);
  }
}
