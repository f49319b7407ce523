import type { ResourceType, Version } from "@xdskit/api";
import { changeBetween } from "../change.js";
import { type Stage, wholeStage } from "../make-before-break.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import type { Wait } from "../wait.js";
import { drain, nextOfDraining, noteDraining } from "./draining.js";
import { namesAny } from "./free-changes.js";
import { onTheirWay, presume } from "./holding.js";
import { type OrderStandpoint, orderStandpoint } from "./order-standpoint.js";
import { askingTime, defaultOrderingTimes, type OrderingTimes } from "./ordering-times.js";
import { numberOf, sharedList, shortenSnapshot } from "./past-snapshots.js";
import { isFirst, type Patience, sharedStage, usedBy } from "./shared-stage.js";
import type { SnapshotLine } from "./snapshot-line.js";
import type { Subscriber } from "./subscriber.js";
import { nextOfYielding, yieldingWaits, yieldTo } from "./yielding.js";

/** A stream as the others of its order see it. */
export interface OrderedStream {
  readonly subscribers: readonly Subscriber[];
  /** Another stream's client acknowledged something, or left. */
  progressed(): void;
  /** Another of its order came, went, or does something that it may have to wait for: it goes on by itself. */
  strayed(): void;
  /** Another of its order is to go on to a snapshot that this one is not on its way to. */
  overtaken(): void;
  /** Its client uses what one of the two snapshots has, but for what the next response brings it from one to the other. */
  isBetween(from: Snapshot, to: Snapshot): boolean;
}

/** That a client did not answer in time, so that what waited for it went on without. */
export interface WaitEnded {
  readonly type: ResourceType;
  /** Of the response that was not answered. */
  readonly version: Version;
  /** What waited. */
  readonly waits: readonly Wait[];
}

/** What a client was to have in the past, before and after it was brought to one snapshot. Streams that go the same way share the lists. */
export interface PassMemory {
  before: readonly Snapshot[] | undefined;
  last: Snapshot | undefined;
  /** Of an order of several streams: what they ask for. */
  types: string | undefined;
  after: readonly Snapshot[];
  /** Where they stood then. */
  standpoint: OrderStandpoint | undefined;
}

const noSnapshots: readonly Snapshot[] = [];

/** Of a way that nobody has gone. */
export function newPassMemory(): PassMemory {
  return { before: undefined, last: undefined, types: undefined, after: noSnapshots, standpoint: undefined };
}

/**
 * The order in which one client is brought to what it is to have: make before break (rule 120). For a stream over all types one of its own; streams per type of one
 * node share one, since what one of them acknowledges frees what another may send.
 */
export class Ordering {
  readonly times: OrderingTimes;
  readonly #streams = new Set<OrderedStream>();
  /** What streams wait for, as of when they were last looked at. */
  readonly #stages = new Map<OrderedStream, Stage>();
  /** What the client was to have while it went on its way to what it is to have now, oldest first: what it uses of that it may first ask for now. */
  #earlier: readonly Snapshot[] = noSnapshots;
  #wanted: Snapshot | undefined;
  /** Instead of that, where it goes along with a line. */
  #standpoint: OrderStandpoint | undefined;
  /** The time that it was told last. */
  #now = 0;
  /** Some of the streams may be in step with others elsewhere. */
  #hasResting = false;
  /** What they ask for, as long as it stays the same. */
  #types: string | undefined;

  constructor(times: OrderingTimes = defaultOrderingTimes) {
    this.times = times;
  }

