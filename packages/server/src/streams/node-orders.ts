import { defaultOrderingTimes, type Node, Ordering, type OrderingTimes, orderingTimesFor } from "@xdskit/protocol";
import type { Method } from "../contracts/transport.js";
import type { OrderingOptions } from "../settings/ordering-options.js";

/**
 * A node with this in `client_features` orders changes by itself, as a relay does for its own clients. A stream over
 * all types is sent each change whole, in the order of delivery; on streams of one type each, changes wait only for
 * its acknowledgements. Waiting longer would only give removed resources to clients that come to it later.
 */
export const ordersItself = "xdskit.orders-changes";

/** A stream's place in the order of its node. */
export interface OrderMembership {
  readonly ordering: Ordering;
  leave(): void;
}

/** The orders in which nodes are brought to their targets. */
export type NodeOrders = NonNullable<ReturnType<typeof createNodeOrders>>;

/** Makes the orders; none, so that changes go out at once, where `options` is `false`. */
export function createNodeOrders(options: Partial<OrderingOptions> | false | undefined) {
  if (options === false) return undefined;
  const times = timesOf(options);
  const shared = new Map<string, { readonly ordering: Ordering; streams: number }>();
  return {
    /**
     * A stream over all types has an order of its own; streams of one type each of a node in one group share one.
     * Undefined: the node orders changes by itself.
     */
    join({ only }: Method, node: Node, group: string): OrderMembership | undefined {
      const isRelay = node.clientFeatures.includes(ordersItself);
      if (isRelay && only === undefined) return undefined;
      // Streams of one type each may overtake one another in the network: only drains and requested names are not
      // waited for.
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
