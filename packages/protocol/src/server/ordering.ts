import type { Resource, ResourceName, ResourceType, TypeUrl, Version } from "@xdskit/api";
import { changeBetween } from "../change.js";
import { type InUse, type Stage, stageOf, wholeStage } from "../make-before-break.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import type { Wait } from "../wait.js";
import { drain, nextOfDraining, noteDraining } from "./draining.js";
import { onTheirWay, presume } from "./holding.js";
import { numberOf, shortenSnapshot } from "./past-snapshots.js";
import type { Subscriber } from "./subscriber.js";
import { nextOfYielding, yieldingWaits, yieldTo } from "./yielding.js";

/** How long an order waits, in milliseconds. */
export interface OrderingTimes {
  /** For a client to answer. Default 15,000. */
  readonly acknowledgement: number;
  /** For connections to drain after what replaces a listener is in use. Default 2,000. */
  readonly linger: number;
  /** For a client to stop asking for what is removed, after nothing that it uses names it. Default 5,000. */
  readonly named: number;
}

export const defaultOrderingTimes: OrderingTimes = { acknowledgement: 15_000, linger: 2_000, named: 5_000 };

/** A stream as the others of its order see it. */
export interface OrderedStream {
  readonly subscribers: readonly Subscriber[];
  /** Another stream's client acknowledged something, or left. */
  progressed(): void;
}

/** That a client did not answer in time, so that what waited for it went on without. */
export interface WaitEnded {
  readonly type: ResourceType;
  /** Of the response that was not answered. */
  readonly version: Version;
  /** What waited. */
  readonly waits: readonly Wait[];
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
  #earlier: readonly Snapshot[] = [];
  #wanted: Snapshot | undefined;
  /** The time that it was told last. */
  #now = 0;

  constructor(times: OrderingTimes = defaultOrderingTimes) {
    this.times = times;
  }

  join(stream: OrderedStream): void {
    this.#streams.add(stream);
  }

