import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { readFingerprint } from "../../model/names/fingerprint.js";
import { mixtureOf } from "../../model/sets/mixture.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";

/** The resources of one type that a reconnecting client claims to have. */
export interface ClaimedResources {
  readonly type: ResourceType;
  readonly subscription: Subscription;
  /** Delta: a version for each name. SotW: one for all. Undefined if it claims nothing. */
  readonly claimed: ClaimedVersions | Version | undefined;
}

type SetsOf = (type: ResourceType) => readonly [ResourceSet, ...ResourceSet[]];

/**
 * The names of one type in what a client of SotW shows that it has of others: in the contents of its version, or in all
 * that it may mean. `setsOf`: the known sets, newest first.
 */
export function shownNames(
  type: ResourceType,
  claims: readonly ClaimedResources[],
  setsOf: SetsOf,
): ReadonlySet<ResourceName> {
  const named = new Set<ResourceName>();
  for (const claim of claims) {
    if (!mayName(claim.type, type)) continue;
    for (const { references } of perhapsClaimed(claim, setsOf(claim.type)))
      for (const reference of references) if (reference.type === type.typeUrl) named.add(reference.name);
  }
  return named;
}

function* perhapsClaimed(
  { subscription: { wildcard, names }, claimed = "" }: ClaimedResources,
  sets: ReturnType<SetsOf>,
): Iterable<Resource> {
  if (typeof claimed !== "string") return;
  const mixture = mixtureOf(claimed, sets);
  for (const set of mixture === undefined ? sets : [mixture]) {
    if (wildcard && isOurs(claimed)) yield* set;
    for (const name of names) {
      // Another control plane may have had a name that we have, too, but hardly one that is gone.
      const isShown = isOurs(claimed) || ResourceSets.get(sets[0], name) === undefined;
      const resource = isShown ? ResourceSets.get(set, name) : undefined;
      if (resource !== undefined) yield resource;
    }
  }
}

/** Whether the version may be that of a server of ours. */
export function isOurs(version: Version): boolean {
  return readFingerprint(version) !== undefined;
}

/** Whether resources of one type may name some of another, as far as that may break traffic. */
export function mayName(type: ResourceType, named: ResourceType): boolean {
  if (type === named) return false;
  if (type.warmedBy.includes(named.typeUrl) || named.askedAgainAfter.includes(type.typeUrl)) return true;
  return named.acknowledgedWarm && !named.warmedBy.includes(type.typeUrl);
}
