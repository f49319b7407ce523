import { beatInterval } from "../../model/beat.js";
import { NameSet } from "../../model/names/name-set.js";
import { ResourceSets } from "../../model/resource-set.js";
import type { ResponseHead } from "../../wire/responses.js";
import type { SotwOrDelta } from "../../wire/sotw-or-delta.js";
import { identityOf, perishable } from "../acknowledgements/lifetimes.js";
import { subscribed } from "../state/find.js";
import type { Subscriber } from "../state/subscriber.js";
import type { Content, Need } from "./content.js";
import { headOf } from "./outgoing.js";
import { type ResponseMaker, type SharedResponse, share } from "./shared-responses.js";
import type { Told } from "./told.js";

/**
 * What a heartbeat is made for, of a client that holds `current` and waits for no names. Streams with an equal need get
 * the same bytes.
 */
interface HeartbeatNeed extends Need {
  /** Resources that need a heartbeat this often, or more often, get one; milliseconds. */
  readonly interval: number;
  /** What the client rejected: it gets none, since it does not hold it. */
  readonly rejected: NameSet;
  /** With bodies. */
  readonly whole: boolean;
}

/** What the need of a client is that holds everything and waits for no names. */
const allSent = { everything: false, pending: NameSet.empty, mustAnswer: false, absenceUnsaid: false } as const;

/**
 * A heartbeat, which starts a client's TTLs anew, if one is due. Only for a client that holds all that it is to hold.
 */
export function heartbeatOf(
  maker: ResponseMaker & { readonly variant: SotwOrDelta },
  subscriber: Subscriber,
  told: Told,
): SharedResponse | undefined {
  const {
    api,
    subscription,
    lifetimes,
    tellsVariants,
    sent: { set: sentSet },
  } = subscriber;
  if (lifetimes === undefined || lifetimes.due === 0) return undefined;
  const { due: interval, rejected } = lifetimes;
  lifetimes.due = 0;
  const { variant } = maker;
  // Envoy on the wire, 3: heartbeats without a body do not reach its timers in SotW, and clients of gRPC reject them.
  const whole = lifetimes.whole || variant === "sotw";
  const need = {
    ...allSent,
    variant,
    api,
    subscription,
    sentSet,
    current: sentSet,
    tellsVariants,
    interval,
    rejected,
    whole,
  };
  return sharedHeartbeat(maker, need, headOf(subscriber, sentSet, told));
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
 * Rules 131 and 132: resources that have a TTL and no others, without bodies. Envoy on the wire, 3: in SotW with their
 * bodies, and where responses are full state all that is subscribed to, since what is left out would count as removed.
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
