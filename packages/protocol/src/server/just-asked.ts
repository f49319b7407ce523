import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { NameSet } from "../name-set.js";
import { perPair } from "../per-pair.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import { covers, type Subscription } from "../subscription.js";
import type { Sent } from "./client-use.js";
import { find } from "./content.js";
import { mostOutstanding } from "./holding.js";
import { type AskedPart, type JustAsked, noneAsked, type Subscriber } from "./subscriber.js";

/*
 * A client has what it asks for by name only once it got it. The set that it acknowledged may hold the same already, since others ask for that: so names that it asks for anew are
 * remembered until it acknowledged what brings them. What is worked out here is shared by clients that ask for the same.
 */

/** Notes which of these names a client did not ask for before. */
export function noteAsked(subscriber: Subscriber, names: Iterable<ResourceName>, before: Subscription): void {
  const { acked, lastSent, subscription } = subscriber;
  if (subscriber.justAsked !== noneAsked) {
    const dropped = NameSet.of(before.names.notIn(subscription.names));
    if (dropped.size > 0) forget(subscriber, () => dropped);
  }
  // It has nothing yet, and what it is sent first it is sent with these.
  if (before.wildcard || (acked === undefined && lastSent === undefined)) return;
  const added: ResourceName[] = [];
  for (const name of names) if (!before.names.has(name) && subscription.names.has(name)) added.push(name);
  if (added.length === 0) return;
  const { justAsked } = subscriber;
  const part = { names: NameSet.of(added), after: lastSent?.count ?? 0 };
  subscriber.justAsked = { names: justAsked.names.with(part.names), parts: withPart(justAsked.parts, part) };
}

/**
 * A client that does not answer makes ever more parts. Those between the same responses are one, and so are the first two beyond as many as responses are remembered of: they count
 * as asked for when the later one was.
 */
function withPart(parts: JustAsked["parts"], part: AskedPart): JustAsked["parts"] {
  const last = parts.at(-1);
  if (last?.after === part.after) return [...parts.slice(0, -1), joined(last, part)];
  const [first, second, ...others] = parts;
  if (first === undefined || second === undefined || parts.length < mostOutstanding) return [...parts, part];
  return [joined(first, second), ...others, part];
}

function joined(earlier: AskedPart, later: AskedPart): AskedPart {
  return { names: earlier.names.with(later.names), after: later.after };
}

/** The client answered some of the responses that were outstanding `before`: what they carried it has, unless it rejected that. */
export function noteHeard(subscriber: Subscriber, before: readonly Sent[]): void {
  if (subscriber.justAsked === noneAsked) return;
  const { outstanding, owed, instead } = subscriber;
  for (const sent of before) {
    if (outstanding.includes(sent)) continue;
    const { carried, count } = sent;
    const taken = instead.size === 0 ? carried : carried.filter(({ key }) => !instead.has(key));
    forget(subscriber, ({ names, after }) => (count > after ? broughtBy(names, taken) : NameSet.empty));
  }
  if (outstanding.length > 0) return;
  // Of responses that were sent too long ago it is not known that they are answered.
  const open = instead.size === 0 ? owed : owed.with(instead.keys());
  forget(subscriber, ({ names }) => names.without(open));
}

/** `heard`: what is to be forgotten of a part, and perhaps other names. */
function forget(subscriber: Subscriber, heard: (part: AskedPart) => NameSet): void {
  let { names } = subscriber.justAsked;
  const still: AskedPart[] = [];
  let isOther = false;
  for (const part of subscriber.justAsked.parts) {
    const gone = heard(part);
    const left = part.names.without(gone);
    if (left !== part.names) {
      isOther = true;
      // A name is in one part only.
      names = names.without(part.names.size === left.size + gone.size ? gone : part.names.notIn(left));
    }
    if (left.size > 0) still.push(left === part.names ? part : { names: left, after: part.after });
  }
  if (isOther) subscriber.justAsked = still.length === 0 ? noneAsked : { names, parts: still };
}

/** Names that stand for something among these resources. Of collections and locators it is not told apart what they bring. */
const broughtBy = perPair((names: NameSet, carried: readonly Resource[]): NameSet => {
  if (names.hasCollections || names.hasLocators) return names;
  const brought: ResourceName[] = [];
  for (const { key, aliases } of carried) {
    for (const name of [key, ...aliases.map(canonicalName)]) if (names.has(name)) brought.push(name);
  }
  return NameSet.of(brought);
});

/** Those of a client's names that it does not only just ask for. */
export function namesHeard({ justAsked, subscription }: Subscriber): NameSet {
  return justAsked === noneAsked ? subscription.names : othersThan(subscription.names, justAsked.names).names;
}

/** What the client has of a set that it acknowledged: without what it has only just asked for. */
export function hadOf({ justAsked, subscription }: Subscriber, set: ResourceSet): ResourceSet {
  if (justAsked === noneAsked || subscription.wildcard) return set;
  return withoutAsked(set, othersThan(subscription.names, justAsked.names));
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
