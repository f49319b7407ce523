import type { ApiVersion, ResourceName, ResourceType } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { type Subscription, wildcardName } from "../../model/subscribed/subscription.js";

/** A delta client's subscription to one type on one stream. */
export interface DeltaSubscription extends Subscription {
  /** It is v2's wildcard, which nothing ends (rule 50). */
  readonly sticky: boolean;
}

/** The change that one delta request makes to a subscription. */
export interface DeltaSubscriptionChange {
  readonly subscription: DeltaSubscription;
  /** Names that the next response must answer, whatever the client has (rules 86, 97, 98). */
  readonly pending: NameSet;
  /** Names that no longer need an answer. */
  readonly dropped: NameSet;
  /** The client asked for `*` by name, so everything must be sent (rules 52, 56). */
  readonly everything: boolean;
}

/**
 * Reads a request's names: first those that it subscribes to, then those that it unsubscribes from. If the first
 * request of a type on a stream has neither, it is the wildcard for types that say so (rules 51, 58).
 */
export function nextDeltaSubscription(
  before: DeltaSubscription | undefined,
  subscribe: NameSet,
  unsubscribe: NameSet,
  type: ResourceType,
  api: ApiVersion,
): DeltaSubscriptionChange {
  const { wildcard, names, sticky } = before ?? first(subscribe, unsubscribe, type, api);
  const asked = subscribe.without([wildcardName]);
  const grown = names.with(asked);
  const dropped = unsubscribe.without(absentFrom(grown, unsubscribe));
  const stays = sticky || ((wildcard || subscribe.has(wildcardName)) && !unsubscribe.has(wildcardName));
  const shrunk = grown.without(dropped);
  return {
    subscription: { wildcard: stays, names: shrunk, sticky },
    // Rules 97, 98: under a wildcard the client cannot know whether it keeps a resource that it no longer names.
    pending: stays ? asked.with(dropped) : asked.without(dropped),
    dropped: stays ? NameSet.empty : dropped,
    everything: stays && subscribe.has(wildcardName),
  };
}

function first(subscribe: NameSet, unsubscribe: NameSet, type: ResourceType, api: ApiVersion): DeltaSubscription {
  const wildcard = subscribe.size === 0 && unsubscribe.size === 0 && type.emptyFirstRequest === "wildcard";
  return { wildcard, names: NameSet.empty, sticky: wildcard && api === "v2" };
}

function* absentFrom(set: NameSet, names: NameSet): Iterable<ResourceName> {
  for (const name of names) if (!set.has(name)) yield name;
}
