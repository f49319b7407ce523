import type { Resource, ResourceType } from "@xdskit/api";
import type { Wait } from "../../model/basics/wait.js";
import { changeBetween } from "../../model/sets/change.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { mustBeThere } from "../../planning/going-and-coming.js";
import { type Stage, wholeStage } from "../../planning/make-before-break.js";
import { assume } from "../acknowledgements/apply-answer.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import type { WaitEnded } from "../contract/effects.js";
import type { Replaced, Subscriber } from "../state/subscriber.js";
import { ClientTarget } from "./client-target.js";
import { awayOf, ComingBack } from "./coming-back.js";
import { beginDraining, type DrainingCheck, drain, inheritDraining, nextOfDraining, noteDraining } from "./draining.js";
import { namesAny } from "./free-changes.js";
import { graceWaits, nextOfGrace, withGrace } from "./grace-period.js";
import type { OrderAtStart } from "./order-at-start.js";
import type { OrderedStream } from "./ordered-stream.js";
import { askingTime, defaultOrderingTimes, type OrderingTimes } from "./ordering-times.js";
import type { PastSnapshots } from "./past-listeners.js";
import { isFirst, sharedStage, usedBy, type WarmingWait } from "./shared-stage.js";
import type { SnapshotLineage } from "./snapshot-lineage.js";
import { type StageWaited, StageWaits } from "./stage-waits.js";

const noTypes: ReadonlySet<ResourceType> = new Set();

/**
 * The order in which one client reaches its target: make before break (rule 120). Routes wait until the client
 * acknowledged a new cluster that they name. A removed cluster stays until the client acknowledged routes without it.
 * `make-before-break.ts` computes the changes that must wait from the sets that the client may be using (through
 * `shared-stage.ts`). This class knows which streams wait, and for how long. An ADS stream has its own order. The
 * per-type streams of one node share one, since an acknowledgement on one of them may free a change on another.
 */
export class Ordering {
  readonly times: OrderingTimes;
  readonly #waits: StageWaits;
  readonly #comingBack: ComingBack;
  readonly #streams = new Set<OrderedStream>();
  readonly #target = new ClientTarget(this.#streams);
  /** The stages of the streams with changes that wait, as of their last turn. */
  readonly #stages = new Map<OrderedStream, Stage>();
  /** The time that the order was told last, in milliseconds. */
  #now = 0;
  /** A stream may have settled in a cohort. It must be told (`leaveCohort`) when that ends. */
  #mayHaveSettled = false;
  /** The types of the streams that have left since the draining listeners were looked at. */
  #left: Set<ResourceType> | undefined;

  /**
   * `waited` receives the time for which each type waited for answers of the client. `past`: for streams of one type
   * each, the snapshots whose resources the client may still use. `mayAskForMore`: false if it asks for no clusters.
   */
  constructor(
    times: OrderingTimes = defaultOrderingTimes,
    waited?: StageWaited | undefined,
    past?: (() => PastSnapshots) | undefined,
    mayAskForMore = true,
  ) {
    this.times = times;
    this.#waits = new StageWaits(waited);
    this.#comingBack = new ComingBack(past, mayAskForMore);
  }

