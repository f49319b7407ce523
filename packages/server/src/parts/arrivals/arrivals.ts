import { type Clock, XdskitError } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import { checkServerCall } from "../../configuration/option-tables.js";
import type { Events } from "../../contracts/events.js";
import type { LayerChange } from "../../contracts/layer-change.js";
import type { ConfigArrival, ConfigArrivalOutcome, NodeArrival, NodeSelection } from "../../contracts/nodes/arrival.js";
import { isOpen, type OpenStream, type ReportedStream, streamsByNode } from "../../contracts/nodes/reported-stream.js";
import type { Progress } from "../../contracts/parts/progress.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import { faultsOf, matcherOf } from "../../settings/node-match.js";
import { countStandings } from "./arrival-count.js";
import {
  type ArrivalStanding,
  arrivalStandingOf,
  type ChangedLayer,
  changedBy,
  type LookedAt,
  standingOfNode,
} from "./arrival-standing.js";
import { ArrivalWaiter } from "./arrival-waiter.js";
import { StandingsOfChange } from "./changed-keys.js";

/** The changes that programs can wait for. */
export class Arrivals implements Progress {
  readonly #streams: Iterable<ReportedStream>;
  readonly #clock: Clock;
  readonly #events: Events;
  readonly #waiters = new Set<ArrivalWaiter>();
  #revision = 0;
  #closed = false;

  constructor(streams: Iterable<ReportedStream>, clock: Clock, events: Events) {
    this.#streams = streams;
    this.#clock = clock;
    this.#events = events;
  }

  published(revision: number, changes: readonly LayerChange[]): void {
    this.#revision = revision;
    for (const waiter of this.#waiters) waiter.superseded(changes);
  }

  /** Returns the arrival of a change; `change` undefined: it made no difference. */
  of(revision: number, change: LayerChange | undefined): ConfigArrival {
    const changed = change && changedBy(change);
    return {
      revision,
      status: (options = {}) => {
        checkServerCall("arrival.status", options);
        if (changed === undefined) return countStandings(revision, []);
        return countStandings(revision, new Map(this.#standings(revision, changed, options.nodes)).values());
      },
      nodes: (options = {}) => {
        checkServerCall("arrival.nodes", options);
        return new Map(changed && concerned(this.#standings(revision, changed, options.nodes)));
      },
      eachNode: (options = {}) => {
        checkServerCall("arrival.eachNode", options);
        return changed === undefined ? [] : concerned(this.#standings(revision, changed, options.nodes));
      },
      done: async (options = {}) => {
        checkServerCall("arrival.done", options);
        const { nodes, timeout = Number.POSITIVE_INFINITY } = options;
        return this.#arrived(revision, changed, nodes, timeout);
      },
    };
  }

  /** See `XdsServer.contentArrival`. */
  ofContents({ isReplaced = false, ...contents }: Parameters<XdsServer["contentArrival"]>[0]): ConfigArrival {
    // What was replaced is older than the newest change.
    return this.of(isReplaced ? this.#revision - 1 : this.#revision, contents);
  }

  /** Costs nothing while no caller waits. */
  progressed(stream: ReportedStream): void {
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) if (isOpen(stream)) waiter.progressed(stream);
  }

  left(stream: ReportedStream, nodeId: string): void {
    for (const waiter of this.#waiters) waiter.left(stream, nodeId);
  }

  /** The server closes: ends all waiting. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.end("closed");
  }

  #chosen(nodes: NodeSelection | undefined): readonly OpenStream[] {
    const isChosen = choiceOf(nodes);
    const chosen: OpenStream[] = [];
    for (const stream of this.#streams) if (isOpen(stream) && isChosen(stream.opened.node)) chosen.push(stream);
    return chosen;
  }

  /** The standing of each chosen node. */
  *#standings(
    revision: number,
    changed: ChangedLayer,
    nodes: NodeSelection | undefined,
  ): Iterable<readonly [id: string, standing: ArrivalStanding]> {
    this.#mustBeOpen();
    const look: LookedAt = {
      standings: new StandingsOfChange(changed.keys),
      isNewest: () => revision === this.#revision,
    };
    for (const [id, streams] of streamsByNode(this.#chosen(nodes))) {
      this.#mustBeOpen();
      const standings = streams.filter(isOpen).map((stream) => arrivalStandingOf(stream, changed, look, this.#clock));
      yield [id, standingOfNode(standings)];
    }
  }

  /** While the server closes its streams end: nodes that are not seen any more have acknowledged nothing. */
  #mustBeOpen(): void {
    if (this.#closed) throw XdskitError.of("XDSKIT_SERVER_CLOSED", "the server is closed");
  }

  #arrived(
    revision: number,
    changed: ChangedLayer | undefined,
    nodes: NodeSelection | undefined,
    timeout: number,
  ): Promise<ConfigArrivalOutcome> {
    const awaited = this.#chosen(nodes);
    return new Promise((resolve) => {
      const waiter = new ArrivalWaiter({
        revision,
        changed,
        isNewest: () => revision === this.#revision,
        clock: this.#clock,
        ended: (outcome) => {
          this.#waiters.delete(waiter);
          this.#events.emit("configuration-arrived", () => ({ outcome }));
          resolve(outcome);
        },
      });
      if (!this.#closed) this.#waiters.add(waiter);
      waiter.start(changed === undefined ? [] : awaited, isIds(nodes) ? nodes : []);
      if (this.#closed) waiter.end("closed");
      else waiter.limit(timeout);
    });
  }
}

function* concerned(
  standings: Iterable<readonly [id: string, standing: ArrivalStanding]>,
): Iterable<readonly [id: string, state: NodeArrival]> {
  for (const [id, { kind }] of standings) if (kind !== "unconcerned") yield [id, kind];
}

function choiceOf(nodes: NodeSelection | undefined): (node: Node) => boolean {
  if (nodes === undefined) return () => true;
  if (typeof nodes === "function") return nodes;
  if (isIds(nodes)) {
    const ids = new Set(nodes);
    return ({ id }) => ids.has(id);
  }
  const [fault] = faultsOf(nodes);
  // It would match no node, and the arrival would seem complete.
  if (fault !== undefined) throw XdskitError.of("XDSKIT_GROUP_INVALID", fault, { field: "nodes" });
  return matcherOf(nodes);
}

function isIds(nodes: NodeSelection | undefined): nodes is readonly string[] {
  return Array.isArray(nodes);
}
