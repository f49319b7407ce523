import { createServer, type Server, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { createServer as createTlsServer, Server as TlsServer } from "node:tls";
import type { GrpcMethod } from "./calls/call.js";
import { createClientUse } from "./calls/client-use.js";
import { GrpcConnection, type ServingContext } from "./calls/grpc-connection.js";
import { defaultGrpcLimits, type GrpcLimits } from "./calls/limits.js";
import { Slab } from "./connection/output.js";
import type { GrpcCode } from "./messages/grpc-code.js";
import { createSharedReads } from "./node-internals/shared-reads.js";
import { followHandshakes, type HandshakeFailed, handshakeMs } from "./sockets/handshakes.js";
import { defaultKeepalive, type Keepalive } from "./sockets/keepalive.js";
import { peerOf } from "./sockets/peer.js";
import { followRevoked, type RevocableTls, renewTls } from "./sockets/revoked-peers.js";
import { ServedSocket } from "./sockets/served-socket.js";
import { createTurnBudget } from "./sockets/turn-budget.js";
import { Patience } from "./timing/patience.js";

/** The options of a gRPC server. All but `methods` may be left out. */
export interface GrpcServerOptions {
  /** By path: `/service/Method`. It may be added to until the first client comes. Other paths answer UNIMPLEMENTED. */
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  /** Default: `defaultGrpcLimits`. */
  readonly limits?: Partial<GrpcLimits> | undefined;
  /** Default: `defaultKeepalive`. */
  readonly keepalive?: Partial<Keepalive> | undefined;
  /**
   * Milliseconds that a call may be without its first message, and a message without its rest. A client that keeps
   * sending at 64 KiB a second has longer. Default 10,000.
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Certificates. Default: plaintext, with prior knowledge of HTTP/2. */
  readonly tls?: RevocableTls | undefined;
  /**
   * Called for a call that was refused or ended because of its client, before its method is told. Default: nothing is
   * called.
   */
  readonly refused?: ((peer: string, code: GrpcCode, message: string) => void) | undefined;
  /**
   * Called for a TLS handshake that failed, and for a client that speaks another protocol than HTTP/2. Default: nothing
   * is called.
   */
  readonly handshakeFailed?: HandshakeFailed | undefined;
  /**
   * Called for a fault of the server or of a method. It ended the connection of that peer, and nothing else. Default:
   * nothing is called.
   */
  readonly fault?: ((peer: string, error: unknown) => void) | undefined;
  /** The name of a limit for clients that reached it. Default: `limits.` and the option's name. */
  readonly limitName?: ((limit: keyof GrpcLimits) => string) | undefined;
}

/**
 * The place where a server listens: an address, a Unix socket, or the descriptor of a bound socket, which then belongs
 * to the server.
 */
export type ListenAt =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }
  | { readonly descriptor: number };

/** A gRPC server. */
export interface GrpcServer {
  /** Starts to listen, at one more address; resolves to the port (0 for a Unix socket). Rejects with Node's error. */
  listen(at: ListenAt): Promise<number>;
  /**
   * Stops accepting, and asks clients to go (GOAWAY). Resolves when every call has ended, at the latest after
   * `timeoutMs`.
   */
  close(timeoutMs: number): Promise<void>;
  /** Connections whose clients were not asked to go. */
  readonly connections: number;
  /**
   * Asks this many of them, chosen at random, to reconnect, to another server if there is one (GOAWAY; their calls end
   * with OK after `keepalive.maxAgeGraceMs`). Returns the number of those that were asked.
   */
  askToGo(count: number): number;
  /**
   * New connections use these certificates; open ones stay as they are, but for those of clients whose certificates
   * were revoked. Without effect in plaintext.
   */
  renew(tls: RevocableTls): void;
  /** Node's servers, one for each address. */
  readonly servers: ReadonlySet<Server>;
}

/**
 * The number of connections that the kernel keeps until they are accepted, as far as net.core.somaxconn lets it. With
 * Node's default of 511 handshakes are lost when a fleet comes back at once, and each lost one costs its client a
 * second.
 */
export const backlog = 65_535;

const headerBytes = 32 * 1024;

