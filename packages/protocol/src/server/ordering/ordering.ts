import type { ResourceType } from "@xdskit/api";
import { isForAnswer, type Wait } from "../../model/basics/wait.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { type Stage, wholeStage } from "../../planning/make-before-break.js";
import { assume } from "../acknowledgements/apply-answer.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import type { WaitEnded } from "../contract/effects.js";
import type { Replaced, Subscriber } from "../state/subscriber.js";
import { ClientTarget } from "./client-target.js";
import { awayOf, ComingBack } from "./coming-back.js";
import { beginDraining, drain, inheritDraining, nextOfDraining, noteDraining } from "./draining.js";
import { mayWait, namesOthers } from "./free-changes.js";
import { graceWaits, inSyncSet, nextOfGrace, withGrace } from "./grace-period.js";
import type { OrderedStream } from "./ordered-stream.js";
import { defaultOrderingTimes, type OrderingTimes } from "./ordering-times.js";
import type { PastSnapshots } from "./past-listeners.js";
import { isFirst, sharedStage, usedBy } from "./shared-stage.js";
import { type StageWaited, StageWaits } from "./stage-waits.js";
import { type WarmingEnds, warmingEnds, warmingWaitAt } from "./warming.js";

const noTypes: ReadonlySet<ResourceType> = new Set();

