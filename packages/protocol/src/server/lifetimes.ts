import type { Resource, ResourceName } from "@xdskit/api";
import { NameSet } from "../name-set.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import { askedAs } from "../variants.js";
import type { Sent } from "./client-use.js";
import type { Lifetimes, Subscriber } from "./subscriber.js";

/** One content of one resource; versions have no spaces. */
export function identityOf({ key, version }: Resource): string {
  return `${version} ${key}`;
}

/** The contents with a TTL among these. */
export function perishableOf(resources: readonly Resource[]): NameSet {
  const found = resources.filter(({ ttl }) => ttl !== undefined);
  return found.length === 0 ? NameSet.empty : NameSet.of(found.map(identityOf));
}

/** It is time for heartbeats for what needs them at least this often, milliseconds. */
export function beat(subscriber: Subscriber, interval: number): void {
  if (ResourceSets.perishable(subscriber.held) === undefined) return;
  const lifetimes = lifetimesOf(subscriber);
  // Twice the interval is still well below the TTL.
  if (lifetimes.refreshed) lifetimes.refreshed = false;
  else lifetimes.due = Math.max(lifetimes.due, interval);
}

/** A client came back whose timers go on running for what it says to have. */
export function beatAtOnce(subscriber: Subscriber, held: ResourceSet): void {
  if (ResourceSets.perishable(held) !== undefined) lifetimesOf(subscriber).due = Number.POSITIVE_INFINITY;
}

/** Notes a response of which these contents have a TTL. `everything`: it holds all that the client is to have. */
export function noteLifetimes(subscriber: Subscriber, perishable: NameSet, everything: boolean): void {
  if (perishable.size === 0) return;
  const lifetimes = lifetimesOf(subscriber);
  if (lifetimes.rejected.size > 0) lifetimes.rejected = lifetimes.rejected.without(perishable);
  if (!everything) return;
  lifetimes.refreshed = true;
  lifetimes.due = 0;
}

/** Notes what the client said about a response that held something with a TTL: that it does not use these of it, nothing of it, or that it uses all. */
export function noteAnswer(
  subscriber: Subscriber,
  sent: Sent,
  unused: readonly ResourceName[] | "nothing" | "everything",
): void {
  const { lifetimes } = subscriber;
  const { isBare, count } = sent;
  if (lifetimes === undefined || sent.perishable.size === 0) return;
  const { perishable } = sent;
  if (unused === "nothing") {
    if (lifetimes.rejected.size > 0) lifetimes.rejected = lifetimes.rejected.without(perishable);
  } else if (isBare) {
    // It does not hold what it was told to keep: its TTL was over before the heartbeat came, or it knows no heartbeats. With the bodies it does.
    lifetimes.whole = true;
    subscriber.owed = subscriber.owed.with(heldOf(subscriber, perishable));
  } else {
    // What was sent again since is answered when that is.
    let again = NameSet.empty;
    for (const later of subscriber.outstanding) {
      if (later.count > count && !later.isBare) again = again.with(later.perishable);
    }
    const used = unused === "everything" ? again : again.with(othersThan(subscriber, perishable, unused));
    const rejected = used.size === 0 ? perishable : perishable.without(used);
    lifetimes.rejected = rejected.with(stillThere(subscriber, lifetimes.rejected));
  }
}

/** Of what has a TTL, what is of none of these names. */
function othersThan({ held }: Subscriber, perishable: NameSet, names: readonly ResourceName[]): readonly string[] {
  const faulty = new Set(names);
  return [...perishable].filter((identity) => {
    const resource = resourceWith(held, identity);
    return resource !== undefined && !faulty.has(resource.name);
  });
}

function lifetimesOf(subscriber: Subscriber): Lifetimes {
  subscriber.lifetimes ??= { due: 0, refreshed: false, rejected: NameSet.empty, whole: false };
  return subscriber.lifetimes;
}

/** What was rejected and has another content now is forgotten, or the list would grow with every rejection. */
function stillThere({ held }: Subscriber, rejected: NameSet): readonly string[] {
  return [...rejected].filter((identity) => resourceWith(held, identity) !== undefined);
}

function heldOf({ held, subscription }: Subscriber, perishable: NameSet): readonly ResourceName[] {
  const names: ResourceName[] = [];
  for (const identity of perishable) {
    const resource = resourceWith(held, identity);
    if (resource !== undefined) names.push(...askedAs(held, subscription, resource));
  }
  return names;
}

function resourceWith(set: ResourceSet, identity: string): Resource | undefined {
  const space = identity.indexOf(" ");
  const resource = ResourceSets.get(set, identity.slice(space + 1));
  return resource?.version === identity.slice(0, space) ? resource : undefined;
}