  join(stream: OrderedStream): void {
    if (this.#streams.has(stream)) return;
    this.#wakeAll();
    this.#streams.add(stream);
  }

  leave(stream: OrderedStream): void {
    this.#streams.delete(stream);
    this.#stages.delete(stream);
    this.#wakeAll();
    this.progressed(stream);
  }

  /** A stream does what the others may have to wait for, or take account of. */
  strayed(): void {
    if (this.#streams.size > 1) this.#wakeAll();
  }

  /** A stream asks for a type that it did not ask for before. */
  asksMore(): void {
    this.#types = undefined;
    this.#stay();
  }

  /** It goes along with the line no longer. */
  #stay(): void {
    if (this.#standpoint === undefined) return;
    this.#wanted = this.#standpoint.snapshot;
    this.#standpoint = undefined;
  }

  #wakeAll(): void {
    this.#types = undefined;
    this.#stay();
    if (!this.#hasResting) return;
    this.#hasResting = false;
    for (const stream of this.#streams) stream.strayed();
  }

  /**
   * A client acknowledged or rejected something on this stream, of this type or of any: those of the others may go on that wait for it. No more of them are told, since
   * a node may have a thousand streams.
   */
  progressed(by: OrderedStream, type?: ResourceType): void {
    if (this.#stages.size === 0) return;
    for (const [stream, { awaited, waits }] of this.#stages) {
      if (stream === by) continue;
      // What lingers does so from when all that took its place is acknowledged, of whatever type.
      const concerns = type === undefined || awaited.has(type.typeUrl) || waits.some(({ kind }) => kind === "linger");
      if (concerns) stream.progressed();
    }
  }

  /** A client answered, which may have brought it from what it may have been using before to something else. */
  acknowledged(subscriber: Subscriber, before: readonly ResourceSet[], now: number): void {
    if (!subscriber.type.drains) return;
    const still = usedBy(subscriber);
    for (const set of before) if (!still.includes(set)) noteDraining(subscriber, set, now);
  }

  /** How far a stream may be brought now. */
  stageOf(stream: OrderedStream, wanted: Snapshot, now: number): Stage {
    this.#now = now;
    // Of other streams too: what one of them waits for may be all that this one waits for.
    for (const { subscribers } of this.#streams) {
      for (const subscriber of subscribers) {
        if (subscriber.draining.length > 0) drain(subscriber, this.#subscribers(), wanted, now, this.times);
      }
    }
    this.#follow(wanted);
    if (!this.#mayWait(stream, wanted)) return this.stands(stream, wholeStage);
    let patience = this.#patience();
    // What names nothing needs nothing warm.
    if (patience !== "none" && !stream.subscribers.some((one) => isToName(one, wanted))) patience = "none";
    const isNew = stream.subscribers.some(isFirst);
    const circumstances = { earlier: isNew ? this.#earlier : [], patience };
    return this.stands(stream, sharedStage(stream.subscribers, this.#subscribers(), wanted, circumstances));
  }

  /**
   * Whether `stageOf` may hold anything back: what most changes do not do, and is quickly seen. Nothing goes, nothing is new that must be warm before it is named, nor is
   * anything named that is warmed on another stream.
   */
  #mayWait({ subscribers: mine }: OrderedStream, wanted: Snapshot): boolean {
    let changes = false;
    for (const subscriber of mine) {
      const { type, held } = subscriber;
      const current = wanted.of(type);
      if (held === current) continue;
      // Perhaps it had more on the stream before.
      if (isFirst(subscriber)) return true;
      const { removed, upserted } = changeBetween(held, current);
      if (removed.length > 0 || (namesAny(upserted) && this.#patience() !== "none")) return true;
      changes ||= upserted.length > 0;
    }
    if (!changes) return false;
    for (const { subscribers } of this.#streams) {
      for (const subscriber of subscribers) {
        const { type, acked, rejection, subscription } = subscriber;
        if (!type.acknowledgedWarm || acked === undefined || !subscription.wildcard) continue;
        const current = wanted.of(type);
        // It may have carried out removals that it rejected.
        if (rejection?.usesRest === false || changeBetween(acked, current).adds) return true;
        for (const { set } of onTheirWay(subscriber)) if (changeBetween(set, current).adds) return true;
      }
    }
    return false;
  }

  /** Several streams are in this order, which may wait for each other. */
  get isShared(): boolean {
    return this.#streams.size > 1;
  }

  /** Nothing of any stream is held back or drains, so that what this one does depends on what becomes of the others only. */
  mayRest(stream: OrderedStream): boolean {
    if (this.#stages.size > 0 || !this.#streams.has(stream)) return false;
    if (this.isShared && this.#subscribers().some(({ draining }) => draining.length > 0)) return false;
    this.#hasResting = true;
    return true;
  }

  /**
   * Whether a stream that rests at `from` may go to `to` as one does elsewhere that rested there: it is alone, or all others stand at one of the two or are on the same way. Where they
   * are not, those that are on their way elsewhere go on by themselves, too.
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

  /** What `shorten` and `stageOf` do for a stream of which nothing is held back; `memory` is shared by those that go the same way. */
  pass(wanted: Snapshot, memory: PassMemory, line: SnapshotLine | undefined): void {
    const last = this.#last;
    // Another stream of the client was there before.
    if (wanted === last) return;
    const before = this.#earlier;
    const types = this.isShared ? this.#typesAsked() : undefined;
    if (memory.last !== last || memory.before !== before || memory.types !== types) {
      memory.last = last;
      memory.before = before;
      memory.types = types;
      this.shorten(wanted);
      this.#follow(wanted);
      memory.after = this.#earlier;
      memory.standpoint = line && this.#standpointOn(line, wanted);
    }
    this.#earlier = memory.after;
    this.#wanted = wanted;
    this.#standpoint = memory.standpoint?.snapshot === wanted ? memory.standpoint : undefined;
  }

  /** A stream rests at what it is to have now: from here the order may go along with the line. */
  stand(wanted: Snapshot, line: SnapshotLine): void {
    if (this.#standpoint?.snapshot === wanted && !this.#standpoint.isLost) return;
    if (!line.isAt(wanted)) return;
    this.shorten(wanted);
    this.#follow(wanted);
    this.#standpoint = this.#standpointOn(line, wanted);
  }

  /** It needs nobody to tell it where the line is: it goes along, or a stream of a type that became different is about to be given the newest and tells it. */
  get goesAlong(): boolean {
    return this.#standpoint !== undefined && !this.#standpoint.isLost;
  }

  #standpointOn(line: SnapshotLine, wanted: Snapshot): OrderStandpoint | undefined {
    const types = new Set(this.#subscribers().map(({ type }) => type));
    return orderStandpoint(line, wanted, [...types], this.#earlier);
  }

  /** What the client was to have last. */
  get #last(): Snapshot | undefined {
    return this.#standpoint === undefined ? this.#wanted : this.#standpoint.snapshot;
  }

  /** Equal for orders that compare snapshots in the same types. */
  #typesAsked(): string {
    this.#types ??= [...new Set(this.#subscribers().map(({ type }) => numberOf(type)))].sort().join();
    return this.#types;
  }

  #follow(wanted: Snapshot): void {
    const last = this.#last;
    if (wanted === last) return;
    this.#standpoint = undefined;
    this.#wanted = wanted;
    if (last === undefined || this.#isSame(wanted, last)) return;
    for (const known of this.#earlier) if (this.#isSame(known, last)) return;
    this.#earlier = sharedList([...this.#earlier.slice(1 - mostEarlier), last]);
  }

  /** A newer snapshot is there: what is remembered of those before must not keep all that there was in between. */
  shorten(newest: Snapshot): void {
    for (const snapshot of this.#earlier) shortenSnapshot(snapshot, newest);
    const last = this.#last;
    if (last !== undefined) shortenSnapshot(last, newest);
  }

  /** For what the client asks for. */
  #isSame(one: Snapshot, other: Snapshot): boolean {
    for (const { subscribers } of this.#streams) {
      for (const { type } of subscribers) if (one.of(type) !== other.of(type)) return false;
    }
    return true;
  }

  #patience(): Patience {
    const { asking, acknowledging } = this.#patientUntil();
    if (acknowledging <= this.#now) return "none";
    return asking > this.#now ? "asking" : "acknowledging";
  }

  /** Until when it waits for what warms what was acknowledged on other streams: for that it is asked for, and for its acknowledgement. */
  #patientUntil(): Readonly<Record<Exclude<Patience, "none">, number>> {
    let last = Number.NEGATIVE_INFINITY;
    for (const { subscribers } of this.isShared ? this.#streams : []) {
      for (const { type, ackedLast, subscription } of subscribers) {
        // Who asks for clusters by name learns the names from routes: these cannot wait for what is asked for after them.
        if (!type.acknowledgedWarm || ackedLast === undefined || !subscription.wildcard) continue;
        last = Math.max(last, ackedLast.at);
      }
    }
    const { acknowledgement } = this.times;
    return { asking: last + Math.min(askingTime, acknowledgement), acknowledging: last + acknowledgement };
  }

  /** What a stage lets one type be, but for what its client still asks for. */
  targetOf(subscriber: Subscriber, stage: Stage, wanted: Snapshot, now: number): ResourceSet {
    if (stage === wholeStage && subscriber.yielding === undefined) return wanted.of(subscriber.type);
    const target = stage.targets.get(subscriber.type.typeUrl) ?? wanted.of(subscriber.type);
    return yieldTo(subscriber, target, stage.retained.get(subscriber.type.typeUrl), now, this.times);
  }

  /** What one type of a stream waits for. */
  waitsOf(stream: OrderedStream, { type, yielding }: Subscriber): readonly Wait[] {
    const waits = this.#stages.get(stream)?.waits.filter((wait) => wait.type === type) ?? [];
    return yielding === undefined ? waits : [...waits, ...yieldingWaits(type, yielding)];
  }

  /** When a stream is to be looked at again though nothing happens; undefined for never. */
  deadline(stream: OrderedStream): number | undefined {
    let earliest = Number.POSITIVE_INFINITY;
    const stage = this.#stages.get(stream);
    for (const { yielding } of stream.subscribers) earliest = Math.min(earliest, nextOfYielding(yielding));
    if (stage === undefined) {
      for (const subscriber of stream.subscribers)
        earliest = Math.min(earliest, nextOfDraining(subscriber, this.times));
    } else {
      const all = this.#subscribers();
      for (const subscriber of all) {
        earliest = Math.min(earliest, nextOfDraining(subscriber, this.times));
        if (!stage.awaited.has(subscriber.type.typeUrl)) continue;
        const [first] = onTheirWay(subscriber);
        if (first !== undefined) earliest = Math.min(earliest, first.at + this.times.acknowledgement);
      }
      const { asking, acknowledging } = this.#patientUntil();
      for (const until of [asking, acknowledging]) if (until > this.#now) earliest = Math.min(earliest, until);
    }
    return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
  }

  /** Time went by: goes on without those answers for which the stream waited too long. */
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
      const late = onTheirWay(subscriber).findLast(({ at }) => at + this.times.acknowledgement <= now);
      if (late === undefined) continue;
      const before = usedBy(subscriber);
      presume(subscriber, late);
      this.acknowledged(subscriber, before, now);
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

  /** Notes how far a stream may be brought. */
  stands(stream: OrderedStream, stage: Stage): Stage {
    if (stage !== wholeStage) this.#stages.set(stream, stage);
    else if (this.#stages.size > 0) this.#stages.delete(stream);
    return stage;
  }
}

/** More snapshots in the past are not remembered of a client that never gets to one. */
const mostEarlier = 4;

/** Something comes to the client that names something. */
function isToName({ type, held }: Subscriber, wanted: Snapshot): boolean {
  const current = wanted.of(type);
  return held !== current && namesAny(changeBetween(held, current).upserted);
}
