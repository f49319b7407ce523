import type { ApiVersion, Reference, Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { noSubscription, type Subscription } from "../../model/subscribed/subscription.js";
import type { ClaimedVersions } from "../../wire/requests/claimed-versions.js";
import type { UsualAnswer } from "../../wire/requests/usual-answer.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import { type Exchange, nothingExchanged } from "./exchange.js";
import { nothingSent, type SentState } from "./sent-state.js";
import { noneUndecided, type UndecidedNames } from "./undecided-names.js";
import { type Assumption, nothingUsed, type UsedState } from "./used-state.js";

/** The machine's memory of a client that is told TTLs, for one type with such resources. */
export interface Lifetimes {
  /**
   * Resources that need a heartbeat at least this often must get one now; milliseconds, 0 for none. The latest value
   * wins: a slow client gets one heartbeat, not ten.
   */
  readonly due: number;
  /** Everything was sent since the last beat, so all TTLs started anew. */
  readonly refreshed: boolean;
  /** The contents whose last response was rejected, as `identityOf` names them. */
  readonly rejected: NameSet;
  /** The client rejected a heartbeat without bodies, so it gets heartbeats with bodies. */
  readonly whole: boolean;
}

/**
 * The listeners that one change replaced or removed. All clients that went from the one set to the other share the
 * object.
 */
export interface Replaced {
  /** The old listeners. Each named something that its successor does not name. */
  readonly old: readonly Resource[];
  /** What they led to. Only for a client that comes back, since it may ask for that on none of its streams yet. */
  readonly ledTo: readonly Resource[];
  /** The resources that the listeners named and their successors do not. */
  readonly dropped: readonly Reference[];
  /** The resources that their successors name. */
  readonly successors: readonly Reference[];
}

/**
 * Listeners that were replaced or removed, while they still serve connections (`draining.ts`). Times are in
 * milliseconds.
 *
 * Invariant: `begun`, `end` and `until` are all known or all undefined, and `since` ≤ `begun` ≤ `until` ≤ `end`.
 */
export interface Draining {
  readonly what: Replaced;
  /** The client asks by name for something that the old ones named. When they are gone, it will unsubscribe. */
  readonly isAsked: boolean;
  /** When the new ones were acknowledged. */
  readonly since: number;
  /** When everything that the new ones name came into use. Only then does the client drain the old ones. */
  readonly begun: number | undefined;
  /** When nothing uses the old ones any more, whatever the client asks for; undefined until they drain. */
  readonly end: number | undefined;
  /** The same, or sooner: the client has asked for what they named, and does not any more. */
  readonly until: number | undefined;
}

/** The list of a client with nothing that drains; never added to. */
export const nothingDrains: readonly Draining[] = [];

/** A removed resource that stays because the client asks for it by name (`grace-period.ts`). */
export interface GracePeriod {
  readonly resource: Resource;
  /** It stays at most until then, in milliseconds; undefined while something that the client may be using names it. */
  readonly until: number | undefined;
}

/** Grace periods by the key of the resource. */
export type GracePeriods = ReadonlyMap<ResourceName, GracePeriod>;

/**
 * The machine's memory of one client and one type on one stream: its subscription, and three immutable values, the
 * sent state, the used state and the exchange of responses and answers. Streams whose clients have equal values share
 * them (`cohorts/`). Everything else is what most clients never need.
 *
 * The lines with "always" hold after each event and each response: the tests' streams check them
 * (`testing/checked-stream.ts`), with the invariants of the values.
 */
export interface Subscriber {
  readonly type: ResourceType;
  /** The version in the type URL that the client asked with, whatever the stream's API is. */
  readonly api: ApiVersion;
  /**
   * Each response is the full state (SotW LDS, CDS …), so an acknowledgement is about everything. Always false for
   * types without `fullState`.
   */
  isWhole: boolean;
  subscription: Subscription;
  /** Always without `mustAnswer` for a type that the server does not know. */
  sent: SentState;
  /**
   * Always has a set once something was acknowledged. After the first response, that set is always `sent.set` while
   * nothing is in flight or rejected. Before it, nothing is rejected.
   */
  used: UsedState;
  /**
   * What a client that comes back said it has, one version for all or one for each, until that was compared. Always
   * before the first response, and `sent.set` is empty.
   */
  claimed: ClaimedVersions | Version | undefined;
  /**
   * Set if the client did not answer in time. Then `used` says more than the client did. Always while something is in
   * flight, and about no response after `lastSent`.
   */
  assumed: Assumption | undefined;
  /** Always `nothingExchanged` before the first response. */
  exchange: Exchange;
  /**
   * Names that it asked for after it had others, until it acknowledges the response with them (`unconfirmed-names.ts`).
   * Always a part of the subscription's names, asked for after no later response than `lastSent`.
   */
  unconfirmed: UnconfirmedNames;
  /** The client understands variants: it names resources by locators. */
  tellsVariants: boolean;
  /**
   * SotW: no name of the subscription was answered yet, so the client must still be told which resources are missing.
   */
  awaitsAbsences: boolean;
  /** Reasons for absent names that the client was not told yet. */
  errors: ReadonlyMap<ResourceName, ResourceError>;
  /** Undefined until it gets something with a TTL. */
  lifetimes: Lifetimes | undefined;
  /** Always `nothingDrains` if it is empty. */
  draining: readonly Draining[];
  /** Never empty. */
  grace: GracePeriods | undefined;
  /** Only for types supplied on demand. Always of names in the subscription. */
  undecided: UndecidedNames;
  /**
   * The form of the client's acknowledgements while its subscription stays the same; undefined if not known, as always
   * before the first response.
   */
  usual: UsualAnswer | undefined;
}

/** Whether the client may still serve with listeners that were replaced. */
export function drains({ draining }: Subscriber): boolean {
  return draining.length > 0;
}

/**
 * Whether the drain time of something is over and nobody has noticed yet. Called for each response, so it must be
 * cheap: mostly nothing drains.
 */
export function someHaveDrained(subscribers: readonly Subscriber[], now: number): boolean {
  for (const { draining } of subscribers) {
    if (draining.length === 0) continue;
    for (const { until } of draining) if (until !== undefined && until <= now) return true;
  }
  return false;
}

/**
 * Names that a client asked for after it had others, and whose resources it has not acknowledged yet.
 *
 * Invariant: each of the names is in exactly one part, and the parts have no others. Invariant: the parts are in the
 * order of `after`, at most `maxInFlight`. Clients without such names share `noneUnconfirmed`.
 */
export interface UnconfirmedNames {
  readonly names: NameSet;
  /** The same names, grouped by the `count` of the type's last response before the client asked. */
  readonly parts: readonly UnconfirmedPart[];
}

/** Names that a client asked for at one time. */
export interface UnconfirmedPart {
  readonly names: NameSet;
  readonly after: number;
}

export const noneUnconfirmed: UnconfirmedNames = { names: NameSet.empty, parts: [] };

/** The value of clients without errors of absent names. */
export const noErrors: ReadonlyMap<ResourceName, ResourceError> = new Map();

/** Makes the state of a client that has nothing and asks for nothing yet. */
export function newSubscriber(type: ResourceType, api: ApiVersion): Subscriber {
  return {
    // Every field is spelled out: a fleet that connects makes thousands, and a spread costs several times as much.
    type,
    api,
    isWhole: false,
    subscription: noSubscription,
    sent: nothingSent(type),
    used: nothingUsed,
    claimed: undefined,
    assumed: undefined,
    exchange: nothingExchanged,
    unconfirmed: noneUnconfirmed,
    tellsVariants: false,
    awaitsAbsences: false,
    errors: noErrors,
    lifetimes: undefined,
    draining: nothingDrains,
    grace: undefined,
    undecided: noneUndecided,
    usual: undefined,
  };
}

/**
 * Inserts one into a list in delivery order. Sorting the list for each type of each stream takes long when a fleet
 * connects.
 */
export function inOrder<Kind extends Pick<Subscriber, "type">>(ordered: readonly Kind[], added: Kind): Kind[] {
  const behind = ordered.findIndex(({ type }) => type.deliveryOrder > added.type.deliveryOrder);
  // Not by spreading: V8 gives such a list room for sixteen more.
  return ordered.toSpliced(behind < 0 ? ordered.length : behind, 0, added);
}
