import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import type { ResourceTypes } from "@xdskit/api";
import { type HandshakeFailed, handshakeMs, isOnUnixSocket, type RevocableTls, renewTls } from "@xdskit/grpc-server";
import { formatAddress } from "../../basics/address.js";
import type { PollTransport } from "../../contracts/poll-transport.js";
import type { ServerLimits } from "../../settings/limits.js";
import type { RestOptions } from "../../settings/rest-options.js";
import type { Renewable } from "../../tls/server-tls.js";
import { listenAddress, listenError } from "../listening.js";
import { followRefused } from "../refused-connections.js";
import { listenAt } from "../socket-file.js";
import { createResponder, type RestLimits } from "./respond.js";

/** The options of the REST transport. */
export interface RestTransportOptions {
  readonly types: ResourceTypes;
  readonly limits: RestLimits & Pick<ServerLimits, "polls">;
  readonly options: Pick<RestOptions, "requestTimeoutMs">;
  /** Certificates. Default: plaintext. */
  readonly tls?: RevocableTls | undefined;
  /** Called for a TLS handshake that failed, and for another protocol than HTTP/1.1. Default: nothing is called. */
  readonly handshakeFailed?: HandshakeFailed | undefined;
}

/**
 * Discovery over REST-JSON (rules 140–150): `POST /v3/discovery:clusters` and the paths of the other types, in
 * HTTP/1.1. It makes no decisions about the protocol.
 */
export function createRestTransport(restOptions: RestTransportOptions): PollTransport & Renewable {
  const { types, limits, options, handshakeFailed } = restOptions;
  let { tls } = restOptions;
  const servers = new Set<Server>();
  /** Sockets in their TLS handshake, which have no request yet. */
  const strangers: ReadonlySet<Socket>[] = [];
  const respond = createResponder(types, limits);

  return {
    async listen(address, handler) {
      const at = listenAddress(address);
      const settings = {
        requestTimeout: options.requestTimeoutMs,
        headersTimeout: Math.min(options.requestTimeoutMs, handshakeMs),
        connectionsCheckingInterval: 1_000,
        // Longer than clients wait between polls; otherwise a poll might come on a connection that is just being
        // closed.
        keepAliveTimeout: 120_000,
        keepAlive: true,
        keepAliveInitialDelay: 30_000,
        noDelay: true,
      };
      const answer = (request: IncomingMessage, response: ServerResponse) => {
        response.on("error", () => {});
        respond(request, response, handler, isOnUnixSocket(server)).catch((error: unknown) => {
          process.emitWarning(`a REST request failed: ${String(error)}`, "XdskitWarning");
          response.destroy();
        });
      };
      const server: Server =
        tls === undefined
          ? createServer(settings, answer)
          : createHttpsServer({ handshakeTimeout: handshakeMs, ...tls, ...settings }, answer);
      strangers.push(followRefused(server, tls, handshakeFailed && [handshakeFailed]));
      // Two for each poll: one connection that holds it, and one that is idle.
      server.maxConnections = 2 * limits.polls;
      const listen = () =>
        new Promise<void>((resolve, reject) => {
          // Later errors concern single connections, such as one without a free file descriptor.
          server.on("error", reject);
          server.listen("path" in at ? { path: at.path } : at, resolve);
        });
      await listenAt(at, listen).catch((error: Error) => {
        throw listenError(address, error);
      });
      servers.add(server);
      if ("path" in at) return formatAddress({ path: at.path });
      return formatAddress({ ...at, port: (server.address() as AddressInfo).port });
    },
    async close(timeoutMs) {
      const closed = Promise.all(
        Array.from(servers, (server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
      for (const socket of strangers.flatMap((each) => [...each])) socket.destroy();
      const over = new AbortController();
      closed.then(() => over.abort());
      const end = Date.now() + timeoutMs;
      // A connection whose answer was read is idle, and would stay as long as its client likes.
      while (!over.signal.aborted && Date.now() < end) {
        for (const server of servers) server.closeIdleConnections();
        await delay(20, undefined, { signal: over.signal }).catch(() => {});
      }
      for (const server of servers) server.closeAllConnections();
    },
    renew(renewed) {
      if (tls === undefined) return;
      tls = { ...tls, ...renewed };
      for (const server of servers) if (server instanceof TlsServer) renewTls(server, tls);
    },
  };
}
