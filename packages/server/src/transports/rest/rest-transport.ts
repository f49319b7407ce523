import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type TlsOptions, Server as TlsServer } from "node:tls";
import type { ResourceTypes } from "@xdskit/api";
import { formatAddress } from "../../address.js";
import type { ServerLimits } from "../../limits.js";
import type { PollConnection, PollHandler, PollRefusal, PollTransport } from "../../poll-transport.js";
import type { RestOptions } from "../../rest-options.js";
import { followHandshakes, type HandshakeFailed, handshakeMs } from "../../tls/handshakes.js";
import type { Renewable } from "../../tls/server-tls.js";
import { isFromBrowser } from "../from-browser.js";
import { listenAddress, listenError } from "../listening.js";
import { peerOf, plainHost } from "../peer.js";
import { BodyRoom } from "./body-room.js";
import { type Endpoint, restPaths } from "./paths.js";
import { readBody } from "./read-body.js";
import { readJson } from "./read-json.js";
import { problem, writeAnswer, writeProblem } from "./write-answer.js";

/** What the REST transport needs to know. */
export interface RestTransportOptions {
  readonly types: ResourceTypes;
  readonly limits: Pick<ServerLimits, "requestBytes" | "namesPerRequest" | "polls">;
  readonly options: Pick<RestOptions, "requestTimeoutMs">;
  /** Certificates. Default: plaintext. */
  readonly tls?: TlsOptions | undefined;
  /** Hears of a connection over TLS that came to nothing. Default: nobody does. */
  readonly handshakeFailed?: HandshakeFailed | undefined;
}

/**
 * Discovery over REST-JSON (rules 140–150): `POST /v3/discovery:clusters` and the paths of the other types, in HTTP/1.1. Nothing of the
 * protocol is decided here.
 */
