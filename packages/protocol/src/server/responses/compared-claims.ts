import type { Resource, ResourceName } from "@xdskit/api";
import { BoundedCache, PerKey } from "../../model/basics/memo.js";
import { equalFingerprints } from "../../model/names/fingerprint.js";
import { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { unknownContent } from "../../model/sets/unknown-content.js";
import { covers, type Subscription } from "../../model/subscribed/subscription.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import { find } from "../state/find.js";

/**
 * The names that a delta client must still be sent after it said which versions it has (`initial_resource_versions`).
 */
interface ComparedClaims {
  readonly pending: NameSet;
  /** By name, resources that it holds under names that have since become aliases of other resources. */
  readonly renamed: ReadonlyMap<ResourceName, Resource>;
}

const noneRenamed: ReadonlyMap<ResourceName, Resource> = new Map();

/**
 * The last decision on claims that several streams share, by set and subscription. It does not hold the set: an old set
 * keeps all later ones alive.
 */
const decided = new PerKey<ClaimedVersions, ComparedClaims>(1);

/** The absent names of lists that many clients ask for, by set and list. */
const absences = new BoundedCache<NameSet>(64);

/**
 * Compares a client's claims with its target (rules 105–108). For a client that is up to date, no names are read. For
 * one whose claims equal another's bytes, there is no work at all. `warming`: names that must be sent again, whatever
 * the client has. Not for sets and subscriptions with variants.
 */
export function comparedClaims(
  claimed: ClaimedVersions,
  current: ResourceSet,
  subscription: Subscription,
  warming: NameSet,
): ComparedClaims {
  const { wildcard, names } = subscription;
  if (warming.size === 0 && isSet(claimed, current)) return { pending: absentOf(names, current), renamed: noneRenamed };
  const key = `${ResourceSets.id(current)} ${names.id} ${warming.id} ${wildcard}`;
  return decided.get(claimed, key) ?? decided.set(claimed, key, compareByName(claimed, current, subscription, warming));
}

/** Whether the client has all of the set and nothing else. Only the sums are compared, not the names. */
export function isSet(claimed: ClaimedVersions, current: ResourceSet): boolean {
  return claimed.size === current.size && equalFingerprints(claimed.fingerprint, ResourceSets.fingerprint(current));
}

function absentOf(names: NameSet, current: ResourceSet): NameSet {
  if (names.size === 0) return NameSet.empty;
  const key = `${ResourceSets.id(current)} ${names.id}`;
  let absent = absences.get(key);
  if (absent === undefined) {
    absent = NameSet.of([...names].filter((name) => find(current, name).length === 0));
    absences.set(key, absent, 1);
  }
  return absent;
}

function compareByName(
  claimed: ClaimedVersions,
  current: ResourceSet,
  subscription: Subscription,
  warming: NameSet,
): ComparedClaims {
  const { wildcard, names } = subscription;
  const versions = claimed.toMap();
  const pending: ResourceName[] = [];
  const renamed = new Map<ResourceName, Resource>();
  for (const [name, version] of versions) {
    const resource = current.get(name);
    // Rules 107, 108: the resource is gone. The client must hear that if it wants the name.
    if (resource === undefined) {
      if (!wildcard && !names.has(name) && !names.hasCollectionOf(name)) continue;
      const bearers = ResourceSets.bearers(current, name);
      if (bearers.length === 0) pending.push(name);
      else if (!bearers.some((bearer) => bearer.version === version)) {
        renamed.set(name, unknownContent(current.type, name, version, []));
      }
    } else if (covers(subscription, resource) && (resource.version !== version || warming.has(name))) {
      pending.push(name);
    }
  }
  if (wildcard) for (const { key } of current) if (!versions.has(key)) pending.push(key);
  for (const name of names) {
    const found = find(current, name);
    if (found.length === 0) pending.push(name);
    for (const resource of found) if (!versions.has(resource.key)) pending.push(resource.key);
  }
  return { pending: NameSet.of(pending), renamed };
}
