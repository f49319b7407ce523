import { maxFindings } from "@xdskit/api";
import type { CrowdHolding } from "../crowd/holding.js";
import { type FigureSpread, rounded, Values } from "./spread.js";

/**
 * A change that reached nodes which had everything before; of one group, where groups are sent different things. Times
 * are in milliseconds.
 */
interface MeasuredChange {
  readonly type: string;
  readonly version: string;
  readonly first: number;
  last: number;
  /** Nodes that got it on an open stream. */
  nodes: number;
}

/** How one change spread. */
export interface ChangeReport {
  readonly type: string;
  readonly version: string;
  /** Nodes that got it as a change: neither in the first response of a stream, nor together with a later change. */
  readonly nodes: number;
  /** When the first node had it, in milliseconds since the start. */
  readonly atMs: number;
  /** From the first node that had it to the last. */
  readonly spreadMs: number;
}

/** The changes in the report. */
export interface ChangesReport {
  readonly count: number;
  /** The times from the first node that got a change to the last. */
  readonly spreadMs: FigureSpread | null;
  /** The newest changes, the oldest first. */
  readonly newest: readonly ChangeReport[];
}

/** Changes that still spread; an older one counts as finished. */
const maxOpen = 10_000;

/** Follows how changes spread over the nodes. The fleet does not know when they were made. */
export class Changes {
  #known = new WeakMap<CrowdHolding, MeasuredChange>();
  readonly #newest: MeasuredChange[] = [];
  /** Of the changes that are finished. */
  readonly #spreads = new Values();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** A node now holds something else than before. */
  reached(current: CrowdHolding, at: number): void {
    const known = this.#known.get(current);
    if (known !== undefined) {
      known.last = at;
      known.nodes++;
      return;
    }
    const change: MeasuredChange = { type: current.type.name, version: current.version, first: at, last: at, nodes: 1 };
    this.#known.set(current, change);
    this.#count++;
    this.#newest.push(change);
    const finished = this.#newest.length > maxOpen ? this.#newest.shift() : undefined;
    if (finished !== undefined) this.#spreads.add(finished.last - finished.first);
  }

  /** The changes so far, as they have spread by now. */
  report(start: number): ChangesReport {
    const spreads = this.#spreads.copy();
    for (const { first, last } of this.#newest) spreads.add(last - first);
    const newest = this.#newest.slice(-maxFindings).map(({ type, version, nodes, first, last }) => {
      return { type, version, nodes, atMs: rounded(first - start), spreadMs: rounded(last - first) };
    });
    return { count: this.#count, spreadMs: spreads.spread(), newest };
  }
}
