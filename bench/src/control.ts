import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { EventLoopStats } from "@xdskit/server";
import type { Fleet } from "./fleet.js";
import { type Kind, kinds } from "./resources.js";

/** Serves the control API of README.md over plain HTTP/1.1. */
export function createControl(fleet: Fleet, eventLoop: () => EventLoopStats | undefined = () => undefined): Server {
  return createServer((request, response) => {
    request.resume();
    try {
      answer(response, 200, handle(fleet, eventLoop, request));
    } catch (error) {
      answer(response, 400, { error: error instanceof Error ? error.message : String(error) });
    }
  });
}

function handle(fleet: Fleet, eventLoop: () => EventLoopStats | undefined, request: IncomingMessage): unknown {
  const url = new URL(request.url ?? "/", "http://localhost");
  const number = (name: string, otherwise: number): number => {
    const text = url.searchParams.get(name);
    if (text === null) return otherwise;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0) throw new RangeError(`${name}: ${text} is no whole number`);
    return value;
  };
  switch (`${request.method} ${url.pathname}`) {
    case "POST /load":
      return fleet.load({
        clusters: number("clusters", 100),
        endpoints: number("endpoints", 1),
        payload: number("payload", 0),
        groups: number("groups", 1),
      });
    case "POST /touch": {
      const kind = url.searchParams.get("type") ?? "";
      if (!isKind(kind)) throw new RangeError(`type: ${kind} is none of ${kinds.join(", ")}`);
      const group = url.searchParams.has("group") ? number("group", 0) : undefined;
      return fleet.touch(kind, number("k", 1), group);
    }
    case "GET /stats": {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed, external } = process.memoryUsage();
      return {
        pid: process.pid,
        pids: [process.pid],
        rss_kb: Math.round(rss / 1024),
        user_ms: Math.round(user / 1000),
        sys_ms: Math.round(system / 1000),
        heap_bytes: heapUsed,
        external_bytes: external,
        marker: fleet.marker,
        event_loop: eventLoop(),
      };
    }
    case "POST /gc":
      // Only with --expose-gc; twice, since the second collects the objects that finalizers released.
      globalThis.gc?.();
      globalThis.gc?.();
      return { ok: globalThis.gc !== undefined };
    default:
      throw new RangeError(`${request.method} ${url.pathname} is none of the control API`);
  }
}

function isKind(text: string): text is Kind {
  return kinds.some((kind) => kind === text);
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}
