import type { ApiVersion, Reference, Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { ResourceError } from "../messages/responses.js";
import type { UsualAnswer } from "../messages/usual-answer.js";
import { NameSet } from "../name-set.js";
import { emptyResourceSet, type ResourceSet, ResourceSets } from "../resource-set.js";
import { noSubscription, type Subscription } from "../subscription.js";
import { type Holding, noKeys, none, noneTaken, nothing, type Sent } from "./client-use.js";

/** What is remembered of a client that is told TTLs, for one type of which something has one. */
export interface Lifetimes {
  /** Resources that need a heartbeat this often, or more often, are to have one; milliseconds, 0 for none. Latest wins: a slow client gets one, not ten. */
  due: number;
  /** Everything was sent since the last beat, and so all TTLs started anew. */
  refreshed: boolean;
  /** What was sent last in a response that was rejected, as `identityOf` names it. */
  rejected: NameSet;
  /** A heartbeat without bodies was rejected: it gets them with bodies. */
  whole: boolean;
}

/** What one change of listeners replaced or removed; the same object for all clients that were brought from the one set to the other. */
export interface Replaced {
  /** As they were: each named something that what took its place does not name. */
  readonly listeners: readonly Resource[];
  /** What they named and what took their place does not. */
  readonly dropped: readonly Reference[];
  /** What the listeners name that took their place. */
  readonly successors: readonly Reference[];
}

/** Listeners that were replaced or removed, while they still serve connections (`draining.ts`). Times are in milliseconds. */
export interface Draining {
  readonly what: Replaced;
  /** The client asks by name for something that the old ones named: it will say when they are gone. */
  isAsked: boolean;
  /** When the new ones were acknowledged. */
  readonly since: number;
  /** Since when all that the new ones name is in use: only then are the old ones told to drain. */
  begun: number | undefined;
  /** From when on nothing uses the old ones any more; undefined until they are told to drain. */
  until: number | undefined;
}

/** Of a client with which nothing drains; never added to. */
export const nothingDrains: readonly Draining[] = [];

/**
 * By key, removed resources that stay, since the client asks for them by name (`yielding.ts`). `until`: at most until then, in milliseconds; undefined while something that the client
 * may be using names them.
 */
export type Yielding = Map<ResourceName, { readonly resource: Resource; until: number | undefined }>;

/**
 * What one client asked for and got of one type on one stream. It is a cursor, not a copy: the client was sent everything that it is subscribed to as it is in the set `held`, but for
 * what is `owed`. What it is known to use, which acknowledgements say, is `acked` (`Holding`).
 *
 * So a client that is slow gets one composed change. And a rejected content is not sent again, since it counts as held, but whatever comes after it is, the content before it too
 * (rules 17–19; Envoy on the wire, 10).
 */
export interface Subscriber extends Holding {
  readonly type: ResourceType;
  /** Of the type URL that the client asked with, whichever API the stream has. */
  readonly api: ApiVersion;
  subscription: Subscription;
  /** The set that the client was brought to, by responses or since there was nothing to say. */
  held: ResourceSet;
  /** All that it is subscribed to must be sent with the next response, also what it holds. */
  everything: boolean;
  /** Names that must be answered with the next response, also those that it holds. */
  owed: NameSet;
  /** What is counted as owed (`HeldMemory`): as of the client's last request. */
  owedCounted: NameSet;
  /** Names that it asked for after it had others, until it acknowledged what brings them (`just-asked.ts`). */
  justAsked: JustAsked;
  /** The client waits for a response, even one without resources. */
  mustAnswer: boolean;
  lastSent: Sent | undefined;
  /** The client understands what is said about variants: it names resources by locators. */
  tellsVariants: boolean;
  /** SotW: no name of the subscription was answered yet, so that what is missing is still to be told. */
  unanswered: boolean;
  /** Why names are absent, as far as somebody said so and the client was not told. */
  errors: ReadonlyMap<ResourceName, ResourceError>;
  /** Undefined as long as it got nothing with a TTL. */
  lifetimes: Lifetimes | undefined;
  draining: readonly Draining[];
  yielding: Yielding | undefined;
  /** Named by the client, missing, and neither there nor absent yet. Only of types that are supplied on demand. */
  undecided: Set<ResourceName>;
  /** Those undecided names that were there in the newest snapshot. */
  seen: NameSet;
  /** Those undecided names that a response with the full state waits for. */
  waitsFor: NameSet;
  /** How the client acknowledges, as long as it asks for the same; undefined where it is not known. */
  usual: UsualAnswer | undefined;
}

/** Whether the client goes on to serve by something that was replaced. */
export function drains({ draining }: Subscriber): boolean {
  return draining.length > 0;
}

/** Whether the time of something that drains is over, though nobody looked at it since. Asked for each response, and mostly nothing drains. */
export function someHaveDrained(subscribers: readonly Subscriber[], now: number): boolean {
  for (const { draining } of subscribers) {
    if (draining.length === 0) continue;
    for (const { until } of draining) if (until !== undefined && until <= now) return true;
  }
  return false;
}

/** Names that a client asked for after it had others, and of which it acknowledged nothing yet. */
export interface JustAsked {
  readonly names: NameSet;
  /** The same, with the `count` of the last response of the type that had been sent when it asked. */
  readonly parts: readonly AskedPart[];
}

/** Names that it asked for at one time. */
export interface AskedPart {
  readonly names: NameSet;
  readonly after: number;
}

export const noneAsked: JustAsked = { names: NameSet.empty, parts: [] };

/** Of clients of which nothing was said about absent names. */
export const noErrors: ReadonlyMap<ResourceName, ResourceError> = new Map();

/** Of clients that wait for no decision; never added to. */
export const noneUndecided: Set<ResourceName> = new Set();

/** A client that has and wants nothing yet. */
export function newSubscriber(type: ResourceType, api: ApiVersion): Subscriber {
  return {
    // Spelled out: a fleet that connects makes thousands, and spreading costs several times as much.
    isWhole: false,
    acked: undefined,
    presumed: undefined,
    ackedLast: undefined,
    outstanding: none,
    rejection: undefined,
    instead: nothing,
    perhaps: noneTaken,
    faulty: noKeys,
    type,
    api,
    subscription: noSubscription,
    held: emptyResourceSet(type),
    everything: false,
    owed: NameSet.empty,
    owedCounted: NameSet.empty,
    justAsked: noneAsked,
    mustAnswer: false,
    lastSent: undefined,
    tellsVariants: false,
    unanswered: false,
    errors: noErrors,
    lifetimes: undefined,
    draining: nothingDrains,
    yielding: undefined,
    undecided: noneUndecided,
    seen: NameSet.empty,
    waitsFor: NameSet.empty,
    usual: undefined,
  };
}

/**
 * Has each set that is remembered of a client, perhaps for long, keep only what differs from the newest, and none of the sets in between. Mostly it is the newest, and there is nothing to do.
 */
export function shortenSets(subscriber: Subscriber, newest: ResourceSet | undefined): void {
  const { held, acked, presumed, outstanding, lastSent, rejection } = subscriber;
  if (held !== newest) ResourceSets.shorten(held);
  if (acked !== newest && acked !== undefined) ResourceSets.shorten(acked);
  // A client that no change concerns keeps its last response for ever.
  if (lastSent !== undefined && lastSent.set !== newest) ResourceSets.shorten(lastSent.set);
  if (outstanding.length > 0) for (const { set } of outstanding) if (set !== newest) ResourceSets.shorten(set);
  if (rejection !== undefined) shortenBoth(rejection.after, rejection.before, newest);
  if (presumed !== undefined) {
    const { set, said } = presumed;
    shortenBoth(set, said.acked, newest);
    if (said.rejection !== undefined) shortenBoth(said.rejection.after, said.rejection.before, newest);
  }
}

function shortenBoth(one: ResourceSet, other: ResourceSet | undefined, newest: ResourceSet | undefined): void {
  if (one !== newest) ResourceSets.shorten(one);
  if (other !== undefined && other !== newest) ResourceSets.shorten(other);
}

/** Nothing is to be sent as long as the snapshot has this very set. */
export function isUpToDate(subscriber: Subscriber, current: ResourceSet): boolean {
  return subscriber.held === current && subscriber.owed.size === 0 && !subscriber.everything && !subscriber.mustAnswer;
}

/** From now on the client holds what `current` has, and is owed only what is undecided. */
export function holdAll(subscriber: Subscriber, current: ResourceSet, owed: NameSet): void {
  subscriber.held = current;
  subscriber.everything = false;
  subscriber.owed = owed;
  subscriber.mustAnswer = false;
}

/** A list in delivery order with one more in its place. To sort it anew for each type of each stream takes long when a fleet connects. */
export function inOrder<Asker extends Pick<Subscriber, "type">>(ordered: readonly Asker[], added: Asker): Asker[] {
  const behind = ordered.findIndex(({ type }) => type.deliveryOrder > added.type.deliveryOrder);
  if (behind < 0) return [...ordered, added];
  return [...ordered.slice(0, behind), added, ...ordered.slice(behind)];
}
