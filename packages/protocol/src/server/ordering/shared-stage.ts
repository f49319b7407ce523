import type { Resource, ResourceName, TypeUrl } from "@xdskit/api";
import { longestKey } from "../../model/limits.js";
import { PerKey } from "../../model/memo.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import type { Snapshot } from "../../model/snapshot.js";
import { type InUse, type Stage, stageOf } from "../../planning/make-before-break.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import { perhapsUsed } from "../acknowledgements/rejected.js";
import type { Subscriber } from "../state/subscriber.js";
import { numberOf } from "./past-snapshots.js";

/*
 * The stage of a stream (how far it may be brought now, `make-before-break.ts`), worked out once for all streams of
 * which the same is known. All that a stage depends on is written into a key; this file makes the key of what is known
 * of a client's streams, and `stageOf`'s view of them (`InUse`) where no stage has that key yet.
 */

/** By the snapshot that is wanted, and by key. */
const known = new PerKey<Snapshot, Stage>();

/** What a stage depends on besides what is known of each type. */
interface Circumstances {
  /** What the client was to have before, oldest first; empty where that makes no difference. */
  readonly earlier: readonly Snapshot[];
  readonly patience: Patience;
}

/**
 * Whether what names a cluster waits for that cluster's load assignment, where that goes out on another stream: until
 * the client asks for it there and acknowledges it (`asking`); until it acknowledges it, if it asks for it at all
 * (`acknowledging`); or not at all, or no longer (`none`). The same for all types that are warmed by another.
 */
export type Patience = "none" | "acknowledging" | "asking";

/**
 * How far a stream may be brought. `mine`: its subscribers, one a type; `all`: those of all streams of its order, its
 * own among them.
 */
export function sharedStage(
  mine: readonly Subscriber[],
  all: readonly Subscriber[],
  wanted: Snapshot,
  { earlier, patience }: Circumstances,
): Stage {
  const patient = patience !== "none";
  let key = patient ? patience : "";
  for (const snapshot of earlier) key += `${numberOf(snapshot)},`;
  const parts = new Set<string>();
  for (const subscriber of all) parts.add(keyOf(subscriber, mine.includes(subscriber), patient));
  for (const part of parts) key += part;
  let stage = known.get(wanted, key);
  if (stage === undefined) {
    stage = stageOf(usesOf(all, mine, patience), wanted, earlier);
    if (key.length <= longestKey) known.set(wanted, key, stage);
  }
  return stage;
}

/** Nothing was sent of the type on this stream, and the client has not shown that it has something. */
export function isFirst({ lastSent, sent: { set: sentSet } }: Subscriber): boolean {
  return sentSet.size === 0 && lastSent === undefined;
}

/**
 * What the stage depends on of one subscriber. The ids of sets tell types apart, too: no set is of two types.
 * `patient`: it matters which names were acknowledged on other streams.
 */
function keyOf(subscriber: Subscriber, isMine: boolean, patient: boolean): string {
  const {
    draining,
    subscription,
    sent: { set: sentSet, pending },
    used: { acked, rejection },
  } = subscriber;
  const onWay = stillInFlight(subscriber);
  let key = isMine
    ? `${ResourceSets.id(sentSet)}${isFirst(subscriber) ? "f" : ""}`
    : `~${patient ? `${subscription.names.id}/${pending.id}` : ""}/${ResourceSets.id(sentSet)}`;
  if (acked === undefined) key += "?";
  else if (acked !== sentSet) key += `<${ResourceSets.id(acked)}`;
  // What responses carried matters to `sureOf` and `isTaken` only.
  const matters = rejection !== undefined || (patient && !isMine);
  for (const { set, carried } of onWay) key += `>${ResourceSets.id(set)}${matters ? `.${numberOf(carried)}` : ""}`;
  if (rejection !== undefined) key += `!${ResourceSets.id(rejection.after)}`;
  for (const set of perhapsUsed(subscriber)) key += `|${ResourceSets.id(set)}`;
  for (const { what } of draining) key += `_${numberOf(what)}`;
  return `${key}${subscription.wildcard ? "*" : ""} `;
}

