import { XdskitError } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";
import type { LayerChange } from "../configuration/layers.js";
import { checkCall } from "../configuration/option-tables.js";
import type { ConfigArrival, ConfigArrivalOutcome, NodeSelection } from "../contracts/arrival.js";
import type { Events } from "../contracts/events.js";
import { isOpen, type LedgerStream, type OpenStream } from "../node-status/ledger-stream.js";
import { faultsOf, matcherOf } from "../settings/node-match.js";
import { countStandings } from "./arrival-count.js";
import {
  type Changed,
  changedBy,
  type LookedAt,
  type Standing,
  standingOf,
  standingOfNode,
} from "./arrival-standing.js";
import { ArrivalWaiter } from "./arrival-waiter.js";
import { StandingsOfChange } from "./changed-keys.js";

/** The changes that programs can wait for. */
export interface Arrivals {
  /** Of the last change that made a difference. */
  readonly revision: number;
  /** Counts a change that made a difference, before it is published; returns its revision. */
  begin(changes: readonly LayerChange[]): number;
  /** Returns the arrival of a change; `change` undefined: it made no difference. */
  of(revision: number, change: LayerChange | undefined): ConfigArrival;
  /** Call this when a stream may have moved. Costs nothing while no caller waits. */
  progressed(stream: LedgerStream): void;
  /** A stream is over. */
  left(stream: LedgerStream, nodeId: string): void;
  /** The server closes: ends all waiting. */
  close(): void;
}

/** `awaits` is called before the first caller waits for streams, and after the last one has stopped. */
export function createArrivals(
  streams: Iterable<LedgerStream>,
  clock: Clock,
  events: Events,
  awaits: (isAwaited: boolean) => void = () => {},
): Arrivals {
  let revision = 0;
  let closed = false;
  const waiters = new Set<ArrivalWaiter>();

  function chosen(nodes: NodeSelection | undefined): readonly OpenStream[] {
    const isChosen = choiceOf(nodes);
    return [...streams].filter(isOpen).filter(({ opened }) => isChosen(opened.node));
  }

  function arrivalOf(own: number, changed: Changed | undefined): ConfigArrival {
    const isNewest = () => own === revision;
    return {
      revision: own,
      status(options = {}) {
        checkCall("arrival.status", options);
        const { nodes } = options;
        if (changed === undefined) return countStandings(own, []);
        const look: LookedAt = { standings: new StandingsOfChange(changed.keys), isNewest, later: () => undefined };
        const byNode = new Map<string, Standing[]>();
        for (const stream of chosen(nodes)) {
          const { id } = stream.opened.node;
          const standing = standingOf(stream, changed, look, clock);
          const known = byNode.get(id);
          if (known === undefined) byNode.set(id, [standing]);
          else known.push(standing);
        }
        return countStandings(own, Array.from(byNode.values(), standingOfNode));
      },
      async done(options = {}) {
        checkCall("arrival.done", options);
        const { nodes, timeout = Number.POSITIVE_INFINITY } = options;
        const awaited = chosen(nodes);
        const outcome = await new Promise<ConfigArrivalOutcome>((resolve) => {
          const waiter = new ArrivalWaiter({
            revision: own,
            changed,
            isNewest,
            clock,
            ended(outcome) {
              if (waiters.delete(waiter) && waiters.size === 0) awaits(false);
              events.emit(() => ({ kind: "configuration-arrived", outcome }));
              resolve(outcome);
            },
          });
          if (!closed && waiters.add(waiter).size === 1) awaits(true);
          waiter.start(changed === undefined ? [] : awaited, isIds(nodes) ? nodes : []);
          if (closed) waiter.end("closed");
          else waiter.limit(timeout);
        });
        return outcome;
      },
    };
  }

  return {
    begin(changes) {
      revision += 1;
      for (const waiter of waiters) waiter.superseded(changes);
      return revision;
    },
    get revision() {
      return revision;
    },
    of: (own, change) => arrivalOf(own, change && changedBy(change)),
    progressed(stream) {
      if (waiters.size === 0) return;
      for (const waiter of waiters) if (isOpen(stream)) waiter.progressed(stream);
    },
    left(stream, nodeId) {
      for (const waiter of waiters) waiter.left(stream, nodeId);
    },
    close() {
      closed = true;
      for (const waiter of waiters) waiter.end("closed");
    },
  };
}

function choiceOf(nodes: NodeSelection | undefined): (node: Node) => boolean {
  if (nodes === undefined) return () => true;
  if (typeof nodes === "function") return nodes;
  if (isIds(nodes)) {
    const ids = new Set(nodes);
    return ({ id }) => ids.has(id);
  }
  const [fault] = faultsOf(nodes);
  // It would match no node, and all would seem to be done.
  if (fault !== undefined) throw XdskitError.of("XDSKIT_GROUP_INVALID", fault, { field: "nodes" });
  return matcherOf(nodes);
}

function isIds(nodes: NodeSelection | undefined): nodes is readonly string[] {
  return Array.isArray(nodes);
}
