import { setImmediate as nextTurn } from "node:timers/promises";
import type { XdsServer } from "@xdskit/server";
import type { NodeRow } from "../contract/fleet.js";
import { rowOf } from "./row.js";

/** Rows are renewed after this many milliseconds, */
const freshMs = 500;
/** and after this many times the work of the last look, so that readers take about a tenth of the server's time. */
const restFactor = 10;
/** The most nodes to look at in one turn. */
const nodesInTurn = 250;

/** All nodes at one moment. */
export interface RowsAsOf {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** By id. */
  readonly rows: readonly NodeRow[];
  /** Servers that did not answer. */
  readonly silent: readonly Silent[];
}

/** The same, with how long this server worked for it, in milliseconds. */
export interface TimedRows extends RowsAsOf {
  readonly worked: number;
}

/** A server that did not answer. */
export interface Silent {
  readonly replica: string;
  readonly reason: string;
}

/** Looks at all nodes, for everybody who asks within a short time. Costs nothing while nobody asks. */
export class RowCache {
  readonly #lookNow: () => Promise<TimedRows>;
  #last: RowsAsOf | undefined;
  /** Until when the last look is good enough, by `performance.now()`. */
  #goodUntil = 0;
  #looking: Promise<RowsAsOf> | undefined;

  constructor(look: () => Promise<TimedRows>) {
    this.#lookNow = look;
  }

  async rows(): Promise<RowsAsOf> {
    if (this.#last !== undefined && performance.now() < this.#goodUntil) return this.#last;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<RowsAsOf> {
    const { worked, ...found } = await this.#lookNow();
    this.#goodUntil = performance.now() + Math.max(freshMs, worked * restFactor);
    this.#last = found;
    return found;
  }
}

/** Looks at the nodes with streams to a server. */
export async function lookAt(server: Pick<XdsServer, "eachNode">, replica: string): Promise<TimedRows> {
  const rows: NodeRow[] = [];
  const at = Date.now();
  let worked = 0;
  let began = performance.now();
  const rest = () => {
    worked += performance.now() - began;
  };
  for (const node of server.eachNode()) {
    rows.push(rowOf(node, replica, at));
    if (rows.length % nodesInTurn > 0) continue;
    rest();
    await nextTurn();
    began = performance.now();
  }
  rest();
  return { at, rows, silent: [], worked };
}
