import type { ApiVersion, Reference, Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { noSubscription, type Subscription } from "../../model/subscription.js";
import type { ResourceError } from "../../wire/responses.js";
import type { UsualAnswer } from "../../wire/usual-answer.js";
import { type Assumption, noneInFlight, nothingUsed, type Sent, type UsedState } from "./client-use.js";
import { nothingSent, type SentState } from "./sent-state.js";

/** What is remembered of a client that is told TTLs, for one type of which something has one. */
export interface Lifetimes {
  /**
   * Resources that need a heartbeat this often, or more often, are to have one; milliseconds, 0 for none. Latest wins:
   * a slow client gets one, not ten.
   */
  due: number;
  /** Everything was sent since the last beat, and so all TTLs started anew. */
  refreshed: boolean;
  /** What was sent last in a response that was rejected, as `identityOf` names it. */
  rejected: NameSet;
  /** A heartbeat without bodies was rejected: it gets them with bodies. */
  whole: boolean;
}

/**
 * What one change of listeners replaced or removed; the same object for all clients that were brought from the one set
 * to the other.
 */
export interface Replaced {
  /** As they were: each named something that what took its place does not name. */
  readonly listeners: readonly Resource[];
  /** What they named and what took their place does not. */
  readonly dropped: readonly Reference[];
  /** What the listeners name that took their place. */
  readonly successors: readonly Reference[];
}

/**
 * Listeners that were replaced or removed, while they still serve connections (`draining.ts`). Times are in
 * milliseconds.
 */
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
 * By key, removed resources that stay, since the client asks for them by name (`grace-period.ts`). `until`: at most
 * until then, in milliseconds; undefined while something that the client may be using names them.
 */
export type GracePeriods = Map<ResourceName, { readonly resource: Resource; until: number | undefined }>;

/**
 * What is remembered of one client and one type on one stream: what it asked for, and two immutable values, what it was
 * sent and what it uses. Streams whose clients stand at equal values share those (`cohorts/`); all else here is the
 * stream's own: the numbers, nonces and times of its responses, and what most clients never need.
 */
export interface Subscriber {
  readonly type: ResourceType;
  /** Of the type URL that the client asked with, whichever API the stream has. */
  readonly api: ApiVersion;
  /** Each response is the full state (SotW LDS, CDS …), so that an acknowledgement is one of everything. */
  isWhole: boolean;
  subscription: Subscription;
  sent: SentState;
  used: UsedState;
  /** Set where a client did not answer in time: then `used` says more than the client did. */
  assumed: Assumption | undefined;
  /** The response that was acknowledged last, and when; milliseconds of the machine's time. */
  ackedLast: { readonly version: Version; readonly order: number; readonly at: number } | undefined;
  /** Sent and not answered yet, oldest first. A silent client must not cost memory. */
  inFlight: readonly Sent[];
  lastSent: Sent | undefined;
  /** Names that it asked for after it had others, until it acknowledged what brings them (`unconfirmed-names.ts`). */
  unconfirmed: UnconfirmedNames;
  /** The pending names that are counted (`HeldMemory`): as of the client's last request. */
  pendingCounted: NameSet;
  /** The client understands what is said about variants: it names resources by locators. */
  tellsVariants: boolean;
  /** SotW: no name of the subscription was answered yet, so that the client must still be told what is missing. */
  unanswered: boolean;
  /** Why names are absent, as far as somebody said so and the client was not told. */
  errors: ReadonlyMap<ResourceName, ResourceError>;
  /** Undefined as long as it got nothing with a TTL. */
  lifetimes: Lifetimes | undefined;
  draining: readonly Draining[];
  grace: GracePeriods | undefined;
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

/**
 * Whether the time of something that drains is over, though nobody looked at it since. Asked for each response, and
 * mostly nothing drains.
 */
export function someHaveDrained(subscribers: readonly Subscriber[], now: number): boolean {
  for (const { draining } of subscribers) {
    if (draining.length === 0) continue;
    for (const { until } of draining) if (until !== undefined && until <= now) return true;
  }
  return false;
}

/** Names that a client asked for after it had others, and of which it acknowledged nothing yet. */
export interface UnconfirmedNames {
  readonly names: NameSet;
  /** The same, with the `count` of the last response of the type that had been sent when it asked. */
  readonly parts: readonly UnconfirmedPart[];
}

/** Names that it asked for at one time. */
export interface UnconfirmedPart {
  readonly names: NameSet;
  readonly after: number;
}

export const noneUnconfirmed: UnconfirmedNames = { names: NameSet.empty, parts: [] };

/** Of clients of which nothing was said about absent names. */
export const noErrors: ReadonlyMap<ResourceName, ResourceError> = new Map();

/** Of clients that wait for no decision; never added to. */
export const noneUndecided: Set<ResourceName> = new Set();

/** A client that has and wants nothing yet. */
export function newSubscriber(type: ResourceType, api: ApiVersion): Subscriber {
  return {
    // Spelled out: a fleet that connects makes thousands, and spreading costs several times as much.
    type,
    api,
    isWhole: false,
    subscription: noSubscription,
    sent: nothingSent(type),
    used: nothingUsed,
    assumed: undefined,
    ackedLast: undefined,
    inFlight: noneInFlight,
    lastSent: undefined,
    unconfirmed: noneUnconfirmed,
    pendingCounted: NameSet.empty,
    tellsVariants: false,
    unanswered: false,
    errors: noErrors,
    lifetimes: undefined,
    draining: nothingDrains,
    grace: undefined,
    undecided: noneUndecided,
    seen: NameSet.empty,
    waitsFor: NameSet.empty,
    usual: undefined,
  };
}

/**
 * A list in delivery order with one more in its place. To sort it anew for each type of each stream takes long when a
 * fleet connects.
 */
export function inOrder<Kind extends Pick<Subscriber, "type">>(ordered: readonly Kind[], added: Kind): Kind[] {
  const behind = ordered.findIndex(({ type }) => type.deliveryOrder > added.type.deliveryOrder);
  if (behind < 0) return [...ordered, added];
  return [...ordered.slice(0, behind), added, ...ordered.slice(behind)];
}