/**
 * The sets that a client may be using of one type: what it acknowledged, what is on its way, and what it rejected and
 * may have taken in part.
 */
export function usedBy(subscriber: Subscriber): readonly ResourceSet[] {
  const sets = [subscriber.used.acked, ...stillInFlight(subscriber).map(({ set }) => set), ...perhapsUsed(subscriber)];
  return sets.filter((set) => set !== undefined);
}

/**
 * What the client has for sure of what it acknowledged: without what a response removes that it rejected, since it may
 * have carried out the removals.
 */
function sureOf(subscriber: Subscriber, acked: ResourceSet): ResourceSet {
  const {
    used: { rejection, lastGood },
  } = subscriber;
  if (rejection === undefined || rejection.usesRest) return acked;
  const sentSince = stillInFlight(subscriber).flatMap(({ carried }) => carried.map(({ key }) => key));
  const unsure = [...lastGood.keys(), ...sentSince].filter(
    (key) => ResourceSets.get(rejection.after, key) === undefined,
  );
  return ResourceSets.branch(acked, new Map(unsure.map((key) => [key, undefined])));
}

/** `InUse`, while it is gathered from the streams of a client. */
interface GatheredUse extends Writable<Omit<InUse, "used" | "draining" | "known">> {
  readonly used: Set<ResourceSet>;
  readonly draining: Set<Resource>;
  known: Set<ResourceSet> | undefined;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** By type, what is known of a client's use of it; a client may ask for one type on several streams. */
function usesOf(
  all: readonly Subscriber[],
  mine: readonly Subscriber[],
  patience: Patience,
): ReadonlyMap<TypeUrl, InUse> {
  const uses = new Map<TypeUrl, GatheredUse>();
  for (const subscriber of all) {
    const {
      type,
      lastSent,
      draining,
      subscription,
      sent: { set: sentSet },
      used: { acked },
    } = subscriber;
    let use = uses.get(type.typeUrl);
    if (use === undefined) {
      use = {
        type,
        sentSet: undefined,
        lastGood: subscriber.used.lastGood,
        used: new Set(),
        draining: new Set(),
        known: undefined,
        isFirst: false,
        isEstablished: false,
        isTaken: undefined,
      };
      uses.set(type.typeUrl, use);
    }
    if (mine.includes(subscriber)) {
      use.sentSet = sentSet;
      use.lastGood = subscriber.used.lastGood;
      use.isFirst = isFirst(subscriber);
    } else if (patience !== "none" && use.isTaken === undefined && !subscription.wildcard) {
      const others = all.filter((one) => one.type === type && !mine.includes(one));
      use.isTaken = (name) => isTaken(others, name, patience);
    }
    for (const set of usedBy(subscriber)) use.used.add(set);
    // By name the client may ask for more of the set that another stream holds, as long as that holds it.
    if (!mine.includes(subscriber) && !subscription.wildcard) use.used.add(sentSet);
    for (const { what } of draining) for (const listener of what.listeners) use.draining.add(listener);
    if (subscription.wildcard && acked !== undefined) {
      // Of several, such as those of two processes with one node id, nobody knows who asks for what names it.
      use.known ??= new Set();
      use.known.add(sureOf(subscriber, acked));
      for (const { set } of stillInFlight(subscriber)) use.known.add(set);
    }
    use.isEstablished ||= acked !== undefined || lastSent !== undefined;
  }
  return uses;
}

/** Whether the client has acknowledged a name on each of the other streams of the type that ask for it. */
function isTaken(others: readonly Subscriber[], name: ResourceName, patience: Patience): boolean {
  const subscribers = others.filter(({ subscription }) => subscription.names.has(name));
  const hasTaken = (subscriber: Subscriber): boolean =>
    !subscriber.sent.pending.has(name) &&
    (subscriber.used.acked?.named(name).length ?? 0) > 0 &&
    stillInFlight(subscriber).every(({ carried }) => carried.every((resource) => resource.name !== name));
  return (subscribers.length > 0 || patience !== "asking") && subscribers.every(hasTaken);
}
