import { beatInterval } from "../beat.js";
import type { ResponseHead } from "../messages/responses.js";
import { NameSet } from "../name-set.js";
import { ResourceSets } from "../resource-set.js";
import { type Content, type Need, subscribed } from "./content.js";
import type { Variant } from "./contract.js";
import { identityOf, perishable } from "./lifetimes.js";
import { headOf } from "./outgoing.js";
import { type ResponseMaker, type SharedResponse, share } from "./shared-responses.js";
import type { Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";

/** What a heartbeat is made for, of a client that holds `current` and is owed nothing. Streams with an equal need get the same bytes. */
interface HeartbeatNeed extends Need {
  /** Resources that need a heartbeat this often, or more often, get one; milliseconds. */
  readonly interval: number;
  /** What the client rejected: it gets none, since it does not hold it. */
  readonly rejected: NameSet;
  /** With bodies. */
  readonly whole: boolean;
}

/** What the need of a client is that holds everything and is owed nothing. */
const heldAll = { everything: false, owed: NameSet.empty, mustAnswer: false, absenceUnsaid: false } as const;

/** A heartbeat, which starts a client's TTLs anew, if one is due. Only for a client that holds all that it is to hold. */
export function heartbeatOf(
  maker: ResponseMaker & { readonly variant: Variant },
  subscriber: Subscriber,
  told: Told,
): SharedResponse | undefined {
  const { api, subscription, held, lifetimes, tellsVariants } = subscriber;
  if (lifetimes === undefined || lifetimes.due === 0) return undefined;
  const { due: interval, rejected } = lifetimes;
  lifetimes.due = 0;
  const { variant } = maker;
  // Envoy on the wire, 3: heartbeats without a body do not reach its timers in SotW, and clients of gRPC reject them.
  const whole = lifetimes.whole || variant === "sotw";
  const need = {
    ...heldAll,
    variant,
    api,
    subscription,
    held,
    current: held,
    tellsVariants,
    interval,
    rejected,
    whole,
  };
  return sharedHeartbeat(maker, need, headOf(subscriber, held, told));
}

/** The heartbeat for a need, worked out and encoded once for all streams. Undefined: no resource needs one. */
function sharedHeartbeat(maker: ResponseMaker, need: HeartbeatNeed, head: ResponseHead): SharedResponse | undefined {
  const { variant, api, current, subscription, interval, rejected, whole } = need;
  const which = `${ResourceSets.id(current)} ${subscription.names.id} ${subscription.wildcard}`;
  const key = `beat${variant}${api} ${which} ${interval} ${rejected.id} ${whole} ${need.tellsVariants} ${subscription.parameters ?? ""}`;
  // The whole set sent again has the same bytes as the response that brought it.
  const bodyKey = () => (isFullState(need) ? maker.bodyKey(need, key) : key);
  return share(maker, head, key, () => contentOf(need), bodyKey);
}

/**
 * Rules 131 and 132: resources that have a TTL and no others, without bodies. Envoy on the wire, 3: in SotW with their bodies, and where responses
 * are full state all that is subscribed to, since what is left out would count as removed.
 */
function contentOf(need: HeartbeatNeed): Content | undefined {
  const { current, subscription, interval, rejected, whole } = need;
  const held = perishable(need.subscription, need.current);
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
