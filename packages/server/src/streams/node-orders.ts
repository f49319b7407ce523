import { maxNamesKept } from "@xdskit/api";
import {
  defaultOrderingTimes,
  type Node,
  Ordering,
  type OrderingTimes,
  orderingTimesFor,
  type PastSnapshots,
  type StageWaited,
} from "@xdskit/protocol";
import { dropOldest } from "../basics/maps.js";
import type { Method } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
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
  /** False if the node went without having asked for clusters: it need not be waited for. */
  readonly mayAskForClusters: boolean;
  /** `hasNoClusters`: the client of a stream over all types has shown that it asks for none. */
  leave(hasNoClusters: boolean): void;
}

/** Whose order it is: another caller that claims the same id must not hold the node back. */
export interface OrderedNode {
  readonly caller: Pick<Caller, "owner">;
  readonly node: Node;
  readonly group: string;
}

/** The order of a node's streams of one type each. */
interface SharedOrder {
  readonly ordering: Ordering;
  streams: number;
  /** Whether one of its streams, open or not, was for clusters. */
  hasClusters: boolean;
  /** Of the newest stream: the group may have other layers since the first one joined. */
  past: () => PastSnapshots;
}

/** The orders in which nodes reach their targets. */
export interface NodeOrders {
  readonly isOff: boolean;
  /** Streams that are open keep their orders, with other times. A wait that has begun keeps its end. */
  change(options: Partial<OrderingOptions> | false | undefined): void;
  /**
   * A stream over all types has its own order; streams of one type each of a node in one group share one. Undefined
   * if the node orders changes by itself, or if nothing is ordered. `past`: what clients of the group may still have.
   */
  join(method: Method, member: OrderedNode, past: () => PastSnapshots): OrderMembership | undefined;
}

/**
 * Makes the orders; if `options` is `false`, changes go out at once. `waited` gets the times for which types waited.
 */
export function createNodeOrders(
  options: Partial<OrderingOptions> | false | undefined,
  waited?: StageWaited | undefined,
): NodeOrders {
  let isOff = options === false;
  // Orders read these each time: they follow a change of the settings.
  const times = timesOf(options || undefined);
  const timesOfRelays = ofRelays(times);
  const timesWithoutDrain = { ...times };
  const shared = new Map<string, SharedOrder>();
  /** Nodes that went without ever having asked for clusters: when they come back, that is not awaited. */
  const withoutClusters = new Set<string>();
  const rememberWithout = (key: string) => dropOldest(withoutClusters.add(key), maxNamesKept);
  const create = (node: Node, isRelay: boolean, past?: () => PastSnapshots, mayAskForMore?: boolean) => {
    if (isRelay) return new Ordering(timesOfRelays, waited);
    const own = orderingTimesFor(node, times);
    return new Ordering(own === times ? times : Object.assign(timesWithoutDrain, own), waited, past, mayAskForMore);
  };
  return {
    get isOff(): boolean {
      return isOff;
    },
    change(options: Partial<OrderingOptions> | false | undefined): void {
      isOff = options === false;
      Object.assign(times, timesOf(options || undefined));
      Object.assign(timesOfRelays, ofRelays(times));
      Object.assign(timesWithoutDrain, { ...times, drain: times.linger });
    },
    join({ only }, member, past): OrderMembership | undefined {
      const { node } = member;
      const isRelay = node.clientFeatures.includes(ordersItself);
      if (isOff || (isRelay && only === undefined)) return undefined;
      if (only === undefined) {
        // Mostly no such node is known, and no stream of a fleet that connects makes its key.
        const mayAskForClusters = withoutClusters.size === 0 || !withoutClusters.delete(keyOf(member));
        const leave = (hasNoClusters: boolean) => {
          if (hasNoClusters) rememberWithout(keyOf(member));
        };
        return { ordering: create(node, isRelay), mayAskForClusters, leave };
      }
      const key = keyOf(member);
      const mayAskForClusters = !withoutClusters.delete(key);
      const known: SharedOrder = shared.get(key) ?? {
        ordering: create(node, isRelay, () => known.past(), mayAskForClusters),
        streams: 0,
        hasClusters: false,
        past,
      };
      shared.set(key, known);
      known.streams += 1;
      known.hasClusters ||= only.acknowledgedWarm;
      known.past = past;
      return {
        ordering: known.ordering,
        mayAskForClusters,
        leave() {
          known.streams -= 1;
          if (known.streams > 0 || shared.get(key) !== known) return;
          shared.delete(key);
          if (!known.hasClusters) rememberWithout(key);
        },
      };
    },
  };
}

function keyOf({ caller, node, group }: OrderedNode): string {
  return JSON.stringify([group, node.id, caller.owner]);
}

/**
 * Streams of one type each may overtake one another in the network: only drains and requested names are not waited
 * for.
 */
function ofRelays(times: OrderingTimes): OrderingTimes {
  return { ...times, linger: 0, drain: 0, named: 0 };
}

function timesOf({ acknowledgementMs, lingerMs, drainMs, namedMs }: Partial<OrderingOptions> = {}): OrderingTimes {
  return {
    acknowledgement: acknowledgementMs ?? defaultOrderingTimes.acknowledgement,
    linger: lingerMs ?? defaultOrderingTimes.linger,
    drain: drainMs ?? defaultOrderingTimes.drain,
    named: namedMs ?? defaultOrderingTimes.named,
  };
}
