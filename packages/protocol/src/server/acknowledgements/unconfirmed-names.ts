import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { perPair } from "../../model/memo.js";
import { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import { covers, type Subscription } from "../../model/subscription.js";
import type { Sent } from "../state/client-use.js";
import { find } from "../state/find.js";
import { noneUnconfirmed, type Subscriber, type UnconfirmedNames, type UnconfirmedPart } from "../state/subscriber.js";
import { mostInFlight } from "./in-flight.js";

/*
 * A client has what it asks for by name only once it got it. The set that it acknowledged may hold the same already,
 * since others ask for that: so names that it asks for anew are remembered until it acknowledged what brings them. What
 * is worked out here is shared by clients that ask for the same.
 */

/** Notes which of these names a client did not ask for before. */
export function noteAsked(subscriber: Subscriber, names: Iterable<ResourceName>, before: Subscription): void {
  const {
    lastSent,
    subscription,
    used: { acked },
  } = subscriber;
  if (subscriber.unconfirmed !== noneUnconfirmed) {
    const dropped = NameSet.of(before.names.notIn(subscription.names));
    if (dropped.size > 0) forget(subscriber, () => dropped);
  }
  // It has nothing yet, and what it is sent first it is sent with these.
  if (before.wildcard || (acked === undefined && lastSent === undefined)) return;
  const added: ResourceName[] = [];
  for (const name of names) if (!before.names.has(name) && subscription.names.has(name)) added.push(name);
  if (added.length === 0) return;
  const { unconfirmed } = subscriber;
  const part = { names: NameSet.of(added), after: lastSent?.count ?? 0 };
  subscriber.unconfirmed = { names: unconfirmed.names.with(part.names), parts: withPart(unconfirmed.parts, part) };
}

/**
 * A client that does not answer makes ever more parts. Those between the same responses are one, and so are the first
 * two beyond as many as responses are remembered of: they count as asked for when the later one was.
 */
function withPart(parts: UnconfirmedNames["parts"], part: UnconfirmedPart): UnconfirmedNames["parts"] {
  const last = parts.at(-1);
  if (last?.after === part.after) return [...parts.slice(0, -1), joined(last, part)];
  const [first, second, ...others] = parts;
  if (first === undefined || second === undefined || parts.length < mostInFlight) return [...parts, part];
  return [joined(first, second), ...others, part];
}

function joined(earlier: UnconfirmedPart, later: UnconfirmedPart): UnconfirmedPart {
  return { names: earlier.names.with(later.names), after: later.after };
}

/**
 * The client answered some of the responses that were outstanding `before`: what they carried it has, unless it
 * rejected that.
 */
export function noteConfirmed(subscriber: Subscriber, before: readonly Sent[]): void {
  if (subscriber.unconfirmed === noneUnconfirmed) return;
  const {
    inFlight,
    sent: { pending },
    used: { lastGood },
  } = subscriber;
  for (const sent of before) {
    if (inFlight.includes(sent)) continue;
    const { carried, count } = sent;
    const taken = lastGood.size === 0 ? carried : carried.filter(({ key }) => !lastGood.has(key));
    forget(subscriber, ({ names, after }) => (count > after ? broughtBy(names, taken) : NameSet.empty));
  }
  if (inFlight.length > 0) return;
  // Of responses that were sent too long ago it is not known that they are answered.
  const open = lastGood.size === 0 ? pending : pending.with(lastGood.keys());
  forget(subscriber, ({ names }) => names.without(open));
}

/** `heard`: what is to be forgotten of a part, and perhaps other names. */
function forget(subscriber: Subscriber, heard: (part: UnconfirmedPart) => NameSet): void {
  let { names } = subscriber.unconfirmed;
  const still: UnconfirmedPart[] = [];
  let isOther = false;
  for (const part of subscriber.unconfirmed.parts) {
    const gone = heard(part);
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

/**
 * Names that stand for something among these resources. Of collections and locators it is not told apart what they
 * bring.
 */
const broughtBy = perPair((names: NameSet, carried: readonly Resource[]): NameSet => {
  if (names.hasCollections || names.hasLocators) return names;
  const brought: ResourceName[] = [];
  for (const { key, aliases } of carried) {
    for (const name of [key, ...aliases.map(canonicalName)]) if (names.has(name)) brought.push(name);
  }
  return NameSet.of(brought);
});

/** Those of a client's names that it does not only just ask for. */
export function confirmedNames({ unconfirmed, subscription }: Subscriber): NameSet {
  return unconfirmed === noneUnconfirmed ? subscription.names : othersThan(subscription.names, unconfirmed.names).names;
}

/** What the client has of a set that it acknowledged: without what it has asked for and not confirmed. */
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
