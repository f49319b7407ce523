import type { Resource, ResourceName, ResourceType, TypeUrl, Version } from "@xdskit/api";
import { longestKey } from "../../model/basics/limits.js";
import { PerKey } from "../../model/basics/memo.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { calledName } from "../../model/sets/variant-index.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { InUse } from "../../planning/in-use.js";
import { computeStage, type Stage } from "../../planning/make-before-break.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import { perhapsUsed } from "../acknowledgements/rejected.js";
import type { Subscriber } from "../state/subscriber.js";
import { numberOf } from "./past-snapshots.js";
import type { WarmingWait } from "./warming.js";

/*
 * The stage of a stream (how far it may go now, `make-before-break.ts`), worked out once for all streams with equal
 * inputs. A key holds everything that a stage depends on. This file makes the key from the state of a client's streams.
 * If no stage has that key yet, it makes the input of `computeStage` (`InUse`) from the same state.
 */

/** By wanted snapshot and key. */
const known = new PerKey<Snapshot, Stage>();

/** The inputs of a stage, besides the state of each type. */
interface Circumstances {
  /** The client's earlier targets, oldest first; empty if they make no difference. */
  readonly earlier: readonly Snapshot[];
  readonly warmingWait: WarmingWait;
  /** The types that are acknowledged once they are warm, and whose stream is about to come back. */
  readonly away: readonly ResourceType[];
}

/**
 * The stage to which a stream may go. `mine`: its subscribers, one for each type. `all`: the subscribers of all streams
 * of its order, with its own.
 */
export function sharedStage(
  mine: readonly Subscriber[],
  all: readonly Subscriber[],
  wanted: Snapshot,
  { earlier, warmingWait, away }: Circumstances,
): Stage {
  const isPatient = warmingWait !== "none";
  let key = isPatient ? warmingWait : "";
  for (const snapshot of earlier) key += `${numberOf(snapshot)},`;
  for (const { typeUrl } of away) key += `-${typeUrl} `;
  const parts = new Set<string>();
  for (const subscriber of all) parts.add(keyOfUse(subscriber, mine.includes(subscriber), isPatient));
  for (const part of parts) key += part;
  // Only earlier targets have what a client that comes back may have besides.
  if (earlier.length > 0) for (const subscriber of mine) key += keyOfClaim(subscriber, wanted);
  let stage = known.get(wanted, key);
  if (stage === undefined) {
    stage = computeStage(usesOf(all, mine, wanted, warmingWait), wanted, earlier, away);
    if (key.length <= longestKey) known.set(wanted, key, stage);
  }
  return stage;
}

/** Whether nothing of the type was sent on this stream, and the client has not shown that it has something. */
export function isFirst({ exchange: { lastSent }, sent: { set: sentSet } }: Subscriber): boolean {
  return sentSet.size === 0 && lastSent === undefined;
}

/**
 * The parts of one subscriber that the stage depends on. The ids of sets also tell types apart: no set is of two types.
 * `isPatient`: it matters which names were acknowledged on other streams.
 */
function keyOfUse(subscriber: Subscriber, isMine: boolean, isPatient: boolean): string {
  const {
    draining,
    subscription,
    sent: { set: sentSet, pending },
    used: { set: usedSet, rejection },
  } = subscriber;
  const inFlight = stillInFlight(subscriber);
  let key = isMine
    ? `${ResourceSets.id(sentSet)}${isFirst(subscriber) ? "f" : ""}`
    : `~${isPatient ? `${subscription.names.id}/${pending.id}` : ""}/${ResourceSets.id(sentSet)}`;
  if (usedSet === undefined) key += "?";
  else if (usedSet !== sentSet) key += `<${ResourceSets.id(usedSet)}`;
  // Only `sureOf` and `isTaken` need the contents of responses.
  const matters = rejection !== undefined || (isPatient && !isMine);
  for (const { set, carried } of inFlight) key += `>${ResourceSets.id(set)}${matters ? `.${numberOf(carried)}` : ""}`;
  if (rejection !== undefined) key += `!${ResourceSets.id(rejection.after)}`;
  for (const set of perhapsUsed(subscriber)) key += `|${ResourceSets.id(set)}`;
  for (const { what } of draining) key += `_${numberOf(what)}`;
  return `${key}${subscription.wildcard ? "*" : ""} `;
}

/**
 * The sets of one type that a client may be using: the acknowledged one, those in flight, and those that it rejected
 * but may use in part.
 */
export function usedBy(subscriber: Subscriber): readonly ResourceSet[] {
  const sets = [subscriber.used.set, ...stillInFlight(subscriber).map(({ set }) => set), ...perhapsUsed(subscriber)];
  return sets.filter((set) => set !== undefined);
}

