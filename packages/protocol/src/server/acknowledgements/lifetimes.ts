import type { Resource, ResourceName } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import { askedAs, wants } from "../../model/subscribed/variants.js";
import type { NumberedResponse } from "../state/exchange.js";
import { subscribed } from "../state/find.js";
import { withPending } from "../state/sent-state.js";
import type { Lifetimes, Subscriber } from "../state/subscriber.js";

/** Names one content of one resource by its version (which has no space) and its key. */
export function identityOf({ key, version }: Resource): string {
  return `${version} ${key}`;
}

/** The resources with a TTL among these, by `identityOf`. */
export function perishableOf(resources: readonly Resource[]): NameSet {
  const found = resources.filter(({ ttl }) => ttl !== undefined);
  return found.length === 0 ? NameSet.empty : NameSet.of(found.map(identityOf));
}

/** The subscribed resources with a TTL. Costs the smaller of the two numbers. */
export function perishable(subscription: Subscription, current: ResourceSet): readonly Resource[] {
  const all = ResourceSets.perishable(current);
  if (all === undefined) return [];
  if (subscription.wildcard || all.size < subscription.names.size) {
    return [...all].filter((resource) => wants(current, subscription, resource));
  }
  return subscribed(subscription, current).filter(({ ttl }) => ttl !== undefined);
}

/** Whether the set that the client was brought to has a resource with a TTL. */
export function isPerishable({ sent: { set: sentSet } }: Subscriber): boolean {
  return ResourceSets.perishable(sentSet) !== undefined;
}

/** Records that a heartbeat is due for resources that need one at least every `interval` milliseconds. */
export function beat(subscriber: Subscriber, interval: number): void {
  if (!isPerishable(subscriber)) return;
  const { lifetimes = noBeats } = subscriber;
  // One beat may be skipped: twice the interval is still well below the TTL.
  subscriber.lifetimes = lifetimes.refreshed
    ? { ...lifetimes, refreshed: false }
    : { ...lifetimes, due: Math.max(lifetimes.due, interval) };
}

/** Makes a heartbeat due at once for everything that a reconnected client says it has: its timers kept running. */
export function beatAtOnce(subscriber: Subscriber, claimed: ResourceSet): void {
  if (ResourceSets.perishable(claimed) === undefined) return;
  const { lifetimes = noBeats } = subscriber;
  subscriber.lifetimes = { ...lifetimes, due: Number.POSITIVE_INFINITY };
}

/** Records a response in which these resources have a TTL. `everything`: it holds the client's whole target. */
export function noteLifetimes(subscriber: Subscriber, perishable: NameSet, everything: boolean): void {
  if (perishable.size === 0) return;
  const { due, refreshed, rejected, whole } = subscriber.lifetimes ?? noBeats;
  subscriber.lifetimes = {
    due: everything ? 0 : due,
    refreshed: everything || refreshed,
    rejected: rejected.without(perishable),
    whole,
  };
}

/**
 * Records the answer to a response that had resources with a TTL. `unused`: the names in it that the client does not
 * use; `nothing` if it acknowledged the response.
 */
export function noteAnswer(
  subscriber: Subscriber,
  response: NumberedResponse,
  unused: readonly ResourceName[] | "nothing" | "everything",
): void {
  const { lifetimes } = subscriber;
  const { isBare, count } = response;
  if (lifetimes === undefined || response.perishable.size === 0) return;
  const { perishable } = response;
  if (unused === "nothing") {
    if (lifetimes.rejected.size > 0) {
      subscriber.lifetimes = { ...lifetimes, rejected: lifetimes.rejected.without(perishable) };
    }
  } else if (isBare) {
    // Either the TTL ended before the heartbeat came, so the client no longer has the resource, or the client does not
    // know bare heartbeats. It gets the bodies.
    subscriber.lifetimes = { ...lifetimes, whole: true };
    subscriber.sent = withPending(subscriber.sent, askedNames(subscriber, perishable));
  } else {
    // For content that was sent again since, the later answer decides.
    let again = NameSet.empty;
    for (const later of subscriber.exchange.inFlight) {
      if (later.count > count && !later.isBare) again = again.with(later.perishable);
    }
    const used = unused === "everything" ? again : again.with(othersThan(subscriber, perishable, unused));
    const rejected = used.size === 0 ? perishable : perishable.without(used);
    const all = rejected.with(stillThere(subscriber, lifetimes.rejected));
    subscriber.lifetimes = { ...lifetimes, rejected: all };
  }
}

/** The identities whose resource has none of these names. */
function othersThan(
  { sent: { set: sentSet } }: Subscriber,
  perishable: NameSet,
  names: readonly ResourceName[],
): readonly string[] {
  const faulty = new Set(names);
  return [...perishable].filter((identity) => {
    const resource = resourceWith(sentSet, identity);
    return resource !== undefined && !faulty.has(resource.name);
  });
}

/** The value of a client whose first resource with a TTL is being sent. */
const noBeats: Lifetimes = { due: 0, refreshed: false, rejected: NameSet.empty, whole: false };

/**
 * The rejected contents that the set still has. The others are forgotten, or the list would grow with every rejection.
 */
function stillThere({ sent: { set: sentSet } }: Subscriber, rejected: NameSet): readonly string[] {
  return [...rejected].filter((identity) => resourceWith(sentSet, identity) !== undefined);
}

function askedNames(
  { subscription, sent: { set: sentSet } }: Subscriber,
  perishable: NameSet,
): readonly ResourceName[] {
  const names: ResourceName[] = [];
  for (const identity of perishable) {
    const resource = resourceWith(sentSet, identity);
    if (resource !== undefined) names.push(...askedAs(sentSet, subscription, resource));
  }
  return names;
}

function resourceWith(set: ResourceSet, identity: string): Resource | undefined {
  const space = identity.indexOf(" ");
  const resource = ResourceSets.get(set, identity.slice(space + 1));
  return resource?.version === identity.slice(0, space) ? resource : undefined;
}