/** Shared, as most orders have none for most of the time. */
const noStages: ReadonlyMap<OrderedStream, Stage> = new Map();

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
  readonly target = new ClientTarget(this.#streams);
  /** The stages of the streams with changes that wait, as of their last turn. */
  #stages: ReadonlyMap<OrderedStream, Stage> = noStages;
  /** The time that the order was told last, in milliseconds. */
  #now = 0;
  /** A stream may be in sync in a cohort. It must be told (`leaveCohort`) when that ends. */
  #mayHaveInSync = false;
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
    this.#stages = withStage(this.#stages, stream, wholeStage);
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

  #leaveAll(): void {
    this.target.typesChanged();
    if (!this.#mayHaveInSync) return;
    this.#mayHaveInSync = false;
    for (const stream of this.#streams) stream.leaveCohort();
  }

  /**
   * A client answered on stream `by`, for `type` or, if left out, for any type. Tells only the other streams that wait
   * for that: there may be a thousand.
   */
  progressed(by: OrderedStream, type?: ResourceType): void {
    if (this.#stages.size === 0) return;
    for (const [stream, { clientWaits }] of this.#stages) {
      if (stream === by) continue;
      // A linger time begins when everything that the new listener names is acknowledged, whatever its type.
      const concerns = type === undefined || clientWaits.some((one) => one.kind === "linger" || one.for?.type === type);
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
    this.#comingBack.begin(now, this.target.last, this.#left ?? noTypes);
  }

  /** A client came back that may still serve with these, as it did on an earlier stream; `now` in milliseconds. */
  resumed({ subscribers: [first] }: OrderedStream, replaced: readonly Replaced[], now: number): void {
    beginDraining(first, this.#comingBack.takeNew(replaced), this.#subscribers(), now);
  }

  /** The stage to which a stream may go now on its way to the wanted snapshot; `now` in milliseconds. */
  stageOf(stream: OrderedStream, wanted: Snapshot, now: number): Stage {
    this.#now = now;
    // Other streams count too: clusters on this one may wait until listeners on another one have drained.
    const all = this.#subscribers();
    for (const subscriber of all) {
      if (subscriber.draining.length === 0) continue;
      const check = { all, wanted, now, times: this.times, someLeft: this.#left !== undefined };
      // Resources that another stream keeps for it may go now, or go sooner.
      if (drain(subscriber, check)) this.progressed(stream);
    }
    if (this.#left !== undefined) this.cameBack(now);
    this.#left = undefined;
    this.target.follow(wanted);
    const mine = stream.subscribers;
    const isAnyAway = now < this.#comingBack.awayUntil;
    let warmingWait = warmingWaitAt(now, this.#warming());
    if (!mayWait(mine, all, wanted, isAnyAway || warmingWait !== "none"))
      return this.#noteStage(stream, wholeStage, now);
    beginDraining(mine[0], this.#comingBack.ofAbsent(all, wanted, now), all, now);
    // Only resources that name others wait until those are warm.
    if (warmingWait !== "none" && !mine.some((one) => namesOthers(one, wanted))) warmingWait = "none";
    const away = isAnyAway ? awayOf(all, wanted) : [];
    const circumstances = { earlier: mine.some(isFirst) ? this.target.earlier : [], warmingWait, away };
    return this.#noteStage(stream, sharedStage(mine, all, wanted, circumstances), now);
  }

  /** True if several streams share this order, so they may wait for each other. */
  get isShared(): boolean {
    return this.#streams.size > 1;
  }

  /**
   * Whether a stream may be in sync (`CohortPosition`): it waits for no answer, and if several streams share the order,
   * nothing drains. The stream is told (`leaveCohort`) when another stream ends that.
   */
  mayBeInSync(stream: OrderedStream): boolean {
    if (!this.#streams.has(stream)) return false;
    if (this.isShared && this.#subscribers().some(({ draining }) => draining.length > 0)) return false;
    for (const { awaited } of this.#stages.values()) if (this.isShared || awaited.size > 0) return false;
    this.#mayHaveInSync = true;
    return true;
  }

  /**
   * Whether a stream in sync at `from` may repeat another client's update to `to`. It may if it is alone in its order,
   * or if each of the others is in sync at one of the two or is in the same update. If not, streams in another update
   * are told to go on alone.
   */
  isInStep(stream: OrderedStream, from: Snapshot | undefined, to: Snapshot): boolean {
    if (!this.isShared) return true;
    const others = [...this.#streams].filter((other) => other !== stream);
    if (from !== undefined && others.every((other) => other.isBetween(from, to))) return true;
    for (const other of others) other.overtaken();
    return false;
  }

  /**
   * Records the stage of a stream that repeats another one, and the removed resources that its own client asks for by
   * name. `sent`: the index of the type that it sends; undefined if it sends nothing.
   */
  repeat(stream: OrderedStream, stage: Stage, wanted: Snapshot, sent: number | undefined, now: number): void {
    this.#noteStage(stream, stage, now);
    const { subscribers } = stream;
    const last = sent ?? subscribers.length - 1;
    for (let index = 0; index <= last; index++) {
      const subscriber = subscribers[index] as Subscriber;
      const stays = subscriber.grace !== undefined || stage.retained.has(subscriber.type.typeUrl);
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

  /** The set of one type that a client must have to be in sync (`inSyncSet`). */
  meanwhile(stream: OrderedStream, subscriber: Subscriber, wanted: Snapshot): ResourceSet {
    return inSyncSet(subscriber, wanted, this.#stages.get(stream));
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
    for (const subscriber of stage === undefined ? stream.subscribers : this.#subscribers()) {
      earliest = Math.min(earliest, nextOfDraining(subscriber, this.times));
      if (stage === undefined || !awaits(stage, subscriber.type)) continue;
      const [first] = stillInFlight(subscriber);
      if (first !== undefined) earliest = Math.min(earliest, first.at + this.times.acknowledgement);
    }
    if (stage !== undefined) {
      const ends = [...Object.values(this.#warming()), this.#comingBack.awayUntil];
      for (const until of ends) if (until > this.#now) earliest = Math.min(earliest, until);
    }
    return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
  }

  /**
   * Time passed: assumes the answers for which the stream waited too long. Returns them, and the changes that waited.
   */
  expire(stream: OrderedStream, now: number): readonly WaitEnded[] {
    const stage = this.#stages.get(stream);
    this.#now = now;
    if (stream.subscribers.some((one) => nextOfDraining(one, this.times) <= now)) this.progressed(stream);
    if (stage === undefined) return [];
    const ended: WaitEnded[] = [];
    for (const subscriber of this.#subscribers()) {
      const { type } = subscriber;
      if (!awaits(stage, type)) continue;
      const late = stillInFlight(subscriber).findLast(({ at }) => at + this.times.acknowledgement <= now);
      if (late === undefined) continue;
      const before = usedBy(subscriber);
      assume(subscriber, { upTo: late.count, set: late.set });
      this.usesChanged(subscriber, before, now);
      ended.push({ type, version: late.version, waits: stage.clientWaits.filter((wait) => wait.for?.type === type) });
    }
    if (ended.length > 0) this.progressed(stream);
    return ended;
  }

  #warming(): WarmingEnds {
    return warmingEnds(this.isShared ? this.#streams : [], this.times.acknowledgement);
  }

  #subscribers(): readonly Subscriber[] {
    const [only] = this.#streams;
    if (only !== undefined && this.#streams.size === 1) return only.subscribers;
    return Array.from(this.#streams, ({ subscribers }) => subscribers).flat();
  }

  /** Records a stream's stage: its next sets, and its waits. */
  #noteStage(stream: OrderedStream, stage: Stage, now: number): Stage {
    this.#stages = withStage(this.#stages, stream, stage);
    this.#waits.note(stream, stage, now);
    return stage;
  }
}

/** The same map with the stage of one stream, or without it. */
/** Whether something that waits on a stream of the client waits for an answer of this type. */
function awaits({ clientWaits }: Stage, type: ResourceType): boolean {
  return clientWaits.some((wait) => isForAnswer(wait) && wait.for?.type === type);
}

function withStage(
  stages: ReadonlyMap<OrderedStream, Stage>,
  stream: OrderedStream,
  stage: Stage,
): ReadonlyMap<OrderedStream, Stage> {
  if (stages === noStages) return stage === wholeStage ? stages : new Map([[stream, stage]]);
  const own = stages as Map<OrderedStream, Stage>;
  if (stage !== wholeStage) return own.set(stream, stage);
  own.delete(stream);
  return own.size === 0 ? noStages : own;
}
