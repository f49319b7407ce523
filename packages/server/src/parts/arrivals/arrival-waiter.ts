import type { Clock } from "@xdskit/api";
import type { LayerChange } from "../../contracts/layer-change.js";
import type { ConfigArrivalOutcome } from "../../contracts/nodes/arrival.js";
import type { OpenStream, ReportedStream } from "../../contracts/nodes/reported-stream.js";
import { countStandings } from "./arrival-count.js";
import {
  type ArrivalStanding,
  arrivalStandingOf,
  type ChangedLayer,
  type LookedAt,
  standingOfNode,
} from "./arrival-standing.js";
import { StandingsOfChange } from "./changed-keys.js";

/** The change and the nodes that a caller waits for. */
export interface Awaited {
  readonly revision: number;
  /** Undefined: the change made no difference. */
  readonly changed: ChangedLayer | undefined;
  isNewest(): boolean;
  readonly clock: Clock;
  /** Called once. */
  ended(outcome: ConfigArrivalOutcome): void;
}

/** A node that a caller waits for, with the state of its streams. Without streams it is away, and may come back. */
interface WaitingArrival {
  readonly streams: Map<ReportedStream, ArrivalStanding>;
  standing: ArrivalStanding;
}

/** A caller that waits for a change. It remembers the nodes concerned and looks again at streams that moved. */
export class ArrivalWaiter {
  readonly #awaited: Awaited;
  readonly #look: LookedAt;
  readonly #nodes = new Map<string, WaitingArrival>();
  /** Nodes that do not have it yet, held back or not. */
  #pending = 0;
  #rejected = 0;
  #over = false;
  #cancel: () => void = () => {};

  constructor(awaited: Awaited) {
    this.#awaited = awaited;
    const standings = new StandingsOfChange(awaited.changed?.keys ?? new Map());
    this.#look = { standings, isNewest: awaited.isNewest };
  }

  /** `named`: nodes that are waited for even if they come later. */
  start(streams: Iterable<OpenStream>, named: readonly string[]): void {
    for (const id of named) this.#nodes.set(id, newWaiting());
    for (const stream of streams) {
      const { id } = stream.opened.node;
      const standing = this.#standingOf(stream);
      const known = this.#nodes.get(id);
      if (known === undefined && standing.kind === "unconcerned") continue;
      const waiting = known ?? newWaiting();
      this.#nodes.set(id, waiting);
      this.#note(waiting, stream, standing);
    }
    this.#endIfDone();
  }

  limit(timeout: number): void {
    if (!this.#over && timeout !== Number.POSITIVE_INFINITY)
      this.#cancel = this.#awaited.clock.after(timeout, () => this.end("timeout"));
  }

  progressed(stream: OpenStream): void {
    const waiting = this.#nodes.get(stream.opened.node.id);
    const known = waiting?.streams.get(stream);
    // A stream that has the change keeps it, or gets something newer.
    if (waiting === undefined || known?.kind === "acknowledged") return;
    const standing = this.#standingOf(stream);
    this.#note(waiting, stream, standing);
    this.#endIfDone();
  }

  left(stream: ReportedStream, nodeId: string): void {
    const waiting = this.#nodes.get(nodeId);
    if (waiting === undefined || !waiting.streams.delete(stream)) return;
    this.#add(waiting);
    this.#endIfDone();
  }

  /** A newer content was published: a client that takes it has this change. */
  superseded(changes: readonly LayerChange[]): void {
    this.#look.standings.superseded(changes);
  }

  end(result: ConfigArrivalOutcome["result"]): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancel();
    const present = [...this.#nodes.values()].filter(({ streams }) => streams.size > 0);
    const status = countStandings(
      this.#awaited.revision,
      present.map(({ standing }) => standing),
    );
    this.#awaited.ended({ ...status, result, absent: this.#nodes.size - present.length });
  }

  #standingOf(stream: OpenStream): ArrivalStanding {
    const { changed, clock } = this.#awaited;
    if (changed === undefined) return { kind: "unconcerned" };
    return arrivalStandingOf(stream, changed, this.#look, clock);
  }

  #note(waiting: WaitingArrival, stream: OpenStream, standing: ArrivalStanding): void {
    waiting.streams.set(stream, standing);
    this.#add(waiting);
  }

  /** Adds up the streams of a node anew. */
  #add(waiting: WaitingArrival): void {
    const before = waiting.standing;
    const after = standingOfNode(waiting.streams.values());
    waiting.standing = after;
    this.#pending += ("stream" in after ? 1 : 0) - ("stream" in before ? 1 : 0);
    this.#rejected += (after.kind === "rejected" ? 1 : 0) - (before.kind === "rejected" ? 1 : 0);
  }

  #endIfDone(): void {
    if (this.#pending === 0) this.end(this.#rejected > 0 ? "rejected" : "complete");
  }
}

function newWaiting(): WaitingArrival {
  return { streams: new Map(), standing: { kind: "unconcerned" } };
}
