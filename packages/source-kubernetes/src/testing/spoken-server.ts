import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import type { KubernetesConnection } from "../connection/connection.js";

/** One request, which the test answers. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** What was sent with it; undefined: nothing. */
  readonly body: unknown;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** A line of a watch. */
  say(event: unknown): void;
  /** The end of an answer, with a status and headers of its own if nothing was said before. */
  end(status?: number, body?: unknown, headers?: Readonly<Record<string, string>>): void;
  /** The connection breaks. */
  cut(): void;
  readonly isClosed: boolean;
}

/** A server of HTTP for which the test speaks: also what no API server of today says. */
export interface SpokenServer {
  readonly connection: KubernetesConnection;
  /** The next request that nobody has answered yet. */
  asked(): Promise<Asked>;
  /** Requests that nobody has answered yet. */
  readonly waiting: number;
  /** How many connections were made to it. */
  readonly connections: number;
}

export async function spokenServer(test: TestContext, token: () => string = () => "t"): Promise<SpokenServer> {
  const queue: Asked[] = [];
  const server = createServer(async (request, response) => queue.push(await askedOf(request, response)));
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    connection: {
      server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      namespace: undefined,
      isChecked: true,
      serverName: undefined,
      from: "the test",
      credentials: async () => ({ token: token(), ca: undefined, cert: undefined, key: undefined }),
      refused() {},
    },
    async asked() {
      await waitFor("a request", () => queue.length > 0);
      const next = queue.shift();
      if (next === undefined) throw new Error("no request");
      return next;
    },
    get waiting() {
      return queue.length;
    },
    get connections() {
      return connections;
    },
  };
}

async function askedOf(request: IncomingMessage, response: ServerResponse): Promise<Asked> {
  const url = new URL(request.url ?? "", "http://server");
  let sent = "";
  for await (const part of request.setEncoding("utf8")) sent += part;
  return {
    method: request.method ?? "",
    path: url.pathname,
    body: sent === "" ? undefined : JSON.parse(sent),
    query: url.searchParams,
    authorization: request.headers.authorization,
    say: (event) => void response.write(`${JSON.stringify(event)}\n`),
    end(status = 200, body = undefined, headers = {}) {
      if (!response.headersSent) response.writeHead(status, headers);
      response.end(body === undefined ? "" : JSON.stringify(body));
    },
    cut: () => void response.destroy(),
    get isClosed() {
      return response.destroyed || response.closed;
    },
  };
}
