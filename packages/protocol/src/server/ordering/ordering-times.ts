import { clientKindOf } from "../../model/client-kind.js";
import type { Node } from "../../model/node.js";

/** How long an order waits, in milliseconds. */
export interface OrderingTimes {
  /** For a client to answer. Default 15,000. */
  readonly acknowledgement: number;
  /** For connections to drain after what replaces a listener is in use, at least. Default 2,000. */
  readonly linger: number;
  /**
   * The same, at most: as long as Envoy drains a listener (`--drain-time-s`). Default 600,000. What is below `linger`
   * is as much as that.
   */
  readonly drain: number;
  /** For a client to stop asking for what is removed, after nothing that it uses names it. Default 5,000. */
  readonly named: number;
}

/** The times of `ordering` in docs/settings.md. */
export const defaultOrderingTimes: OrderingTimes = {
  acknowledgement: 15_000,
  linger: 2_000,
  drain: 600_000,
  named: 5_000,
};

/**
 * The times for one client. gRPC's clients, and clients made with `@xdskit/client`, serve nobody by their listeners:
 * with them nothing drains longer than `linger`. Every other client may be a proxy that serves by old listeners as long
 * as Envoy does, whatever it calls itself: to keep something too long harms nobody, to remove it too early fails
 * requests.
 */
export function orderingTimesFor(
  node: Pick<Node, "userAgentName">,
  times: OrderingTimes = defaultOrderingTimes,
): OrderingTimes {
  const servesNobody = clientKindOf(node) === "grpc" || node.userAgentName === "xdskit";
  return servesNobody ? { ...times, drain: times.linger } : times;
}

/**
 * Per-type streams: how long, in milliseconds, after a client acknowledged a cluster it may still ask for the load
 * assignment on another stream. It asks as it takes the cluster, before it acknowledges that (Envoy on the wire, 1),
 * but connections may be of different speed. A client that has not asked by then will not.
 */
export const askingTime = 1_000;