export function createRestTransport(restOptions: RestTransportOptions): PollTransport & Renewable {
  const { types, limits, options, handshakeFailed } = restOptions;
  let { tls } = restOptions;
  const paths = restPaths(types);
  const servers = new Set<Server>();
  const room = new BodyRoom(bodiesAtOnce * limits.requestBytes);
  /** Below TLS: these make no request yet. */
  const strangers: ReadonlySet<Socket>[] = [];
  const connections = new WeakMap<Socket, Connection>();

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      const made = newConnection(socket);
      connection = made;
      connections.set(socket, made);
      socket.once("close", () => {
        made.open = false;
      });
    }
    return connection;
  }

  async function respond(request: IncomingMessage, response: ServerResponse, handler: PollHandler): Promise<void> {
    const connection = connectionOf(request.socket);
    const path = pathOf(request);
    const refuse = (refusal: PollRefusal, headers?: Readonly<Record<string, string>>) => {
      writeProblem(response, handler.refuse(refusal, { peer: connection.peer, path }), headers);
    };
    if (isFromBrowser(request.headers)) return refuse({ kind: "refused", status: 403, message: fromBrowser });
    const endpoint = paths.find(path);
    if (endpoint === undefined) return refuse({ kind: "refused", status: 404, message: paths.whyNot(path) });
    if (request.method === "OPTIONS") {
      response.writeHead(204, { allow: methods }).end();
      return;
    }
    if (request.method !== "POST") {
      const message = `a discovery request is a POST, not a ${request.method}`;
      return refuse({ kind: "refused", status: 405, message }, { allow: methods });
    }
    if (connection.underWay >= pipelined) {
      const message = `${connection.underWay} requests are under way on one connection, and none may have more`;
      return refuse({ kind: "refused", status: 429, message, retryAfterS: 1 });
    }
    connection.underWay += 1;
    response.once("close", () => {
      connection.underWay -= 1;
    });
    const body = await readBody(request, limits.requestBytes, room);
    if (body.kind === "gone") return;
    if (body.kind === "refused") return refuse(body);
    const json = readJson(body.bytes, limits);
    if (json.kind === "refused") return refuse(json);
    poll(endpoint, json.value, body.bytes.byteLength, connection, request, response, handler);
  }

  function poll(
    { api, type }: Endpoint,
    json: unknown,
    bytes: number,
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    handler: PollHandler,
  ): void {
    if (response.destroyed) return;
    let cancel: (() => void) | undefined;
    // Not only after the answer: it comes too when the client goes away.
    response.once("close", () => cancel?.());
    cancel = handler.poll({ api, type, path: pathOf(request), json, bytes, connection }, (answer) => {
      cancel = undefined;
      writeAnswer(response, answer, request.headers["accept-encoding"]?.toString());
    });
  }

  return {
    async listen(address, handler) {
      const { host, port } = listenAddress(address);
      const settings = {
        requestTimeout: options.requestTimeoutMs,
        headersTimeout: Math.min(options.requestTimeoutMs, longestHeadersMs),
        connectionsCheckingInterval: 1_000,
        // Longer than clients wait between polls, or each poll would risk a connection that is just being closed.
        keepAliveTimeout: 120_000,
        keepAlive: true,
        keepAliveInitialDelay: 30_000,
        noDelay: true,
      };
      const answer = (request: IncomingMessage, response: ServerResponse) => {
        response.on("error", () => {});
        respond(request, response, handler).catch((error: unknown) => {
          process.emitWarning(`a REST request failed: ${String(error)}`, "XdskitWarning");
          response.destroy();
        });
      };
      const server =
        tls === undefined
          ? createServer(settings, answer)
          : createHttpsServer({ handshakeTimeout: handshakeMs, ...tls, ...settings }, answer);
      if (server instanceof TlsServer) {
        strangers.push(followHandshakes(server, tls?.handshakeTimeout ?? handshakeMs, handshakeFailed));
      }
      // One that holds a poll, and one that is idle, for each poll.
      server.maxConnections = 2 * limits.polls;
      server.on("clientError", answerBadRequest);
      await new Promise<void>((resolve, reject) => {
        // Later ones are of single connections, such as one for which there was no file descriptor left.
        server.on("error", (error) => reject(listenError(address, error)));
        server.listen(port, host, resolve);
      });
      servers.add(server);
      return formatAddress({ host, port: (server.address() as AddressInfo).port });
    },
    async close(timeoutMs) {
      const closed = Promise.all(
        Array.from(servers, (server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
      for (const socket of strangers.flatMap((each) => [...each])) socket.destroy();
      const over = new AbortController();
      closed.then(() => over.abort());
      const end = Date.now() + timeoutMs;
      // A connection whose answer is read becomes an idle one, which would stay for as long as its client likes.
      while (!over.signal.aborted && Date.now() < end) {
        for (const server of servers) server.closeIdleConnections();
        await delay(20, undefined, { signal: over.signal }).catch(() => {});
      }
      for (const server of servers) server.closeAllConnections();
    },
    renew(renewed) {
      if (tls === undefined) return;
      tls = { ...tls, ...renewed };
      for (const server of servers) if (server instanceof TlsServer) server.setSecureContext(tls);
    },
  };
}

const methods = "OPTIONS, POST";
const fromBrowser =
  "the request comes from a web page (it has Origin or Sec-Fetch-Site), and pages get no configuration";
const longestHeadersMs = 10_000;
/** Of the largest that are allowed. */
const bodiesAtOnce = 16;
/** Requests that are sent before those in front of them are answered. No client known does so. */
const pipelined = 4;

interface Connection extends PollConnection {
  open: boolean;
  underWay: number;
}

function newConnection(socket: Socket): Connection {
  return { peer: peerOf(socket), address: plainHost(socket.remoteAddress), open: true, underWay: 0 };
}

/** Without the query; `%3A` is a colon. */
function pathOf({ url = "/" }: IncomingMessage): string {
  const [path = ""] = url.split("?", 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** What Node's parser could make no request of, or TLS no connection. */
function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || /^ERR_(SSL|TLS)_/.test(error.code ?? "") || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, title, detail] = badRequests[error.code ?? ""] ?? [400, "Bad Request", "this is not HTTP/1.1"];
  const body = problem(status, detail);
  const head = `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.byteLength}\r\n\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), body]));
}

const badRequests: Readonly<Record<string, readonly [status: number, title: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "the headers are too large"],
};
