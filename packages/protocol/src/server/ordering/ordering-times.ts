import { clientKindOf } from "../../model/basics/client-kind.js";
import type { Node } from "../../model/basics/node.js";

/** The times that an order waits, in milliseconds. */
export interface OrderingTimes {
  /** The wait for a client's answer. Default 15,000. */
  readonly acknowledgement: number;
  /** The least wait for connections to drain, after a listener's replacement is in use. Default 2,000. */
  readonly linger: number;
  /**
   * The longest such wait: as long as Envoy drains a listener (`--drain-time-s`). Default 600,000. A value below
   * `linger` counts as `linger`.
   */
  readonly drain: number;
  /**
   * The wait for a client to unsubscribe from a removed resource, after nothing that it uses names it. Default 5,000.
   */
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
 * The times for one client. gRPC's clients and clients made with `@xdskit/client` serve nobody with their listeners, so
 * nothing drains longer than `linger`. Every other client may be a proxy that serves with old listeners as long as
 * Envoy does, whatever its name is. To keep a resource too long harms nobody; to remove it too early fails requests.
 */
export function orderingTimesFor(
  node: Pick<Node, "userAgentName">,
  times: OrderingTimes = defaultOrderingTimes,
): OrderingTimes {
  const servesNobody = clientKindOf(node) === "grpc" || node.userAgentName === "xdskit";
  return servesNobody ? { ...times, drain: times.linger } : times;
}

/**
 * Per-type streams: how long after the acknowledgement of a cluster, in milliseconds, the request for its load
 * assignment may arrive on another stream. The client sends that request before it acknowledges the cluster (Envoy on
 * the wire, 1), but connections may differ in speed. A client that has not asked by then will not ask.
 */
export const askingTime = 1_000;

/**
 * Per-type streams: how long after one of a client's streams broke or came back, in milliseconds, others may still come
 * back. Envoy waits up to 30 seconds between two attempts.
 */
export const comingBackTime = 60_000;
