import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { get } from "./traffic.js";

/**
 * Several hundred requests a second, on several connections at once. Each of them is counted, and each must be answered
 * by a backend.
 */
export interface Load {
  /** Requests answered by a backend since the start. */
  answered(): number;
  /** Requests that were not, all of them. */
  failed(): number;
  /**
   * What went wrong after the first `past` failures, by cause: how often, when first, and what Envoy said of it. A test
   * that allows nothing compares with [].
   */
  failures(past?: number): readonly string[];
  /** Resolves once every lane was answered by this backend alone, several times in a row. */
  reaches(backend: string): Promise<unknown>;
  /** From the next request on every lane has a new connection. */
  reconnect(): void;
  stop(): Promise<void>;
}

/** How much is asked. */
export interface LoadOptions {
  /** Connections, each with one request at a time. Default 6. */
  readonly lanes?: number;
  /** Milliseconds between an answer and the next request. Default 15. */
  readonly pauseMs?: number;
}

const inARow = 5;

/**
 * Starts to ask a port of 127.0.0.1 over connections that are kept. One is given up only when Envoy says so, or by
 * `reconnect`.
 */
export function startLoad(scene: Scene, port: number, { lanes = 6, pauseMs = 15 }: LoadOptions = {}): Load {
  const failures: Failure[] = [];
  const last = Array.from({ length: lanes }, () => ({ backend: "", times: 0 }));
  let answered = 0;
  let stopping = false;
  let connection = 0;

  const run = async (lane: { backend: string; times: number }): Promise<void> => {
    let agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let own = connection;
    while (!stopping) {
      if (own !== connection) {
        agent.destroy();
        agent = new Agent({ keepAlive: true, maxSockets: 1 });
        own = connection;
      }
      const { status, body } = await get(port, { agent });
      if (status === 200) {
        answered += 1;
        lane.times = body === lane.backend ? lane.times + 1 : 1;
        lane.backend = body;
      } else {
        lane.times = 0;
        failures.push({ cause: `${status ?? "no status"}: ${body.trim()}`, answered, at: new Date().toISOString() });
      }
      await sleep(pauseMs);
    }
    agent.destroy();
  };

  const done = Promise.all(last.map(run));
  const load: Load = {
    answered: () => answered,
    failed: () => failures.length,
    failures: (past = 0) => summary(failures.slice(past)),
    reaches: (backend) =>
      eventually(
        `answers from ${backend} only`,
        () => {
          if (last.every((lane) => lane.backend === backend && lane.times >= inARow)) return true;
          throw new Error(
            `${last.map((lane) => `${lane.times} × ${lane.backend}`).join(", ")}; ${load.failures().join("; ")}`,
          );
        },
        { everyMs: 10 },
      ),
    reconnect() {
      connection += 1;
    },
    async stop() {
      stopping = true;
      await done;
    },
  };
  scene.onEnd(load.stop);
  return load;
}

interface Failure {
  readonly cause: string;
  /** The requests that had been answered by then. */
  readonly answered: number;
  readonly at: string;
}

function summary(failures: readonly Failure[]): readonly string[] {
  const causes = new Map<string, { readonly first: Failure; count: number }>();
  for (const failure of failures) {
    const known = causes.get(failure.cause);
    if (known === undefined) causes.set(failure.cause, { first: failure, count: 1 });
    else known.count += 1;
  }
  return [...causes].map(
    ([cause, { first, count }]) => `${count} × ${cause} (first after ${first.answered} answers, at ${first.at})`,
  );
}
