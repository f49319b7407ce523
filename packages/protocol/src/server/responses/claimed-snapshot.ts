import {
  isCollection,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  type TypeUrl,
  type Version,
} from "@xdskit/api";
import type { NameSet } from "../../model/names/name-set.js";
import { changeBetween } from "../../model/sets/change.js";
import { mixtureOf } from "../../model/sets/mixture.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { sharedBranch } from "../../model/sets/shared-branch.js";
import { hasContent, unknownContent } from "../../model/sets/unknown-content.js";
import { calledName } from "../../model/sets/variant-index.js";
import { type Snapshot, snapshotOf } from "../../model/snapshots/snapshot.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import { hasOf, isUsed, replacedSince } from "../ordering/past-listeners.js";
import type { Replaced } from "../state/subscriber.js";
import { isSet } from "./compared-claims.js";
import { hadWaiting, mayBeWarming, mayHave, type Warming, warmingOf } from "./may-be-warming.js";
import { perhapsAwaited } from "./perhaps-awaited.js";
import { type ClaimedResources, isOurs, mayName, shownNames } from "./shown-names.js";

/** The resources of a client, put together from its claims. */
export interface ClaimedSnapshot {
  readonly snapshot: Snapshot;
  /** False if it claims to have something that is in none of the known snapshots. */
  readonly isKnown: boolean;
  /** No server of ours can have made the versions of what is not known: nobody will ever know it. */
  readonly isForeign?: boolean | undefined;
  /** Its claims, and those before, leave no doubt about what may name clusters, and about what these wait for. */
  readonly isSure?: boolean | undefined;
  /** What it asks for, by type. */
  readonly asked: ReadonlyMap<TypeUrl, Subscription>;
  /** Its earlier listeners, by which it may still serve. */
  readonly replaced: readonly Replaced[];
  readonly warming: Warming;
  /** By type, the names that it claims to have and that its clusters may be waiting for all the same. */
  readonly awaited: ReadonlyMap<TypeUrl, NameSet>;
}

/**
 * Puts together a client's resources, type by type and resource by resource, from snapshots that it may have been
 * served: a client that was cut off in the middle of a change has some resources of the older one and some of the newer
 * one. From there make before break brings it to the newest.
 *
 * - Content that it claims under a name is looked up under that name; a version for all of a type is looked up among
 *   the known sets and the mixtures of them (`mixtureOf`).
 * - Under a name that it asks for without a claim, it counts as having the newest content whose references it all has.
 * - Unknown content may name any removed resource: it counts as naming all of them.
 * - If it has not asked for clusters yet, it may have any cluster whose endpoints it asks for: Envoy asks for clusters
 *   on a new stream only once its earlier ones are warm.
 *
 * Types without a claim are as in the newest. `known`: newest first, of one lineage, at least one.
 *
 * `before`: what was put together for this client earlier. It was brought there in all types that it asked for then and
 * claims nothing of now. Of these it gets new contents that name nothing, and names that it lacked.
 *
 * `isAggregated`: all that the client has is among the claims; otherwise other streams of it may have more.
 */
export function claimedSnapshot(
  claims: readonly ClaimedResources[],
  known: readonly [Snapshot, ...Snapshot[]],
  before?: ClaimedSnapshot,
  isAggregated = false,
): ClaimedSnapshot {
  const draft = new ClaimedDraft(claims, known, before, isAggregated);
  // Requests by name depend on the types of which the client has everything, so those come first.
  for (const claim of claims) if (claim.subscription.wildcard) draft.add(claim);
  for (const claim of claims) if (!claim.subscription.wildcard) draft.add(claim);
  return draft.finish();
}

class ClaimedDraft {
  readonly #claims: readonly ClaimedResources[];
  readonly #isAggregated: boolean;
  readonly #known: readonly [Snapshot, ...Snapshot[]];
  readonly #sets: Map<TypeUrl, ResourceSet>;
  /**
   * For each type of which the client has everything, the names that it has; without types whose content nobody knows.
   */
  readonly #has = new Map<TypeUrl, { has(name: ResourceName): boolean }>();
  /** By type, the names that the client claims to have and that the newest snapshot lacks. */
  readonly #going = new Map<ResourceType, readonly ResourceName[]>();
  /** By type, the set that the client's claims match exactly. */
  readonly #exact = new Map<ResourceType, ResourceSet>();
  readonly #versions = new Map<ResourceType, ReadonlyMap<ResourceName, Version>>();
  readonly #asked: ReadonlyMap<TypeUrl, Subscription>;
  readonly #before: ClaimedSnapshot | undefined;
  /** By type, what unknown contents of it may name. */
  readonly #names = new Map<ResourceType, readonly Reference[]>();
  /** The types that it does not ask for, and whose resources are warmed by some that it does ask for. */
  readonly #warming: readonly ResourceType[];
  readonly #awaited = new Map<TypeUrl, NameSet>();
  #isKnown = true;
  #isSure = true;
  #isForeign = true;

