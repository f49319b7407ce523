import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One poll as it came. */
export interface SeenPoll {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly request: {
    readonly versionInfo?: string;
    readonly resourceNames?: readonly string[];
    readonly responseNonce?: string;
    readonly typeUrl?: string;
    readonly errorDetail?: { readonly code?: number; readonly message?: string };
    readonly node?: { readonly id?: string };
  };
  /** The client went away before it was answered. */
  readonly isGone: () => boolean;
}

/** An HTTP server that answers polls as a test says. */
export interface OddRestServer {
  readonly url: string;
  readonly polls: readonly SeenPoll[];
  /** The largest number of polls at one time. */
  readonly maxAtOnce: () => number;
  readonly connections: () => number;
  close(): Promise<void>;
}

/** Answers the poll of this number (from 0). */
export type OddAnswer = (response: ServerResponse, poll: SeenPoll, number: number) => void;

export async function startOddRestServer(answer: OddAnswer, port = 0): Promise<OddRestServer> {
  const polls: SeenPoll[] = [];
  let atOnce = 0;
  let maxAtOnce = 0;
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    maxAtOnce = Math.max(maxAtOnce, ++atOnce);
    response.on("close", () => {
      atOnce -= 1;
    });
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const poll: SeenPoll = {
        path: `${request.method} ${request.url}`,
        headers: request.headers,
        request: JSON.parse(Buffer.concat(chunks).toString()) as SeenPoll["request"],
        isGone: () => response.destroyed && !response.writableEnded,
      };
      polls.push(poll);
      answer(response, poll, polls.length - 1);
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    polls,
    maxAtOnce: () => maxAtOnce,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with a DiscoveryResponse of clusters (`name`, or a whole resource), or with the given answer. */
export function respond(response: ServerResponse, version: string, items: readonly unknown[], more: object = {}): void {
  const resources = items.map((item) => (typeof item === "string" ? { "@type": clusterUrl, name: item } : item));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ versionInfo: version, typeUrl: clusterUrl, resources, ...more }));
}

export const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
