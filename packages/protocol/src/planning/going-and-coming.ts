import {
  isCollection,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  refersTo,
  type TypeUrl,
} from "@xdskit/api";
import { changeBetween } from "../model/sets/change.js";
import type { ResourceSet } from "../model/sets/resource-set.js";
import { calledName } from "../model/sets/variant-index.js";
import type { Snapshot } from "../model/snapshots/snapshot.js";
import type { InUse } from "./in-use.js";

/** The resources of one type that a client has and must lose. */
export interface Going {
  has(resource: Resource): boolean;
  named(reference: Reference): readonly Resource[];
}

/** By type, the resources that the client has and must lose. */
export function goingOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[],
): ReadonlyMap<TypeUrl, Going> {
  const going = new Map<TypeUrl, Going>();
  for (const [url, { type, sentSet, used, lastGood, isFirst, mayHave }] of types) {
    // If the client rejected a content, the one that it uses stays: it would reject the other one again.
    const before =
      sentSet === undefined ? [...used] : isFirst ? earlier.map((snapshot) => snapshot.of(type)) : [sentSet];
    const gone = removedFrom(before, wanted.of(type));
    const had = isFirst && mayHave !== undefined ? gone.filter(mayHave) : gone;
    const removed = had.map((resource) => lastGood.get(resource.key) ?? resource);
    if (removed.length === 0) continue;
    const byName = new Map<ResourceName, Resource[]>();
    for (const resource of removed) listIn(byName, calledName(resource)).push(resource);
    const named = (reference: Reference) =>
      isCollection(reference)
        ? removed.filter((resource) => refersTo(reference, url, calledName(resource)))
        : (byName.get(reference.name) ?? []);
    const keys = new Set(removed.map(({ key }) => key));
    going.set(url, { has: ({ key }) => keys.has(key), named });
  }
  return going;
}

/** The resources of these sets that the wanted set lacks: each key once, with its last content. */
function removedFrom(before: readonly ResourceSet[], wanted: ResourceSet): readonly Resource[] {
  const [only] = before;
  if (only !== undefined && before.length === 1) return changeBetween(only, wanted).removed;
  const removed = new Map<ResourceName, Resource>();
  for (const set of before)
    for (const resource of changeBetween(set, wanted).removed) removed.set(resource.key, resource);
  return [...removed.values()];
}

export type Coming = ReadonlyMap<TypeUrl, ReadonlyMap<ResourceName, Resource>>;

/**
 * By type and name, the resources that the client must get and acknowledge before something names them: clusters, and
 * listeners, since an endpoint may lead to an internal one.
 */
export function comingOf(types: ReadonlyMap<TypeUrl, InUse>, wanted: Snapshot): Coming {
  const coming = new Map<TypeUrl, Map<ResourceName, Resource>>();
  for (const [url, { type, ackedOrInFlight }] of types) {
    if (ackedOrInFlight === undefined || !mustBeThere(type)) continue;
    const added = new Map<ResourceName, Resource>();
    for (const set of ackedOrInFlight) {
      for (const { before, after } of changeBetween(set, wanted.of(type)).differences.values()) {
        if (before === undefined && after !== undefined) added.set(calledName(after), after);
      }
    }
    if (added.size > 0) coming.set(url, added);
  }
  return coming;
}

/** Whether resources of a type must be with the client before something names them. */
export function mustBeThere({ acknowledgedWarm, drains }: ResourceType): boolean {
  return acknowledgedWarm || drains;
}

/** The list under a key, which is added if there is none. */
export function listIn<Key, Value>(map: Map<Key, Value[]>, key: Key): Value[] {
  const known = map.get(key) ?? [];
  map.set(key, known);
  return known;
}