  constructor(
    claims: readonly ClaimedResources[],
    known: readonly [Snapshot, ...Snapshot[]],
    before: ClaimedSnapshot | undefined,
    isAggregated: boolean,
  ) {
    this.#claims = claims;
    this.#isAggregated = isAggregated;
    this.#known = known;
    this.#before = before;
    const [newest] = known;
    this.#sets = new Map(newest.sets);
    this.#asked = new Map(claims.map(({ type, subscription }) => [type.typeUrl, subscription]));
    const types = new Set(known.flatMap(({ sets }) => Array.from(sets.values(), ({ type }) => type)));
    this.#warming = [...types].filter((type) => mayBeWarming(type, this.#asked));
    for (const claim of claims) this.#note(claim);
    for (const type of this.#warming) {
      const set = this.#unionOf(type);
      this.#sets.set(type.typeUrl, set);
      const has = (resource: Resource | undefined) => resource !== undefined && mayHave(this.#asked, type, resource);
      this.#has.set(type.typeUrl, { has: (name) => has(ResourceSets.get(set, name)) });
    }
  }

  /** Finds the set that a client has exactly, and what it must lose. A version in SotW tells neither. */
  #note({ type, subscription, claimed }: ClaimedResources): void {
    const newest = this.#known[0].of(type);
    const exact = typeof claimed === "object" ? this.#setsOf(type).find((set) => isSet(claimed, set)) : undefined;
    if (exact !== undefined) this.#exact.set(type, exact);
    const had = exact ?? this.#answered(type, claimed);
    if (had !== undefined) this.#going.set(type, keysOf(changeBetween(had, newest).removed));
    if (typeof claimed === "object") this.#noteAwaited(type, claimed);
    if (had !== undefined || typeof claimed !== "object") return;
    const versions = claimed.toMap();
    this.#versions.set(type, versions);
    if (subscription.wildcard) this.#has.set(type.typeUrl, versions);
    const going = [...versions.keys()].filter((name) => ResourceSets.get(newest, name) === undefined);
    this.#going.set(type, going);
  }