/**
 * The part of the acknowledged set that the client surely has. If it rejected a response, it may have made the removals
 * of that, so removed resources are left out.
 */
function sureOf(subscriber: Subscriber, usedSet: ResourceSet): ResourceSet {
  const {
    used: { rejection, lastGood },
  } = subscriber;
  if (rejection === undefined || rejection.usesRest) return usedSet;
  const sentSince = stillInFlight(subscriber).flatMap(({ carried }) => carried.map(({ key }) => key));
  const unsure = [...lastGood.keys(), ...sentSince].filter(
    (key) => ResourceSets.get(rejection.after, key) === undefined,
  );
  return ResourceSets.branch(usedSet, new Map(unsure.map((key) => [key, undefined])));
}

/** `InUse` while it is collected from the streams of a client. */
interface GatheredUse extends Writable<Omit<InUse, "used" | "draining" | "ackedOrInFlight">> {
  readonly used: Set<ResourceSet>;
  readonly draining: Set<Resource>;
  ackedOrInFlight: Set<ResourceSet> | undefined;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** By type, the sets that a client uses. A client may ask for one type on several streams. */
function usesOf(
  all: readonly Subscriber[],
  mine: readonly Subscriber[],
  wanted: Snapshot,
  warmingWait: WarmingWait,
): ReadonlyMap<TypeUrl, InUse> {
  const uses = new Map<TypeUrl, GatheredUse>();
  for (const subscriber of all) {
    const {
      type,
      exchange: { lastSent },
      draining,
      subscription,
      sent: { set: sentSet },
      used: { set: usedSet },
    } = subscriber;
    let use = uses.get(type.typeUrl);
    if (use === undefined) {
      use = {
        type,
        sentSet: undefined,
        lastGood: subscriber.used.lastGood,
        used: new Set(),
        draining: new Set(),
        ackedOrInFlight: undefined,
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
      use.mayHave = mayHaveOf(subscriber, wanted);
    } else if (warmingWait !== "none" && use.isTaken === undefined && !subscription.wildcard) {
      const others = all.filter((one) => one.type === type && !mine.includes(one));
      use.isTaken = (name) => isTaken(others, name, warmingWait);
    }
    for (const set of usedBy(subscriber)) use.used.add(set);
    // On another stream that holds this set, the client may ask for more of its names.
    if (!mine.includes(subscriber) && !subscription.wildcard) use.used.add(sentSet);
    for (const { what } of draining) for (const resource of [...what.old, ...what.ledTo]) use.draining.add(resource);
    if (subscription.wildcard && usedSet !== undefined) {
      // Several streams may belong to two processes with one node id, so every one of them must have the cluster.
      use.ackedOrInFlight ??= new Set();
      use.ackedOrInFlight.add(sureOf(subscriber, usedSet));
      for (const { set } of stillInFlight(subscriber)) use.ackedOrInFlight.add(set);
    }
    use.isEstablished ||= usedSet !== undefined || lastSent !== undefined;
  }
  return uses;
}

/**
 * What the claims of a client tell of resources that the wanted set lacks. One that asks for names may wait for them,
 * whatever it has.
 */
function mayHaveOf(
  { type, claimed, subscription: { wildcard, names } }: Subscriber,
  wanted: Snapshot,
): InUse["mayHave"] {
  if (claimed === undefined || !wildcard) return undefined;
  if (typeof claimed === "object") return (one) => claimed.toMap().has(calledName(one)) || names.has(calledName(one));
  return hasAllOf(claimed, type, wanted) && names.size === 0 ? () => false : undefined;
}

function keyOfClaim({ type, claimed }: Subscriber, wanted: Snapshot): string {
  if (claimed === undefined) return "";
  return typeof claimed === "object" ? `=${numberOf(claimed)} ` : hasAllOf(claimed, type, wanted) ? "== " : "";
}

function hasAllOf(claimed: Version, type: ResourceType, wanted: Snapshot): boolean {
  return type.fullState && claimed === wanted.of(type).version;
}

/** Whether the client has acknowledged a name on each of the other streams of the type that ask for it. */
function isTaken(others: readonly Subscriber[], name: ResourceName, warmingWait: WarmingWait): boolean {
  const subscribers = others.filter(({ subscription }) => subscription.names.has(name));
  const hasTaken = (subscriber: Subscriber): boolean =>
    !subscriber.sent.pending.has(name) &&
    (subscriber.used.set?.named(name).length ?? 0) > 0 &&
    stillInFlight(subscriber).every(({ carried }) => carried.every((resource) => resource.name !== name));
  return (subscribers.length > 0 || warmingWait !== "asking") && subscribers.every(hasTaken);
}