/**
 * Makes a gRPC server on our own HTTP/2: methods in, messages in and out, as bytes. A message that goes to a thousand
 * calls costs each of them one copy behind a frame's head and one write.
 */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  let { tls } = options;
  let isClosing = false;
  const { serve, connections } = createServing(options, () => isClosing);
  const servers = new Set<Server>();
  /** Sockets in their TLS handshake; `connections` has those that finished it. */
  const strangers: ReadonlySet<Socket>[] = [];

  return {
    servers,
    async listen(at) {
      const server: Server =
        tls === undefined
          ? createServer((socket) => serve(socket, isOnUnixSocket(server)))
          : createTlsServer({ ALPNProtocols: ["h2"], handshakeTimeout: handshakeMs, ...tls }, (socket) =>
              serve(socket, isOnUnixSocket(server)),
            );
      servers.add(server);
      if (server instanceof TlsServer) {
        followRevoked(server, tls ?? {}, options.handshakeFailed);
        strangers.push(followHandshakes(server, tls?.handshakeTimeout ?? handshakeMs, options.handshakeFailed));
      }
      const port = await listening(server, at);
      server.on("error", () => {});
      return port;
    },
    get connections() {
      return staying(connections).length;
    },
    askToGo(count) {
      const notified = shuffled(staying(connections)).slice(0, count);
      for (const { age } of notified) age.end();
      return notified.length;
    },
    async close(timeoutMs) {
      isClosing = true;
      await closeAll(servers, connections, strangers, timeoutMs);
    },
    renew(renewed) {
      if (tls === undefined) return;
      tls = { ...tls, ...renewed };
      for (const server of servers) if (server instanceof TlsServer) renewTls(server, tls);
    },
  };
}

/** Serves sockets, all with the same limits, and keeps the connections over them. */
function createServing(options: GrpcServerOptions, isClosing: () => boolean) {
  const { methods, requestTimeoutMs = 10_000, limitName = (limit) => `limits.${limit}` } = options;
  const limits: GrpcLimits = { ...defaultGrpcLimits, ...options.limits };
  const { requestBytes, streamsPerConnection } = limits;
  const useOf = createClientUse(limits, requestBytes, limitName);
  const now = () => performance.now();
  const patience = new Patience(requestTimeoutMs, now);
  const connections = new Map<Socket, ServedSocket>();
  const connectionIsFull = `${streamsPerConnection} streams are open on one connection, and none may have more (${limitName("streamsPerConnection")})`;
  const context: ServingContext = {
    slab: new Slab(),
    now,
    keepalive: { ...defaultKeepalive, ...options.keepalive },
    limits: { streams: streamsPerConnection, headerBytes },
    budget: createTurnBudget(),
    readShared: createSharedReads(),
    handshakes: new Patience(handshakeMs, now),
    isClosing,
    methods,
    requestBytes,
    patience,
    options,
    connectionIsFull,
    closed: (socket) => void connections.delete(socket),
  };
  function serve(socket: Socket, isUnix: boolean): void {
    if (isClosing() || socket.destroyed) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket, isUnix);
    const served = new ServedSocket(socket, context, new GrpcConnection(context, socket, peer, useOf(peer.host)));
    connections.set(socket, served);
    served.listen();
  }
  return { serve, connections: connections as ReadonlyMap<Socket, ServedSocket> };
}

/** By server: the kernel is asked once, and not for each connection. */
const onUnixSocket = new WeakMap<Server, boolean>();

/** Asked while it accepts: a closed socket does not know any more how it came. */
export function isOnUnixSocket(server: Server): boolean {
  const known = onUnixSocket.get(server);
  if (known !== undefined) return known;
  const address = server.address();
  if (address !== null) onUnixSocket.set(server, typeof address === "string");
  return typeof address === "string";
}

function staying(connections: ReadonlyMap<Socket, ServedSocket>): ServedSocket[] {
  return [...connections.values()].filter(({ connection, age }) => connection.isOpen && !age.isOver);
}

function shuffled<T>(all: T[]): readonly T[] {
  for (let last = all.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [all[last], all[other]] = [all[other] as T, all[last] as T];
  }
  return all;
}

/** Accepts no more connections, asks clients to go, and ends the connections that are left after the time. */
async function closeAll(
  servers: ReadonlySet<Server>,
  connections: ReadonlyMap<Socket, ServedSocket>,
  strangers: readonly ReadonlySet<Socket>[],
  timeoutMs: number,
): Promise<void> {
  const ended = Array.from(servers, (server) => new Promise<void>((resolve) => server.close(() => resolve())));
  for (const [socket, { connection }] of connections) {
    // A client that has not sent its preface yet cannot be told.
    if (connection.isOpen) connection.goAway();
    else socket.destroy();
  }
  for (const socket of strangers.flatMap((each) => [...each])) socket.destroy();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([Promise.all(ended), late]);
  clearTimeout(timer);
  for (const socket of connections.keys()) socket.destroy();
}

function listening(server: Server, at: ListenAt): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    const place = "descriptor" in at ? { fd: at.descriptor } : "path" in at ? { path: at.path } : at;
    server.listen({ ...place, backlog }, () => {
      const bound = server.address();
      resolve(typeof bound === "object" && bound !== null ? bound.port : 0);
    });
  });
}