  join(stream: OrderedStream): void {
    if (this.#streams.has(stream)) return;
    this.#leaveAll();
    this.#streams.add(stream);
  }

  leave(stream: OrderedStream): void {
    this.#streams.delete(stream);
    this.#stages.delete(stream);
    this.#waits.leave(stream);
    this.#left ??= new Set();
    for (const { type } of stream.subscribers) this.#left.add(type);
    const [heir] = this.#subscribers();
    if (heir !== undefined) inheritDraining(heir, stream.subscribers);
    this.#leaveAll();
    this.progressed(stream);
  }

  /** A stream does something that the others may have to wait for or consider, so they go on alone. */
  leaveCohorts(): void {
    if (this.#streams.size > 1) this.#leaveAll();
  }

  /** A stream asks for a new type. */
  asksMore(): void {
    this.#target.typesChanged();
  }

  #leaveAll(): void {
    this.#target.typesChanged();
    if (!this.#mayHaveSettled) return;
    this.#mayHaveSettled = false;
    for (const stream of this.#streams) stream.leaveCohort();
  }

  /**
   * A client answered on stream `by`, for `type` or, if left out, for any type. Tells only the other streams that wait
   * for that: there may be a thousand.
   */
  progressed(by: OrderedStream, type?: ResourceType): void {
    if (this.#stages.size === 0) return;
    for (const [stream, { awaited, waits }] of this.#stages) {
      if (stream === by) continue;
      // A linger time begins when everything that the new listener names is acknowledged, whatever its type.
      const concerns = type === undefined || awaited.has(type.typeUrl) || waits.some(({ kind }) => kind === "linger");
      if (concerns) stream.mayGoOn();
    }
  }

  /**
   * A client answered in any way, or is assumed to have answered. `before`: the sets that it may have been using until
   * then. Sets that it no longer uses begin to drain.
   */
  usesChanged(subscriber: Subscriber, before: readonly ResourceSet[], now: number): void {
    if (!subscriber.type.drains) return;
    const still = usedBy(subscriber);
    for (const set of before) {
      if (still.includes(set)) continue;
      const replaced = noteDraining(subscriber, this.#subscribers(), set, now);
      if (replaced !== undefined) this.#comingBack.note(replaced.old);
    }
  }

  /** A stream joined whose client has something of an earlier one, or another one broke; `now` in milliseconds. */
  cameBack(now: number): void {
    this.#comingBack.begin(now, this.#target.last, this.#left ?? noTypes);
  }

  /** A client came back that may still serve with these, as it did on an earlier stream; `now` in milliseconds. */
  resumed({ subscribers: [first] }: OrderedStream, replaced: readonly Replaced[], now: number): void {
    beginDraining(first, this.#comingBack.takeNew(replaced), this.#subscribers(), now);
  }

  /** The stage to which a stream may go now on its way to the wanted snapshot; `now` in milliseconds. */
  stageOf(stream: OrderedStream, wanted: Snapshot, now: number): Stage {
    this.#now = now;
    // Other streams count too: clusters on this one may wait until listeners on another one have drained.
    let check: DrainingCheck | undefined;
    for (const { subscribers } of this.#streams) {
      for (const subscriber of subscribers) {
        if (subscriber.draining.length === 0) continue;
        const { times } = this;
        check ??= { all: this.#subscribers(), wanted, now, times, someLeft: this.#left !== undefined };
        // Resources that another stream keeps for it may go now, or go sooner.
        if (drain(subscriber, check)) this.progressed(stream);
      }
    }
    if (this.#left !== undefined) this.cameBack(now);
    this.#left = undefined;
    this.#target.follow(wanted);
    if (!this.#mayWait(stream, wanted)) return this.#noteStage(stream, wholeStage, now);
    const all = this.#subscribers();
    beginDraining(stream.subscribers[0], this.#comingBack.ofAbsent(all, wanted, now), all, now);
    let warmingWait = this.#warmingWait();
    // Only resources that name others wait until those are warm.
    if (warmingWait !== "none" && !stream.subscribers.some((one) => namesOthers(one, wanted))) warmingWait = "none";
    const away = now < this.#comingBack.awayUntil(this.times) ? awayOf(this.#subscribers(), wanted) : [];
    const circumstances = { earlier: stream.subscribers.some(isFirst) ? this.#target.earlier : [], warmingWait, away };
    return this.#noteStage(stream, sharedStage(stream.subscribers, this.#subscribers(), wanted, circumstances), now);
  }

  /**
   * Whether `stageOf` may let anything wait: a fast check. Most changes remove nothing, bring no new cluster, and name
   * nothing while clusters warm on another stream.
   */
  #mayWait({ subscribers: mine }: OrderedStream, wanted: Snapshot): boolean {
    let changes = false;
    for (const subscriber of mine) {
      const {
        type,
        sent: { set: sentSet },
      } = subscriber;
      const current = wanted.of(type);
      if (sentSet === current) continue;
      // The client may use resources from an earlier stream.
      if (isFirst(subscriber)) return true;
      const { removed, upserted } = changeBetween(sentSet, current);
      const mayName = this.#now < this.#comingBack.awayUntil(this.times) || this.#warmingWait() !== "none";
      if (removed.length > 0 || (mayName && namesAny(upserted))) return true;
      changes ||= upserted.length > 0;
    }
    if (!changes) return false;
    for (const { subscribers } of this.#streams) {
      for (const subscriber of subscribers) {
        const {
          type,
          subscription,
          used: { set: usedSet, rejection },
        } = subscriber;
        if (!mustBeThere(type) || usedSet === undefined || !subscription.wildcard) continue;
        const current = wanted.of(type);
        // The client may have made the removals of a response that it rejected, so the removed resources are new to it
        // again.
        if (rejection?.usesRest === false || changeBetween(usedSet, current).adds) return true;
        for (const { set } of stillInFlight(subscriber)) if (changeBetween(set, current).adds) return true;
      }
    }
    return false;
  }

  /** True if several streams share this order, so they may wait for each other. */
  get isShared(): boolean {
    return this.#streams.size > 1;
  }

  /**
   * Whether a stream may settle (`CohortPlace`): it waits for no answer, and if several streams share the order,
   * nothing drains. The stream is told (`leaveCohort`) when another stream ends that.
   */
  maySettle(stream: OrderedStream): boolean {
    if (!this.#streams.has(stream)) return false;
    if (this.isShared && this.#subscribers().some(({ draining }) => draining.length > 0)) return false;
    for (const { awaited } of this.#stages.values()) if (this.isShared || awaited.size > 0) return false;
    this.#mayHaveSettled = true;
    return true;
  }

  /**
   * Whether a stream settled at `from` may repeat another client's update to `to`. It may if it is alone in its order,
   * or if each of the others settled at one of the two or is in the same update. If not, streams in another update
   * are told to go on alone.
   */
  isInStep(stream: OrderedStream, from: Snapshot | undefined, to: Snapshot): boolean {
    if (!this.isShared) return true;
    let isInStep = from !== undefined;
    for (const other of this.#streams) {
      if (!isInStep) break;
      isInStep = other === stream || (from !== undefined && other.isBetween(from, to));
    }
    if (!isInStep) for (const other of this.#streams) if (other !== stream) other.overtaken();
    return isInStep;
  }

  /**
   * Records that a stream begins to go to `wanted` as others did, as `stageOf` would. `atStart`: that of the update.
   */
  begin(wanted: Snapshot, atStart: OrderAtStart, lineage: SnapshotLineage | undefined): void {
    this.#target.begin(wanted, atStart, lineage);
  }

  /** A stream settled at its target: from now on the order may follow the lineage. */
  joinLineage(wanted: Snapshot, lineage: SnapshotLineage): void {
    this.#target.joinLineage(wanted, lineage);
  }

  /**
   * True if nobody needs to tell it of a newer snapshot: it followed the lineage, or one of its streams is about to get
   * the change and tells it.
   */
  get goesAlong(): boolean {
    return this.#target.goesAlong;
  }

  #warmingWait(): WarmingWait {
    const { asking, acknowledging } = this.#warmingWaitUntil();
    if (acknowledging <= this.#now) return "none";
    return asking > this.#now ? "asking" : "acknowledging";
  }

  /**
   * A cluster on its own stream is acknowledged before it is warm. Returns until when, in milliseconds, resources that
   * name it wait (`WarmingWait`).
   */
  #warmingWaitUntil(): Readonly<Record<Exclude<WarmingWait, "none">, number>> {
    let last: number | undefined;
    for (const { subscribers } of this.isShared ? this.#streams : []) {
      for (const { type, subscription, exchange } of subscribers) {
        const { lastAcked } = exchange;
        // A client that asks for clusters by name learns the names from routes, so its routes cannot wait for clusters.
        if (!type.acknowledgedWarm || lastAcked === undefined || !subscription.wildcard) continue;
        last = Math.max(last ?? lastAcked.at, lastAcked.at);
      }
    }
    // A time long ago would not do: the wait may be infinite.
    if (last === undefined) return { asking: Number.NEGATIVE_INFINITY, acknowledging: Number.NEGATIVE_INFINITY };
    const { acknowledgement } = this.times;
    return { asking: last + Math.min(askingTime, acknowledgement), acknowledging: last + acknowledgement };
  }

  /**
   * Records the stage of a stream that repeats another one, and the removed resources that its own client asks for by
   * name. `sent`: the index of the type that it sends; undefined if it sends nothing.
   */
  repeat(stream: OrderedStream, stage: Stage, wanted: Snapshot, sent: number | undefined, now: number): void {
    this.#noteStage(stream, stage, now);
    const { subscribers } = stream;
    const { retained } = stage;
    const last = sent ?? subscribers.length - 1;
    for (let index = 0; index <= last; index++) {
      const subscriber = subscribers[index] as Subscriber;
      const stays = subscriber.grace !== undefined || (retained.size > 0 && retained.has(subscriber.type.typeUrl));
      if (stays) this.targetOf(subscriber, stage, wanted, now);
    }
  }

  /**
   * The set that a stage allows for one type, with the removed resources that the client still asks for by name
   * (`withGrace`).
   */
  targetOf(subscriber: Subscriber, stage: Stage, wanted: Snapshot, now: number): ResourceSet {
    if (stage === wholeStage && subscriber.grace === undefined) return wanted.of(subscriber.type);
    const target = stage.targets.get(subscriber.type.typeUrl) ?? wanted.of(subscriber.type);
    return withGrace(subscriber, target, stage.retained.get(subscriber.type.typeUrl), now, this.times);
  }

  /**
   * The set of one type that a client must have to be settled. It is the target. If the client was sent the target and
   * besides only removed resources that stay for now, and the stream waits for no answer, it is the set that was sent.
   * Removed resources stay while connections drain, or while the client asks for them.
   */
  meanwhile(stream: OrderedStream, { type, grace, sent: { set: sentSet } }: Subscriber, wanted: Snapshot): ResourceSet {
    const current = wanted.of(type);
    if (sentSet === current) return current;
    const stage = this.#stages.get(stream);
    const retained = stage?.awaited.size === 0 ? stage.retained.get(type.typeUrl) : undefined;
    if (retained === undefined && grace === undefined) return current;
    const { upserted, removed } = changeBetween(sentSet, current);
    const stay = ({ key }: Resource) => retained?.has(key) === true || grace?.get(key)?.until !== undefined;
    return upserted.length === 0 && removed.every(stay) ? sentSet : current;
  }

  /** The waits of one type of a stream. */
  waitsOf(stream: OrderedStream, { type, grace }: Subscriber): readonly Wait[] {
    const waits = this.#stages.get(stream)?.waits.filter((wait) => wait.type === type) ?? [];
    return grace === undefined ? waits : [...waits, ...graceWaits(type, grace)];
  }

  /** When a stream needs a turn even if nothing happens, in milliseconds; undefined for never. */
  deadline(stream: OrderedStream): number | undefined {
    let earliest = Number.POSITIVE_INFINITY;
    const stage = this.#stages.get(stream);
    for (const { grace } of stream.subscribers) earliest = Math.min(earliest, nextOfGrace(grace));
    if (stage === undefined) {
      for (const subscriber of stream.subscribers)
        earliest = Math.min(earliest, nextOfDraining(subscriber, this.times));
    } else {
      const all = this.#subscribers();
      for (const subscriber of all) {
        earliest = Math.min(earliest, nextOfDraining(subscriber, this.times));
        if (!stage.awaited.has(subscriber.type.typeUrl)) continue;
        const [first] = stillInFlight(subscriber);
        if (first !== undefined) earliest = Math.min(earliest, first.at + this.times.acknowledgement);
      }
      const { asking, acknowledging } = this.#warmingWaitUntil();
      const away = this.#comingBack.awayUntil(this.times);
      for (const until of [asking, acknowledging, away]) if (until > this.#now) earliest = Math.min(earliest, until);
    }
    return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
  }

  /**
   * Time passed: assumes the answers for which the stream waited too long. Returns them, and the changes that waited.
   */
  expire(stream: OrderedStream, now: number): readonly WaitEnded[] {
    const stage = this.#stages.get(stream);
    this.#now = now;
    for (const subscriber of stream.subscribers) {
      if (subscriber.draining.length > 0 && nextOfDraining(subscriber, this.times) <= now) this.progressed(stream);
    }
    if (stage === undefined) return [];
    const ended: WaitEnded[] = [];
    for (const subscriber of this.#subscribers()) {
      const { type } = subscriber;
      if (!stage.awaited.has(type.typeUrl)) continue;
      const late = stillInFlight(subscriber).findLast(({ at }) => at + this.times.acknowledgement <= now);
      if (late === undefined) continue;
      const before = usedBy(subscriber);
      assume(subscriber, { upTo: late.count, set: late.set });
      this.usesChanged(subscriber, before, now);
      const waits = stage.waits.filter((wait) => wait.for?.type === type);
      ended.push({ type, version: late.version, waits });
    }
    if (ended.length > 0) this.progressed(stream);
    return ended;
  }

  #subscribers(): readonly Subscriber[] {
    const [only] = this.#streams;
    if (only !== undefined && this.#streams.size === 1) return only.subscribers;
    return Array.from(this.#streams, ({ subscribers }) => subscribers).flat();
  }

  /** Records a stream's stage: its next sets, and its waits. */
  #noteStage(stream: OrderedStream, stage: Stage, now: number): Stage {
    if (stage !== wholeStage) this.#stages.set(stream, stage);
    else if (this.#stages.size > 0) this.#stages.delete(stream);
    this.#waits.note(stream, stage, now);
    return stage;
  }
}

/** Whether a resource that is new to the client, or changed, names others. */
function namesOthers({ type, sent: { set: sentSet } }: Subscriber, wanted: Snapshot): boolean {
  const current = wanted.of(type);
  return sentSet !== current && namesAny(changeBetween(sentSet, current).upserted);
}
