import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { perPair } from "../../model/basics/memo.js";
import { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { covers, type Subscription } from "../../model/subscribed/subscription.js";
import { maxInFlight, type NumberedResponse } from "../state/exchange.js";
import { find } from "../state/find.js";
import { noneUnconfirmed, type Subscriber, type UnconfirmedNames, type UnconfirmedPart } from "../state/subscriber.js";

/*
 * A client has a named resource only once it got it. The set that it acknowledged may hold the resource already,
 * because other clients ask for it. So new names are remembered until the client acknowledges the response with them.
 * Clients that ask for the same share the results.
 */

/** Records the names that a client did not ask for before. */
export function noteAsked(subscriber: Subscriber, names: Iterable<ResourceName>, before: Subscription): void {
  const {
    subscription,
    exchange: { lastSent },
    used: { set: usedSet },
  } = subscriber;
  noteDropped(subscriber, before.names.notIn(subscription.names));
  // It has nothing yet, and its first response will hold these names.
  if (before.wildcard || (usedSet === undefined && lastSent === undefined)) return;
  const added: ResourceName[] = [];
  for (const name of names) if (!before.names.has(name) && subscription.names.has(name)) added.push(name);
  if (added.length === 0) return;
  const { unconfirmed } = subscriber;
  const part = { names: NameSet.of(added), after: lastSent?.count ?? 0 };
  subscriber.unconfirmed = { names: unconfirmed.names.with(part.names), parts: withPart(unconfirmed.parts, part) };
}

/** Forgets names that a client asks for no more, or will ask for anew. */
export function noteDropped(subscriber: Subscriber, names: Iterable<ResourceName>): void {
  if (subscriber.unconfirmed === noneUnconfirmed) return;
  const dropped = NameSet.of(names);
  if (dropped.size > 0) forget(subscriber, () => dropped);
}

/**
 * A client that does not answer makes ever more parts, so parts are merged. Requests between the same two responses
 * make one part. Beyond `maxInFlight` parts, the first two become one, as if the client had asked for both at the
 * later time.
 */
function withPart(parts: UnconfirmedNames["parts"], part: UnconfirmedPart): UnconfirmedNames["parts"] {
  const last = parts.at(-1);
  if (last?.after === part.after) return [...parts.slice(0, -1), joined(last, part)];
  const [first, second, ...others] = parts;
  if (first === undefined || second === undefined || parts.length < maxInFlight) return [...parts, part];
  return [joined(first, second), ...others, part];
}

function joined(earlier: UnconfirmedPart, later: UnconfirmedPart): UnconfirmedPart {
  return { names: earlier.names.with(later.names), after: later.after };
}

/**
 * The client answered some of the responses that were outstanding `before`: it has their contents, unless it rejected
 * them.
 */
export function noteConfirmed(subscriber: Subscriber, before: readonly NumberedResponse[]): void {
  if (subscriber.unconfirmed === noneUnconfirmed) return;
  const {
    exchange: { inFlight },
    sent: { pending },
    used: { lastGood },
  } = subscriber;
  for (const response of before) {
    if (inFlight.includes(response)) continue;
    const { carried, count } = response;
    const taken = lastGood.size === 0 ? carried : carried.filter(({ key }) => !lastGood.has(key));
    forget(subscriber, ({ names, after }) => (count > after ? broughtBy(names, taken) : NameSet.empty));
  }
  if (inFlight.length > 0) return;
  // Responses from too long ago are forgotten, so nothing says that they were answered.
  const open = lastGood.size === 0 ? pending : pending.with(lastGood.keys());
  forget(subscriber, ({ names }) => names.without(open));
}

/** Forgets the names that `heard` returns for a part; it may return other names as well. */
function forget(subscriber: Subscriber, confirmed: (part: UnconfirmedPart) => NameSet): void {
  let { names } = subscriber.unconfirmed;
  const still: UnconfirmedPart[] = [];
  let isOther = false;
  for (const part of subscriber.unconfirmed.parts) {
    const gone = confirmed(part);
    const left = part.names.without(gone);
    if (left !== part.names) {
      isOther = true;
      // A name is in one part only.
      names = names.without(part.names.size === left.size + gone.size ? gone : part.names.notIn(left));
    }
    if (left.size > 0) still.push(left === part.names ? part : { names: left, after: part.after });
  }
  if (isOther) subscriber.unconfirmed = still.length === 0 ? noneUnconfirmed : { names, parts: still };
}

/** The names that stand for one of these resources. For collections and locators, all names count. */
const broughtBy = perPair((names: NameSet, carried: readonly Resource[]): NameSet => {
  if (names.hasCollections || names.hasLocators || names.hasCapitals) return names;
  const brought: ResourceName[] = [];
  for (const { key, aliases } of carried) {
    for (const name of [key, ...aliases.map(canonicalName)]) if (names.has(name)) brought.push(name);
  }
  return NameSet.of(brought);
});

/** The names that a client asks for, without the unconfirmed ones. */
export function confirmedNames({ unconfirmed, subscription }: Subscriber): NameSet {
  return unconfirmed === noneUnconfirmed ? subscription.names : othersThan(subscription.names, unconfirmed.names).names;
}

/** The client's part of a set that it acknowledged, without the unconfirmed names. */
export function hadOf({ unconfirmed, subscription }: Subscriber, set: ResourceSet): ResourceSet {
  if (unconfirmed === noneUnconfirmed || subscription.wildcard) return set;
  return withoutAsked(set, othersThan(subscription.names, unconfirmed.names));
}

interface Others extends Subscription {
  readonly asked: NameSet;
}

const othersThan = perPair((names: NameSet, asked: NameSet): Others => {
  return { wildcard: false, names: names.without(asked), asked };
});

const withoutAsked = perPair((set: ResourceSet, others: Others): ResourceSet => {
  const lacking = new Map<ResourceName, Resource | undefined>();
  for (const name of others.asked) {
    for (const resource of find(set, name)) if (!covers(others, resource)) lacking.set(resource.key, undefined);
  }
  return lacking.size === 0 ? set : ResourceSets.branch(set, lacking);
});