  #noteAwaited(type: ResourceType, claimed: ClaimedVersions): void {
    const warmed = this.#warming.filter(({ warmedBy }) => warmedBy.includes(type.typeUrl));
    if (warmed.length === 0) return;
    this.#awaited.set(type.typeUrl, perhapsAwaited(type, claimed.toMap(), warmed, this.#known));
  }

  /** What the client was brought to, if it claims nothing since. */
  #answered(type: ResourceType, claimed: ClaimedResources["claimed"]): ResourceSet | undefined {
    const before = claimed === undefined ? this.#before : undefined;
    return before?.asked.has(type.typeUrl) === true ? before.snapshot.of(type) : undefined;
  }

  add(claim: ClaimedResources): void {
    const { type, subscription, claimed } = claim;
    const answered = this.#answered(type, claimed);
    const sets = this.#setsOf(type);
    const [newest] = sets;
    // The names do not say which variants it has.
    if (sets.some((set) => ResourceSets.hasVariants(set))) return;
    const [exact, versions] = [this.#exact.get(type), this.#versions.get(type)];
    if (answered !== undefined) this.#addAnswered(answered, subscription, sets);
    else if (claimed === undefined || typeof claimed === "string") this.#addVersion(claim, sets);
    else if (exact !== undefined) this.#addExact(exact, subscription, sets);
    else if (versions !== undefined) {
      const changes = new Map<ResourceName, Resource | undefined>();
      for (const [name, version] of versions) {
        if (ResourceSets.get(newest, name)?.version === version) continue;
        const contents = contentsOf(sets, name);
        const resource = contents.find((one) => one.version === version);
        // Content that names nothing, such as endpoints that come and go, may be of any time.
        const isPlain = contents.length > 0 && contents.every(({ references }) => references.length === 0);
        if (resource === undefined && !isPlain) this.#noteUnknown(version);
        const before = resource ?? this.#unknown(type, name, version);
        if (!maySkip(isPlain ? [] : before.references, ResourceSets.get(newest, name))) changes.set(name, before);
      }
      if (subscription.wildcard) for (const { key } of newest) if (!versions.has(key)) changes.set(key, undefined);
      this.#chooseLacking(changes, sets, subscription, (name) => versions.has(name));
      this.#put(type, branchOf(newest, changes), subscription);
    }
  }

  finish(): ClaimedSnapshot {
    const hadMore = () => this.#warming.some((type) => hadWaiting(this.#asked, this.#setsOf(type)));
    const isSure = this.#isSure && this.#isKnown && this.#before?.isSure !== false && !hadMore();
    const [snapshot, warming] = [snapshotOf(this.#sets), warmingOf(this.#sets, this.#asked, this.#warming, isSure)];
    const has = hasOf(snapshot, this.#asked);
    const replaced = replacedSince(this.#known, snapshot).filter((one) => isUsed(one, has));
    const [isKnown, isForeign] = [this.#isKnown, !this.#isKnown && this.#isForeign];
    return { snapshot, isKnown, isForeign, isSure, asked: this.#asked, replaced, warming, awaited: this.#awaited };
  }

  #noteUnknown(version: Version): void {
    this.#isKnown = false;
    this.#isForeign &&= !isOurs(version);
  }

  /** Unknown contents of an answered type may name what the client has claimed since. */
  #addAnswered(set: ResourceSet, subscription: Subscription, sets: readonly [ResourceSet, ...ResourceSet[]]): void {
    const [newest] = sets;
    const mayNameAny = [...this.#sets.values()].some(({ type }) => mayName(set.type, type));
    const changes = new Map<ResourceName, Resource | undefined>();
    for (const { key, before, after } of changeBetween(set, newest).differences.values()) {
      if (before === undefined) {
        if (subscription.wildcard) changes.set(key, undefined);
        continue;
      }
      if ((hasContent(before) || !mayNameAny) && maySkip(before.references, after)) continue;
      changes.set(key, hasContent(before) ? before : this.#unknown(set.type, before.name, before.version));
    }
    this.#chooseLacking(changes, sets, subscription, (name) => ResourceSets.get(set, name) !== undefined);
    this.#put(set.type, changes.size === 0 ? newest : sharedBranch(newest, changes), subscription);
  }

  /** The client has all of a set. By name, the newest may have more of its names. */
  #addExact(exact: ResourceSet, subscription: Subscription, sets: readonly [ResourceSet, ...ResourceSet[]]): void {
    if (subscription.wildcard) {
      this.#put(exact.type, exact, subscription);
      return;
    }
    const [newest] = sets;
    const changes = new Map<ResourceName, Resource | undefined>();
    for (const { key, before, after } of changeBetween(exact, newest).differences.values())
      if (before !== undefined && !maySkip(before.references, after)) changes.set(key, before);
    // All of the set are among its names.
    if (subscription.names.size > exact.size)
      this.#chooseLacking(changes, sets, subscription, (name) => ResourceSets.get(exact, name) !== undefined);
    this.#put(exact.type, branchOf(newest, changes), subscription);
  }

  /** State of the world. */
  #addVersion({ type, subscription, claimed }: ClaimedResources, sets: readonly [ResourceSet, ...ResourceSet[]]): void {
    const [newest] = sets;
    const mixture = typeof claimed === "string" ? mixtureOf(claimed, sets) : undefined;
    // A response to names may have an older version than the set has by now, without a difference for these names.
    const isOfAll = type.fullState && subscription.wildcard;
    if (mixture === undefined && this.#warming.some((one) => mayName(type, one))) this.#isSure = false;
    if (isOfAll && typeof claimed === "string" && mixture === undefined) this.#noteUnknown(claimed);
    if (isOfAll) {
      const isUnknown = typeof claimed === "string" && type.acknowledgedWarm;
      const set = mixture ?? (isUnknown ? this.#shownOf(type, claimed) : undefined);
      if (set !== undefined) this.#put(type, set, subscription);
      return;
    }
    const changes = new Map<ResourceName, Resource | undefined>();
    for (const name of subscription.names) {
      const resource = mixture && ResourceSets.get(mixture, name);
      if (resource === undefined) this.#choose(changes, sets, name);
      else if (!maySkip(resource.references, ResourceSets.get(newest, name))) changes.set(name, resource);
    }
    this.#put(type, branchOf(newest, changes), subscription);
  }

  #setsOf(type: ResourceType): readonly [ResourceSet, ...ResourceSet[]] {
    const before = this.#before === undefined ? [] : [this.#before.snapshot];
    const sets = new Set([...this.#known, ...before].map((snapshot) => snapshot.of(type)));
    return [...sets] as [ResourceSet, ...ResourceSet[]];
  }

  /**
   * All resources that the client may have of a type, each in its newest content. A removed one is among them only if
   * the client still asks for the resources that warm it: nobody would answer for other clusters, and Envoy would wait
   * for their endpoints. `had`: what else must be true of it.
   */
  #unionOf(type: ResourceType, had: (resource: Resource) => boolean = () => true): ResourceSet {
    const [newest, ...others] = this.#setsOf(type);
    const gone = new Map<ResourceName, Resource>();
    for (const other of others)
      for (const resource of changeBetween(other, newest).removed)
        if (!gone.has(resource.key) && mayHave(this.#asked, type, resource) && had(resource))
          gone.set(resource.key, resource);
    return sharedBranch(newest, gone);
  }

  /**
   * The newest resources of a type whose version tells nothing, and the removed ones that the client shows that it had:
   * it asks for what warms them, or for something that may name them. One that it has must not go before that, and one
   * that it never had must not come.
   */
  #shownOf(type: ResourceType, version: Version): ResourceSet {
    // Other streams may show more.
    if (!this.#isAggregated) return isOurs(version) ? this.#unionOf(type) : this.#setsOf(type)[0];
    const named = shownNames(type, this.#claims, (naming) => this.#setsOf(naming));
    return this.#unionOf(type, (resource) => {
      const isWarmed = resource.references.some((one) => type.warmedBy.includes(one.type) && this.#asked.has(one.type));
      return isWarmed || named.has(calledName(resource));
    });
  }

  #put(type: ResourceType, set: ResourceSet, { wildcard }: Subscription): void {
    this.#sets.set(type.typeUrl, set);
    if (wildcard && !this.#has.has(type.typeUrl)) {
      this.#has.set(type.typeUrl, { has: (name) => ResourceSets.get(set, name) !== undefined });
    }
  }

  #chooseLacking(
    changes: Map<ResourceName, Resource | undefined>,
    sets: readonly [ResourceSet, ...ResourceSet[]],
    { names }: Subscription,
    has: (name: ResourceName) => boolean,
  ): void {
    for (const name of names) if (!has(name)) this.#choose(changes, sets, name);
  }

  /** Chooses the content for a requested name without a known version: the client counts as having it. */
  #choose(
    changes: Map<ResourceName, Resource | undefined>,
    sets: readonly [ResourceSet, ...ResourceSet[]],
    name: ResourceName,
  ): void {
    const safe = contentsOf(sets, name).find(({ references }) => references.every((one) => this.#hasNamed(one)));
    if (safe !== undefined) changes.set(name, safe);
  }

  #hasNamed(reference: Reference): boolean {
    return isCollection(reference) || (this.#has.get(reference.type)?.has(reference.name) ?? true);
  }

  /** A content that is in none of the snapshots: the client goes on with it until it is told otherwise. */
  #unknown(type: ResourceType, name: ResourceName, version: Version): Resource {
    const names = this.#names.get(type) ?? namesOfGoing(type, this.#going);
    this.#names.set(type, names);
    return unknownContent(type, name, version, names);
  }
}

/** What unknown contents of a type may name. */
function namesOfGoing(
  type: ResourceType,
  going: ReadonlyMap<ResourceType, readonly ResourceName[]>,
): readonly Reference[] {
  return [...going].flatMap(([named, names]) =>
    mayName(type, named) ? names.map((name) => ({ type: named.typeUrl, name })) : [],
  );
}

function keysOf(resources: readonly Resource[]): readonly ResourceName[] {
  return resources.map(({ key }) => key);
}

/**
 * Whether a client may go to the newest content at once: neither names anything, so no order is due. Nor is it sent the
 * old one again.
 */
function maySkip(before: readonly Reference[], newest: Resource | undefined): boolean {
  return before.length === 0 && newest?.references.length === 0;
}

/** The contents of the sets under a name, newest first. */
function contentsOf(sets: readonly ResourceSet[], name: ResourceName): readonly Resource[] {
  return sets.map((set) => ResourceSets.get(set, name)).filter((resource) => resource !== undefined);
}

/** The same object for all clients with equal resources. */
function branchOf(set: ResourceSet, changes: ReadonlyMap<ResourceName, Resource | undefined>): ResourceSet {
  const real = new Map([...changes].filter(([key, one]) => ResourceSets.get(set, key)?.version !== one?.version));
  return real.size === 0 ? set : sharedBranch(set, real);
}
