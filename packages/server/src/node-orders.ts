import { defaultOrderingTimes, type Node, Ordering, type OrderingTimes, orderingTimesFor } from "@xdskit/protocol";
import type { Method } from "./transport.js";

/**
 * Changes go out make before break: what is removed stays until nothing that the client may use names it any more (rule 120). How long that waits, in
 * milliseconds:
 */
export interface OrderingOptions {
  /** For a client to answer a response; then it goes on without. Default 15,000, as long as Envoy waits for a cluster to warm. */
  readonly acknowledgementMs: number;
  /** For connections to drain from a listener that was replaced or removed, at least. Default 2,000. */
  readonly lingerMs: number;
  /**
   * The same at most, which is to be Envoy's drain time (`--drain-time-s`): as long as the client asks by name for something that the listener named, or all that time where it never asked.
   * Not for gRPC's clients. Default 600,000.
   */
  readonly drainMs: number;
  /** For a client that asks by name to stop asking for what is removed. Default 5,000. */
  readonly namedMs: number;
}

/**
 * What a node lists in `client_features` that orders what it gets by itself, as a relay does for its own clients: on a stream over all types it is sent each change whole, in the order of
 * delivery; on streams of one type each, changes wait for its acknowledgements alone. To wait longer would only have those who come to it later given what was removed.
 */
export const ordersItself = "xdskit.orders-changes";

/** A stream's place in the order of its node. */
export interface OrderMembership {
  readonly ordering: Ordering;
  leave(): void;
}

/** The orders in which nodes are brought to what they are to have. */
export interface NodeOrders {
  /** A stream over all types has an order of its own; those per type of one node in one group share one. Undefined: the node orders what it gets itself. */
  join(method: Method, node: Node, group: string): OrderMembership | undefined;
}

/** Makes the orders; none, so that changes go out at once, where `options` is `false`. */
export function createNodeOrders(options: Partial<OrderingOptions> | false | undefined): NodeOrders | undefined {
  if (options === false) return undefined;
  const times = timesOf(options);
  const shared = new Map<string, { readonly ordering: Ordering; streams: number }>();
  return {
    join({ only }, node, group) {
      const isRelay = node.clientFeatures.includes(ordersItself);
      if (isRelay && only === undefined) return undefined;
      // Streams of one type each may overtake one another on the way: only what drains or is asked for is not waited for.
      const own = isRelay ? { ...times, linger: 0, drain: 0, named: 0 } : orderingTimesFor(node, times);
      const create = () => new Ordering(own);
      if (only === undefined) return { ordering: create(), leave() {} };
      const key = JSON.stringify([group, node.id]);
      const known = shared.get(key) ?? { ordering: create(), streams: 0 };
      shared.set(key, known);
      known.streams += 1;
      return {
        ordering: known.ordering,
        leave() {
          known.streams -= 1;
          if (known.streams === 0) shared.delete(key);
        },
      };
    },
  };
}

function timesOf({ acknowledgementMs, lingerMs, drainMs, namedMs }: Partial<OrderingOptions> = {}): OrderingTimes {
  return {
    acknowledgement: acknowledgementMs ?? defaultOrderingTimes.acknowledgement,
    linger: lingerMs ?? defaultOrderingTimes.linger,
    drain: drainMs ?? defaultOrderingTimes.drain,
    named: namedMs ?? defaultOrderingTimes.named,
  };
}
