import type { ResourceName, TypeUrl } from "@xdskit/api";
import { type InUse, type Stage, stageOf } from "../make-before-break.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { onTheirWay } from "./holding.js";
import { numberOf } from "./past-snapshots.js";
import { perhapsUsed } from "./rejected.js";
import type { Subscriber } from "./subscriber.js";

/** By the snapshot that is wanted: streams at the same place have the same stage, worked out once. */
const known = new WeakMap<Snapshot, Map<string, Stage>>();

/** Places on the way to one snapshot that are remembered: more than that only clients make that answer in ever new orders. */
const mostStages = 2_000;

/** Characters of the longest key that is remembered: that of a place of a client with many streams, where hardly another is. */
const longestKey = 4_000;

/** What matters besides for where a stream stands. */
export interface Circumstances {
  readonly earlier: readonly Snapshot[];
  /** It waits for what warms what was acknowledged on other streams: for its acknowledgement, or, first, for that it is asked for, too. */
  readonly patience: Patience;
}

export type Patience = "none" | "acknowledging" | "asking";

/** How far the stream of these subscribers may be brought, one of all those of a client (`all`): the same for all streams at the same place. */
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
  let stages = known.get(wanted);
  if (stages === undefined) {
    stages = new Map();
    known.set(wanted, stages);
  }
  let stage = stages.get(key);
  if (stage === undefined) {
    if (stages.size >= mostStages) stages.clear();
    stage = stageOf(usesOf(all, mine, patience), wanted, earlier);
    if (key.length <= longestKey) stages.set(key, stage);
  }
  return stage;
}

/** Nothing was sent of the type, and nothing is known of what the client has. */
export function isFirst({ held, lastSent }: Subscriber): boolean {
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
  // What is on its way matters where it says what else is not certain.
  const matters = rejection !== undefined || (patient && !isMine);
  for (const { set, carried } of onWay) key += `>${ResourceSets.id(set)}${matters ? `.${numberOf(carried)}` : ""}`;
  if (rejection !== undefined) key += `!${ResourceSets.id(rejection.after)}`;
  for (const set of perhapsUsed(subscriber)) key += `|${ResourceSets.id(set)}`;
  for (const { set } of draining) key += `_${ResourceSets.id(set)}`;
  return `${key}${subscription.wildcard ? "*" : ""} `;
}

/** All that a client may be using of one type. */
export function usedBy(subscriber: Subscriber): readonly ResourceSet[] {
  const sets = [subscriber.acked, ...onTheirWay(subscriber).map(({ set }) => set), ...perhapsUsed(subscriber)];
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

/** While it is gathered from the streams of a client. */
interface GatheredUse extends Writable<Omit<InUse, "used" | "draining">> {
  readonly used: Set<ResourceSet>;
  readonly draining: Set<ResourceSet>;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function usesOf(
  all: readonly Subscriber[],
  mine: readonly Subscriber[],
  patience: Patience,
): ReadonlyMap<TypeUrl, InUse> {
  const uses = new Map<TypeUrl, GatheredUse>();
  for (const subscriber of all) {
    const { type, held, acked, lastSent, draining, subscription } = subscriber;
    let use = uses.get(type.typeUrl);
    if (use === undefined) {
      use = {
        type,
        held: undefined,
        instead: subscriber.instead,
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
      use.held = held;
      use.instead = subscriber.instead;
      use.isFirst = isFirst(subscriber);
    } else if (patience !== "none" && use.isTaken === undefined && !subscription.wildcard) {
      use.isTaken = (name) =>
        isTaken(
          all.filter((one) => one.type === type && !mine.includes(one)),
          name,
          patience,
        );
    }
    // A thousand streams of a node stand at a few sets.
    for (const set of usedBy(subscriber)) use.used.add(set);
    // What another stream holds may first be asked for there, until it holds something else.
    if (!mine.includes(subscriber) && !subscription.wildcard) use.used.add(held);
    for (const { set } of draining) use.draining.add(set);
    if (subscription.wildcard && acked !== undefined)
      use.known = [sureOf(subscriber, acked), ...onTheirWay(subscriber).map(({ set }) => set)];
    use.isEstablished ||= acked !== undefined || lastSent !== undefined;
  }
  return uses;
}

function isTaken(others: readonly Subscriber[], name: ResourceName, patience: Patience): boolean {
  const askers = others.filter(({ subscription }) => subscription.names.has(name));
  const hasTaken = (asker: Subscriber): boolean =>
    !asker.owed.has(name) &&
    (asker.acked?.named(name).length ?? 0) > 0 &&
    onTheirWay(asker).every(({ carried }) => carried.every((resource) => resource.name !== name));
  return (askers.length > 0 || patience !== "asking") && askers.every(hasTaken);
}
