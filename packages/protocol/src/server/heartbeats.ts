import type { Resource } from "@xdskit/api";
import { beatInterval } from "../beat.js";
import type { ResponseHead } from "../messages/responses.js";
import type { NameSet } from "../name-set.js";
import { ResourceSets } from "../resource-set.js";
import { wants } from "../variants.js";
import { type Content, type Need, subscribed } from "./content.js";
import { identityOf } from "./lifetimes.js";
import { type ResponseMaker, type SharedResponse, share } from "./shared-responses.js";

/** What a heartbeat is made for, of a client that holds `current` and is owed nothing. Streams with an equal need get the same bytes. */
export interface HeartbeatNeed extends Need {
  /** Resources that need a heartbeat this often, or more often, get one; milliseconds. */
  readonly interval: number;
  /** What the client rejected: it gets none, since it does not hold it. */
  readonly rejected: NameSet;
  /** With bodies. */
  readonly whole: boolean;
}

/** The heartbeat that is due, worked out and encoded once, whichever streams need it. Undefined: none is. */
export function sharedHeartbeat(
  maker: ResponseMaker,
  need: HeartbeatNeed,
  head: ResponseHead,
): SharedResponse | undefined {
  const { variant, api, current, subscription, interval, rejected, whole } = need;
  const which = `${ResourceSets.id(current)} ${subscription.names.id} ${subscription.wildcard}${subscription.parameters ?? ""}`;
  const key = `beat${variant}${api} ${which} ${interval} ${rejected.id} ${whole} ${need.tellsVariants}`;
  // The whole set again is the same bytes as the response that brought it.
  const bodyKey = () => (isFullState(need) ? maker.bodyKey(need, key) : key);
  return share(maker, head, key, () => contentOf(need), bodyKey);
}

/**
 * Rules 131 and 132: resources that have a TTL and no others, without bodies. Envoy on the wire, 3: in SotW with their bodies, and where responses
 * are full state all that is subscribed to, since what is left out would count as removed.
 */
function contentOf(need: HeartbeatNeed): Content | undefined {
  const { current, subscription, interval, rejected, whole } = need;
  const held = perishable(need);
  const fits = held.filter((resource) => rejected.size === 0 || !rejected.has(identityOf(resource)));
  const due = fits.filter(({ ttl }) => ttl !== undefined && beatInterval(ttl) <= interval);
  if (due.length === 0) return undefined;
  if (!isFullState(need)) {
    return whole ? { ...nothing, resources: due } : { ...nothing, heartbeats: due };
  }
  // Rule 17: it would send again what was rejected.
  if (fits.length < held.length) return undefined;
  return { ...nothing, resources: subscribed(subscription, current) };
}

const nothing: Content = { resources: [], removed: [], unresolved: [], fresh: [] };

function isFullState({ variant, current }: Need): boolean {
  return variant === "sotw" && current.type.fullState;
}

/** Those that are subscribed to and have a TTL. Costs the smaller of the two. */
function perishable({ subscription, current }: Need): readonly Resource[] {
  const all = ResourceSets.perishable(current);
  if (all === undefined) return [];
  if (subscription.wildcard || all.size < subscription.names.size) {
    return [...all].filter((resource) => wants(current, subscription, resource));
  }
  return subscribed(subscription, current).filter(({ ttl }) => ttl !== undefined);
}
