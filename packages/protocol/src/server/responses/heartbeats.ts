import { beatInterval } from "../../model/basics/beat.js";
import { NameSet } from "../../model/names/name-set.js";
import { ResourceSets } from "../../model/sets/resource-set.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { ResponseHead } from "../../wire/responses/responses.js";
import { identityOf, perishable } from "../acknowledgements/lifetimes.js";
import { subscribed } from "../state/find.js";
import type { Subscriber } from "../state/subscriber.js";
import type { Content, ResponseNeed } from "./content.js";
import { headOf } from "./outgoing.js";
import type { ReportedDetails } from "./reported-details.js";
import { type ResponseMaker, type SharedResponse, share } from "./shared-responses.js";

/**
 * The need for a heartbeat of a client that holds `current` and waits for no names. Streams with equal needs get the
 * same bytes.
 */
interface HeartbeatNeed extends ResponseNeed {
  /** Resources that need a heartbeat at least this often get one; milliseconds. */
  readonly interval: number;
  /** Contents that the client rejected: they get no heartbeat, since the client does not hold them. */
  readonly rejected: NameSet;
  /** The heartbeat has bodies. */
  readonly whole: boolean;
}

/** The fields of a need for a client that holds everything and waits for no names. */
const allSent = { everything: false, pending: NameSet.empty, mustAnswer: false, absenceUnreported: false } as const;

/** The heartbeat that restarts a client's TTLs, if one is due. Only for a client that holds its whole target. */
export function heartbeatOf(
  maker: ResponseMaker & { readonly sotwOrDelta: SotwOrDelta },
  subscriber: Subscriber,
  reports: ReportedDetails,
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
  subscriber.lifetimes = { ...lifetimes, due: 0 };
  const { sotwOrDelta } = maker;
  // Envoy on the wire, 3: in SotW, heartbeats without a body do not reach Envoy's timers, and gRPC's clients reject
  // them.
  const whole = lifetimes.whole || sotwOrDelta === "sotw";
  const need = {
    ...allSent,
    sotwOrDelta,
    api,
    subscription,
    sentSet,
    current: sentSet,
    tellsVariants,
    interval,
    rejected,
    whole,
  };
  return sharedHeartbeat(maker, need, headOf(subscriber, sentSet, reports));
}

/** The heartbeat for a need, worked out and encoded once for all streams. Undefined if no resource needs one. */
function sharedHeartbeat(maker: ResponseMaker, need: HeartbeatNeed, head: ResponseHead): SharedResponse | undefined {
  const { sotwOrDelta, api, current, subscription, interval, rejected, whole } = need;
  const which = `${ResourceSets.id(current)} ${subscription.names.id} ${subscription.wildcard}`;
  const key = `beat${sotwOrDelta}${api} ${which} ${interval} ${rejected.id} ${whole} ${need.tellsVariants} ${subscription.parameters ?? ""}`;
  // A whole set that is sent again has the same bytes as its first response.
  const bodyKey = () => (isFullState(need) ? maker.bodyKey(need, key) : key);
  return share(maker, head, key, () => contentOf(need), bodyKey);
}

/**
 * Rules 131 and 132: only the resources with a TTL, without bodies. Envoy on the wire, 3: in SotW with their bodies.
 * For full-state types everything subscribed, since a resource that is left out counts as removed.
 */
function contentOf(need: HeartbeatNeed): Content | undefined {
  const { current, subscription, interval, rejected, whole } = need;
  const perishables = perishable(need.subscription, need.current);
  const fits = perishables.filter((resource) => rejected.size === 0 || !rejected.has(identityOf(resource)));
  const due = fits.filter(({ ttl }) => ttl !== undefined && beatInterval(ttl) <= interval);
  if (due.length === 0) return undefined;
  if (!isFullState(need)) {
    return whole ? { ...nothing, resources: due } : { ...nothing, heartbeats: due };
  }
  // Rule 17: it would send rejected contents again.
  if (fits.length < perishables.length) return undefined;
  return { ...nothing, resources: subscribed(subscription, current) };
}

const nothing: Content = { resources: [], removed: [], unresolved: [], fresh: [] };

function isFullState({ sotwOrDelta, current }: ResponseNeed): boolean {
  return sotwOrDelta === "sotw" && current.type.fullState;
}
