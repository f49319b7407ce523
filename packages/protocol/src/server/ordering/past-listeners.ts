import { isCollection, type Reference, type Resource, type ResourceType, refersTo, type TypeUrl } from "@xdskit/api";
import { maxAlternatives } from "../../model/basics/limits.js";
import { PerKey } from "../../model/basics/memo.js";
import { changeBetween, type Difference } from "../../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { calledName } from "../../model/sets/variant-index.js";
import { namesLess } from "../../model/snapshots/named-by.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Replaced } from "../state/subscriber.js";
import { replacedAmong } from "./draining.js";
import { numberOf } from "./past-snapshots.js";

/*
 * The listeners by which a client may still serve although it has others since. It came back on a new stream, which
 * says nothing of them: they are those of past snapshots. Of streams of one type each, some may still be about to come
 * back, and the client may use all that it had on these.
 */

/** Snapshots, newest first. */
export type PastSnapshots = readonly [Snapshot, ...Snapshot[]];

/** Whether a client has what a reference names; undefined if it asks for that type on no stream that is known. */
type Has = (reference: Reference) => boolean | undefined;

/** By the newest of the past snapshots, and by all of them with the client's own sets. */
const known = new PerKey<Snapshot, readonly Replaced[]>(maxAlternatives);

/**
 * The listeners of past snapshots that are gone in `current`, or name less there: one change after the other, the
 * oldest first. `others`: resources of all other types as well.
 */
export function replacedSince(past: PastSnapshots, current: Snapshot, others = false): readonly Replaced[] {
  const types = new Set<ResourceType>();
  for (const { sets } of past) for (const { type } of sets.values()) if (others || type.drains) types.add(type);
  if (types.size === 0) return [];
  const sets = Array.from(types, (type) => ResourceSets.id(current.of(type)));
  const key = `${past.map(numberOf).join()} ${sets.join()}`;
  return known.get(past[0], key) ?? known.set(past[0], key, replacedIn(past, current, types));
}

function replacedIn(past: PastSnapshots, current: Snapshot, types: ReadonlySet<ResourceType>): readonly Replaced[] {
  const seen = new Set<unknown>();
  const all: Replaced[] = [];
  for (const snapshot of past) {
    const differences: Difference[] = [];
    for (const type of types) {
      const set = snapshot.of(type);
      if (seen.has(set)) continue;
      seen.add(set);
      for (const difference of changeBetween(set, current.of(type)).differences.values()) {
        if (seen.has(difference.before)) continue;
        seen.add(difference.before);
        differences.push(difference);
      }
    }
    const replaced = replacedAmong(differences);
    if (replaced.old.length > 0) all.unshift({ ...replaced, ledTo: ledTo(replaced, past) });
  }
  return all;
}

/** All that the names which they dropped led to, in its last content. */
function ledTo({ dropped }: Replaced, past: PastSnapshots): readonly Resource[] {
  const all = new Set<Resource>();
  const open = [...dropped];
  for (const reference of open) {
    for (const resource of lastNamed(reference, past)) {
      if (all.has(resource)) continue;
      all.add(resource);
      open.push(...resource.references);
    }
  }
  return [...all];
}

function lastNamed(reference: Reference, past: PastSnapshots): readonly Resource[] {
  for (const { sets } of past) {
    const found = namedBy(reference, sets.get(reference.type));
    if (found.length > 0) return found;
  }
  return [];
}

/** The resources of a set that a reference names. */
export function namedBy(reference: Reference, set: ResourceSet | undefined): readonly Resource[] {
  if (set === undefined || !isCollection(reference)) return set?.named(reference.name) ?? [];
  return [...set].filter((one) => refersTo(reference, one.type.typeUrl, calledName(one)));
}

/** Whether the client has something that old listeners named and their successors do not. */
export function isUsed({ dropped, ledTo }: Replaced, has: Has): boolean {
  if (dropped.some((reference) => has(reference) === true)) return true;
  // Of a type that it does not ask for here, nobody knows what it has: what that names counts.
  const isAsked = ({ type, name }: Resource) => has({ type: type.typeUrl, name }) !== undefined;
  return ledTo.some((one) => !isAsked(one) && one.references.some((reference) => has(reference) === true));
}

/** What a client has by its snapshot. `asked`: the types that it asks for. */
export function hasOf({ sets }: Snapshot, asked: Pick<ReadonlySet<TypeUrl>, "has">): Has {
  return (reference) =>
    asked.has(reference.type) ? namedBy(reference, sets.get(reference.type)).length > 0 : undefined;
}

/** Whether listeners of the first snapshot are gone in the second, or name less there. */
export function replacesListeners(before: Snapshot, after: Snapshot): boolean {
  for (const { type } of before.sets.values()) {
    if (!type.drains) continue;
    for (const { before: old, after: now } of changeBetween(before.of(type), after.of(type)).differences.values())
      if (old !== undefined && namesLess(old, now)) return true;
  }
  return false;
}