  leave(stream: OrderedStream): void {
    this.#streams.delete(stream);
    this.#stages.delete(stream);
    this.progressed(stream);
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
    if (!this.#mayWait(stream, wanted)) return this.#note(stream, wholeStage);
    // What names nothing needs nothing warm.
    const patient = this.#patientUntil() > now && stream.subscribers.some((one) => isToName(one, wanted));
    const isNew = stream.subscribers.some(isFirst);
    const circumstances = { earlier: isNew ? this.#earlier : [], patient };
    return this.#note(stream, sharedStage(stream, this.#subscribers(), wanted, circumstances));
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
      if (removed.length > 0 || (namesAny(upserted) && this.#patientUntil() > this.#now)) return true;
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

  #follow(wanted: Snapshot): void {
    if (wanted === this.#wanted) return;
    const last = this.#wanted;
    this.#wanted = wanted;
    if (last === undefined || this.#isSame(wanted, last)) return;
    for (const known of this.#earlier) if (this.#isSame(known, last)) return;
    this.#earlier = [...this.#earlier.slice(1 - mostEarlier), last];
  }

  /** A newer snapshot is there: what is remembered of those before must not keep all that there was in between. */
  shorten(newest: Snapshot): void {
    for (const snapshot of this.#earlier) shortenSnapshot(snapshot, newest);
    if (this.#wanted !== undefined) shortenSnapshot(this.#wanted, newest);
  }

  /** For what the client asks for. */
  #isSame(one: Snapshot, other: Snapshot): boolean {
    for (const { subscribers } of this.#streams) {
      for (const { type } of subscribers) if (one.of(type) !== other.of(type)) return false;
    }
    return true;
  }

  /** Until when it waits for what warms what was acknowledged on other streams. */
  #patientUntil(): number {
    let until = 0;
    if (this.#streams.size === 1) return until;
    for (const { subscribers } of this.#streams) {
      for (const { type, ackedLast } of subscribers) {
        if (!type.acknowledgedWarm || ackedLast === undefined) continue;
        until = Math.max(until, ackedLast.at + this.times.acknowledgement);
      }
    }
    return until;
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
      const patient = this.#patientUntil();
      if (patient > this.#now) earliest = Math.min(earliest, patient);
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

  #note(stream: OrderedStream, stage: Stage): Stage {
    if (stage !== wholeStage) this.#stages.set(stream, stage);
    else if (this.#stages.size > 0) this.#stages.delete(stream);
    return stage;
  }
}

/** More snapshots in the past are not remembered of a client that never gets to one. */
const mostEarlier = 4;

const naming = new WeakMap<readonly Resource[], boolean>();

function namesAny(resources: readonly Resource[]): boolean {
  let known = naming.get(resources);
  if (known === undefined) {
    known = resources.some(({ references }) => references.length > 0);
    naming.set(resources, known);
  }
  return known;
}

/** By the snapshot that is wanted: streams at the same place have the same stage, worked out once. */
const known = new WeakMap<Snapshot, Map<string, Stage>>();

/** Places on the way to one snapshot that are remembered: more than that only clients make that answer in ever new orders. */
const mostStages = 2_000;

/** Characters of the longest key that is remembered: that of a place of a client with many streams, where hardly another is. */
const longestKey = 4_000;

interface Circumstances {
  readonly earlier: readonly Snapshot[];
  /** It waits for what warms what was acknowledged on other streams. */
  readonly patient: boolean;
}

function sharedStage(
  stream: OrderedStream,
  all: readonly Subscriber[],
  wanted: Snapshot,
  { earlier, patient }: Circumstances,
): Stage {
  let key = patient ? "p" : "";
  for (const snapshot of earlier) key += `${numberOf(snapshot)},`;
  const mine = stream.subscribers;
  const parts = new Set<string>();
  for (const subscriber of all) parts.add(keyOf(subscriber, mine.includes(subscriber), patient));
  for (const part of parts) key += part;
  let stages = known.get(wanted);
  if (stages === undefined) {
    stages = new Map();
    known.set(wanted, stages);
  }
  let stage = stages.get(key);
  if (stage === undefined) {
    if (stages.size >= mostStages) stages.clear();
    stage = stageOf(usesOf(all, mine, patient), wanted, earlier);
    if (key.length <= longestKey) stages.set(key, stage);
  }
  return stage;
}

/** Something comes to the client that names something. */
function isToName({ type, held }: Subscriber, wanted: Snapshot): boolean {
  const current = wanted.of(type);
  return held !== current && namesAny(changeBetween(held, current).upserted);
}

function isFirst({ held, lastSent }: Subscriber): boolean {
  return held.size === 0 && lastSent === undefined;
}

/** Numbers of sets tell types apart, too: no set is of two types. `patient`: it matters which names another stream has taken. */
function keyOf(subscriber: Subscriber, isMine: boolean, patient: boolean): string {
  const { held, acked, owed, rejection, draining, subscription } = subscriber;
  const onWay = onTheirWay(subscriber);
  let key = isMine
    ? `${ResourceSets.id(held)}${isFirst(subscriber) ? "f" : ""}`
    : `~${patient ? `${subscription.names.id}/${owed.id}` : ""}/${ResourceSets.id(held)}`;
  if (acked === undefined) key += "?";
  else if (acked !== held) key += `<${ResourceSets.id(acked)}`;
  for (const { set } of onWay) key += `>${ResourceSets.id(set)}`;
  if (rejection !== undefined) key += `!${ResourceSets.id(rejection.after)}`;
  for (const { set } of draining) key += `_${ResourceSets.id(set)}`;
  return `${key}${subscription.wildcard ? "*" : ""} `;
}

/** All that a client may be using of one type. */
export function usedBy(subscriber: Subscriber): readonly ResourceSet[] {
  const { acked, rejection } = subscriber;
  const rejected = rejection?.usesRest === false ? rejection.after : undefined;
  const sets = [acked, ...onTheirWay(subscriber).map(({ set }) => set), rejected];
  return sets.filter((set) => set !== undefined);
}

/** What the client has for sure: of a response that it rejected it may have carried out the removals. */
function sureOf(subscriber: Subscriber, acked: ResourceSet): ResourceSet {
  const { rejection, instead } = subscriber;
  if (rejection === undefined || rejection.usesRest) return acked;
  const sentSince = onTheirWay(subscriber).flatMap(({ carried }) => carried.map(({ key }) => key));
  const unsure = [...instead.keys(), ...sentSince].filter(
    (key) => ResourceSets.get(rejection.after, key) === undefined,
  );
  return ResourceSets.branch(acked, new Map(unsure.map((key) => [key, undefined])));
}

function usesOf(
  all: readonly Subscriber[],
  mine: readonly Subscriber[],
  patient: boolean,
): ReadonlyMap<TypeUrl, InUse> {
  const uses = new Map<TypeUrl, { -readonly [Key in keyof InUse]: InUse[Key] }>();
  for (const subscriber of all) {
    const { type, held, acked, lastSent, draining, subscription } = subscriber;
    let use = uses.get(type.typeUrl);
    if (use === undefined) {
      use = {
        ...{ type, held: undefined, used: new Set(), draining: new Set(), known: undefined, isEstablished: false },
        ...{ instead: subscriber.instead, isFirst: false, isTaken: undefined },
      };
      uses.set(type.typeUrl, use);
    }
    if (mine.includes(subscriber)) {
      use.held = held;
      use.instead = subscriber.instead;
      use.isFirst = isFirst(subscriber);
    } else if (patient && use.isTaken === undefined && !subscription.wildcard) {
      use.isTaken = (name) =>
        isTaken(
          all.filter((one) => one.type === type && !mine.includes(one)),
          name,
        );
    }
    // A thousand streams of a node stand at a few sets.
    use.used = new Set([...use.used, ...usedBy(subscriber)]);
    use.draining = new Set([...use.draining, ...draining.map(({ set }) => set)]);
    if (subscription.wildcard && acked !== undefined)
      use.known = [sureOf(subscriber, acked), ...onTheirWay(subscriber).map(({ set }) => set)];
    use.isEstablished ||= acked !== undefined || lastSent !== undefined;
  }
  return uses;
}

function isTaken(others: readonly Subscriber[], name: ResourceName): boolean {
  const askers = others.filter(({ subscription }) => subscription.names.has(name));
  const hasTaken = (asker: Subscriber): boolean =>
    !asker.owed.has(name) &&
    (asker.acked?.named(name).length ?? 0) > 0 &&
    onTheirWay(asker).every(({ carried }) => carried.every((resource) => resource.name !== name));
  return askers.length > 0 && askers.every(hasTaken);
}
