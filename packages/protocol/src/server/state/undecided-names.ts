import type { ResourceName } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import { find } from "./find.js";

/**
 * The names of one client and type that are supplied on demand, and of which nobody knows yet whether they exist. It is
 * immutable: the functions beside it make new values. Clients without such names share `noneUndecided`.
 *
 * Invariant: the client asks for all of these names. Invariant: a name gets into `awaited` only while that is empty.
 */
export interface UndecidedNames {
  readonly names: NameSet;
  /** The names that the newest snapshot had. */
  readonly seen: NameSet;
  /** The names that a full-state response waits for. A name that is decided leaves it with the next response. */
  readonly awaited: NameSet;
}

export const noneUndecided: UndecidedNames = { names: NameSet.empty, seen: NameSet.empty, awaited: NameSet.empty };

/** Whether nothing is undecided, and no response waits. */
export function isDecided({ names, awaited }: UndecidedNames): boolean {
  return names.size + awaited.size === 0;
}

/** The client asks for some names, and for others no more. */
export function demanded(
  { names, seen, awaited }: UndecidedNames,
  asked: Iterable<ResourceName>,
  dropped: Iterable<ResourceName>,
): UndecidedNames {
  return { names: names.without(dropped).with(asked), seen: seen.without(dropped), awaited: awaited.without(dropped) };
}

/** These names are decided. */
export function decided(undecided: UndecidedNames, which: Iterable<ResourceName>): UndecidedNames {
  const names = undecided.names.without(which);
  return names === undecided.names ? undecided : { ...undecided, names };
}

/** The names that a set has are decided. */
export function decidedBy(undecided: UndecidedNames, set: ResourceSet): UndecidedNames {
  const { names } = undecided;
  return names.size === 0 ? undecided : decided(undecided, thereIn(set, names));
}

/**
 * There is a newer set. Nobody decides on a name that exists. So a name that was there, and went before it could be
 * sent, counts as decided from then on.
 */
export function comparedWith(undecided: UndecidedNames, newest: ResourceSet): UndecidedNames {
  const { names, seen } = undecided;
  if (names.size === 0) return undecided;
  const there = NameSet.of(thereIn(newest, names));
  return { ...decided(undecided, seen.notIn(there)), seen: there };
}

/**
 * A full-state response waits for all undecided names, or still for those that it waited for. Names that come while it
 * waits do not prolong the wait, or a client that always asks for new names would never hear of changes.
 */
export function awaitsAll(undecided: UndecidedNames): UndecidedNames {
  const { names, awaited } = undecided;
  const now = awaited.size === 0 ? names : awaited.without(awaited.notIn(names));
  return now === awaited ? undecided : { ...undecided, awaited: now };
}

/** No response waits. */
export function awaitsNone(undecided: UndecidedNames): UndecidedNames {
  return undecided.awaited.size === 0 ? undecided : { ...undecided, awaited: NameSet.empty };
}

function thereIn(set: ResourceSet, names: NameSet): readonly ResourceName[] {
  return [...names].filter((name) => find(set, name).length > 0);
}
