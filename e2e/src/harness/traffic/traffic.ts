import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "../basics/scene.js";

/** One request through Envoy, and how it ended. */
export interface Answer {
  /** The HTTP status, or undefined when the connection failed. */
  readonly status: number | undefined;
  /** The backend's name, or the reason of the failure. */
  readonly body: string;
  /** The response's `server` header. */
  readonly server: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface RequestOptions {
  /** Default: `/`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: a connection of its own. */
  readonly agent?: Agent;
}

/** Steady traffic through one listener of Envoy: one request at a time, a bounded number a second. */
export interface Traffic {
  /** Requests answered by a backend since the start. */
  ok(): number;
  /** Everything that went wrong since the start; a test that allows none compares with []. */
  failures(): readonly string[];
  /** Names of the backends that answered the last `count` requests. */
  lastBackends(count: number): readonly string[];
  stop(): Promise<void>;
}

/**
 * Below the 15 s after which Envoy gives up waiting for what it asked for; long enough for an Envoy that a test holds
 * up for a while.
 */
const answerMs = 12_000;

/** One GET. Never rejects. */
export function get(port: number, { path = "/", headers, agent }: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void =>
      resolve({ status: undefined, body: String(error), server: undefined, headers: {} });
    // Left out, it would be one that keeps connections: to a listener that was replaced, too.
    const options = { host: "127.0.0.1", port, path, headers, agent: agent ?? false, timeout: answerMs };
    const outgoing = request(options, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("error", fail);
      response.on("end", () => {
        const { statusCode: status, headers } = response;
        resolve({ status, body, server: headerText(headers.server), headers });
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${answerMs} ms`)));
    outgoing.on("error", fail);
    outgoing.end();
  });
}

const perSecond = 60;

/** Starts that many requests a second to a port of 127.0.0.1, over one kept connection. */
export function startTraffic(scene: Scene, port: number, { headers }: Omit<RequestOptions, "agent"> = {}): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const failures: string[] = [];
  const backends: string[] = [];
  let ok = 0;
  let stopping = false;
  const run = async (): Promise<void> => {
    while (!stopping) {
      const { status, body } = await get(port, { headers, agent });
      if (status === 200) {
        ok += 1;
        backends.push(body);
        if (backends.length > 1_000) backends.shift();
      } else {
        failures.push(`after ${ok} answers: ${status ?? "no status"}: ${body}`);
      }
      await sleep(1_000 / perSecond);
    }
    agent.destroy();
  };
  const done = run();
  const traffic: Traffic = {
    ok: () => ok,
    failures: () => failures,
    lastBackends: (count) => backends.slice(-count),
    stop: () => {
      stopping = true;
      return done;
    },
  };
  scene.onEnd(traffic.stop);
  return traffic;
}

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value;
