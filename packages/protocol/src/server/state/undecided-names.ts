import type { ResourceName } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import { find } from "./find.js";

/**
 * The names of one client and type that are supplied on demand, and of which nobody knows yet whether they exist. It is
 * immutable: the functions beside it make new values. Clients without such names share `noneUndecided`.
 *
 * Invariant: the client asks for all of these names. Invariant: `seen` is a part of `names`, so a decided name that is
 * asked for again waits for a new decision. Invariant: a name gets into `awaited` only while that is empty.
 */
export interface UndecidedNames {
  readonly names: NameSet;
  /** Those of them that the newest snapshot had. */
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
  before: UndecidedNames,
  asked: Iterable<ResourceName>,
  dropped: Iterable<ResourceName>,
): UndecidedNames {
  const { names, seen, awaited } = before;
  return sameOrNew(before, names.without(dropped).with(asked), seen.without(dropped), awaited.without(dropped));
}

/** These names are decided. */
export function decided(before: UndecidedNames, which: Iterable<ResourceName>): UndecidedNames {
  const { names, seen, awaited } = before;
  const gone = [...which];
  return sameOrNew(before, names.without(gone), seen.without(gone), awaited);
}

/** The names that a set has are decided. */
export function decidedBy(before: UndecidedNames, set: ResourceSet): UndecidedNames {
  return decided(before, thereIn(set, before.names));
}

/**
 * There is a newer set. Nobody decides on a name that exists. So a name that was there, and went before it could be
 * sent, counts as decided from then on.
 */
export function comparedWith(before: UndecidedNames, newest: ResourceSet): UndecidedNames {
  const { names, seen, awaited } = before;
  if (names.size === 0) return before;
  const there = NameSet.of(thereIn(newest, names));
  return sameOrNew(before, names.without(seen.notIn(there)), there, awaited);
}

/**
 * A full-state response waits for all undecided names, or still for those that it waited for. Names that come while it
 * waits do not prolong the wait, or a client that always asks for new names would never hear of changes.
 */
export function awaitsAll(before: UndecidedNames): UndecidedNames {
  const { names, seen, awaited } = before;
  return sameOrNew(before, names, seen, awaited.size === 0 ? names : awaited.without(awaited.notIn(names)));
}

/** No response waits. */
export function awaitsNone(before: UndecidedNames): UndecidedNames {
  return sameOrNew(before, before.names, before.seen, NameSet.empty);
}

/** The same object where nothing changed: equal sets of names are one object. */
function sameOrNew(before: UndecidedNames, names: NameSet, seen: NameSet, awaited: NameSet): UndecidedNames {
  if (names === before.names && seen === before.seen && awaited === before.awaited) return before;
  return names.size + seen.size + awaited.size === 0 ? noneUndecided : { names, seen, awaited };
}

function thereIn(set: ResourceSet, names: NameSet): readonly ResourceName[] {
  return names.size === 0 ? [] : [...names].filter((name) => find(set, name).length > 0);
}
