import { createServer, type Server, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { createServer as createTlsServer, TLSSocket, type TlsOptions, Server as TlsServer } from "node:tls";
import type { ResourceTypes } from "@xdskit/api";
import { type StatusCode, statusCode } from "@xdskit/protocol";
import { formatAddress } from "../../address.js";
import { longestTimerMs } from "../../clock.js";
import type { Keepalive } from "../../keepalive.js";
import { defaultServerLimits } from "../../limits.js";
import { followHandshakes, type HandshakeFailed, handshakeMs } from "../../tls/handshakes.js";
import type { Renewable } from "../../tls/server-tls.js";
import type { Accept, Transport } from "../../transport.js";
import { discoveryMethods } from "../discovery-methods.js";
import { listenAddress, listenError } from "../listening.js";
import { peerOf, plainHost } from "../peer.js";
import { createClientUse, type UseLimits } from "./client-use.js";
import { limitAge } from "./connection-age.js";
import { endInput, stopCalls } from "./connection-end.js";
import type { ConnectionLimits } from "./connection-host.js";
import { type GrpcContext, type GrpcMethod, serveGrpc } from "./grpc-call.js";
import { Http2Connection } from "./http2-connection.js";
import { tellEnd } from "./late-ends.js";
import { Slab } from "./output.js";
import { Patience } from "./patience.js";
import { createSharedReads } from "./shared-reads.js";
import { createTurnBudget } from "./turn-budget.js";
import { writeToSocket } from "./write-to-socket.js";

/** What the gRPC transport needs to know. */
export interface GrpcTransportOptions {
  readonly types: ResourceTypes;
  readonly keepalive: Keepalive;
  /** The largest request, in bytes; a larger one ends its stream with RESOURCE_EXHAUSTED. */
  readonly requestBytes: number;
  /** What a connection, and an address, may use. Default: those of a server. */
  readonly limits?: (UseLimits & { readonly streamsPerConnection: number }) | undefined;
  /** Milliseconds that a stream may be without its first request, and a request without its rest; more for who goes on to send it. Default 10,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Hears of a call that was refused, or ended, for what its client did, before it came to the server. Default: nobody does. */
  readonly refused?: ((peer: string, code: StatusCode, message: string) => void) | undefined;
  /** Certificates. Default: plaintext. */
  readonly tls?: TlsOptions | undefined;
  /** Hears of a connection over TLS that came to nothing. Default: nobody does. */
  readonly handshakeFailed?: HandshakeFailed | undefined;
  /** Hears of a fault of the server's own, which ended the connection of a peer, and nothing else. Default: nobody does. */
  readonly fault?: ((peer: string, error: unknown) => void) | undefined;
}

/** A transport that also listens on what was bound elsewhere. Where it began in plaintext, `renew` changes nothing of that. */
export interface SocketTransport extends Transport, Renewable {
  /** `descriptor`: of a bound socket, which belongs to the transport from now on. */
  listen(...at: [...Parameters<Transport["listen"]>, descriptor?: number]): Promise<string>;
  /** What it listens with, one an address. */
  readonly servers: ReadonlySet<Server>;
}

/** A connection may be new for so long without saying what HTTP/2 wants at its start, in milliseconds; TLS has as long before that. */
const prefaceMs = 10_000;

/** A connection that we ended may stay so long until its client has read what was sent, and closes it too, in milliseconds. */
const lingerMs = 10_000;
/** The same where the server itself ends: what was written goes out by the kernel also without us. */
const lastLingerMs = 250;

/**
 * Connections that the kernel keeps until they are accepted, as far as it lets us (net.core.somaxconn): Node's own 511 lose handshakes when a fleet comes back at
 * once, and each lost one costs its client a second.
 */
export const backlog = 65_535;

const headerBytes = 32 * 1024;

/**
 * Discovery over gRPC: ADS and all per-type services of the table of types, SotW and delta, v2 and v3, and the unary `Fetch…`; and the
 * server's other services. Bytes in, bytes out: nothing is decoded here. Methods that do not exist answer UNIMPLEMENTED.
 *
 * It speaks HTTP/2 by itself: a response that a thousand streams need costs each of them one copy behind a frame's head and one write, and nothing in between.
 */
export function createGrpcTransport(options: GrpcTransportOptions): SocketTransport {
  const { keepalive, requestBytes, limits = defaultServerLimits, requestTimeoutMs = 10_000 } = options;
  const { streamsPerConnection } = limits;
  const connectionLimits: ConnectionLimits = { streams: streamsPerConnection, headerBytes };
  const useOf = createClientUse(limits, requestBytes);
  const patience = new Patience(requestTimeoutMs, () => performance.now());
  let { tls } = options;
  const methods = new Map<string, GrpcMethod>();
  const connections = new Map<Socket, Http2Connection>();
  const servers = new Set<Server>();
  /** Below TLS; `connections` has those that got through their handshakes. */
  const strangers: ReadonlySet<Socket>[] = [];
  const connectionIsFull = `${streamsPerConnection} streams are open on one connection, and none may have more (limits.streams_per_connection)`;
  const slab = new Slab();
  const readShared = createSharedReads();
  const budget = createTurnBudget();
  let isClosing = false;
  function serve(socket: Socket): void {
    if (isClosing) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    // Not before: who goes in the midst of a TLS handshake has nothing to wait for.
    socket.allowHalfOpen = true;
    const peer = peerOf(socket);
    const use = useOf(plainHost(socket.remoteAddress));
    const refused = (code: StatusCode, message: string) => options.refused?.(peer, code, message);
    const context: GrpcContext = { methods, requestBytes, peer, use, patience, refused };
    const connection = new Http2Connection(
      {
        slab,
        write: (chunks) => writeToSocket(socket, chunks),
        finish() {
          socket.end();
          linger(isClosing ? lastLingerMs : lingerMs);
        },
        now: () => performance.now(),
        accept: (head, stream) => serveGrpc(context, head, stream),
        full: () => refused(statusCode.resourceExhausted, connectionIsFull),
      },
      connectionLimits,
    );
    connections.set(socket, connection);
    let last: NodeJS.Timeout | undefined;
    function linger(ms: number): void {
      last ??= setTimeout(() => socket.destroy(), ms).unref();
    }
    const late = setTimeout(() => {
      if (!connection.isOpen) socket.destroy();
    }, prefaceMs).unref();
    const stopPings = keepAlive(socket, connection, keepalive);
    /** A fault in here ends this connection, never the server. */
    function failed(error: unknown): void {
      socket.destroy();
      options.fault?.(peer, error);
    }
    const guarded = (work: () => void) => () => {
      try {
        work();
      } catch (error) {
        failed(error);
      }
    };
    function receive(bytes: Buffer): void {
      try {
        connection.receive(bytes);
      } catch (error) {
        failed(error);
      }
    }
    const stopAgeing = limitAge(
      {
        goAway: guarded(() => connection.goAway()),
        stopCalls: guarded(() => stopCalls(connection)),
        destroy: () => socket.destroy(),
      },
      keepalive,
    );
    const later = (bytes: Buffer) => budget.spend(socket, !connection.isOpen, () => receive(bytes));
    const isShared = readShared(socket, (bytes) => {
      if (budget.hasTime(socket)) receive(bytes);
      else later(Buffer.from(bytes));
    });
    if (!isShared) {
      socket.on("data", (bytes: Buffer) => {
        if (budget.hasTime(socket)) receive(bytes);
        else later(bytes);
      });
    }
    socket.on(
      "drain",
      guarded(() => connection.drained()),
    );
    // What went wrong is of no use. Of bytes that TLS cannot decrypt Node only tells.
    socket.on("error", () => void socket.destroy());
    // A fleet that goes does so in one turn: what that costs is spread over several.
    const endReading = tellEnd(socket, (end) => budget.defer(socket, end === "broken" ? letGo : inputEnded));
    const letGo = () => void socket.destroy();
    const inputEnded = guarded(() => {
      if (socket.destroyed) return;
      if (socket.readableLength > 0) {
        // Over TLS Node keeps what is not read, which comes first.
        socket.once("end", () => budget.defer(socket, inputEnded));
        endReading();
        return;
      }
      if (endInput(connection)) finish(socket);
      // It cannot give us room any more: what does not go out by then never does.
      else linger(lingerMs);
      if (!socket.destroyed) endReading();
    });
    socket.on("close", () => {
      clearTimeout(late);
      // Which would keep all that is here for as long.
      clearTimeout(last);
      stopPings();
      stopAgeing();
      connections.delete(socket);
      budget.spend(
        socket,
        false,
        guarded(() => {
          connection.closed();
          use.end();
        }),
      );
    });
  }

  return {
    servers,
    async listen(address, accept, services, descriptor) {
      const { host, port } = listenAddress(address);
      if (methods.size === 0) {
        addDiscovery(methods, options.types, accept);
        for (const service of services) {
          for (const [name, method] of Object.entries(service.methods)) methods.set(`/${service.name}/${name}`, method);
        }
      }
      const server =
        tls === undefined
          ? createServer(serve)
          : createTlsServer({ ALPNProtocols: ["h2"], handshakeTimeout: handshakeMs, ...tls }, serve);
      servers.add(server);
      if (server instanceof TlsServer) {
        strangers.push(followHandshakes(server, tls?.handshakeTimeout ?? handshakeMs, options.handshakeFailed));
      }
      const bound = await new Promise<number>((resolve, reject) => {
        server.once("error", (error) => reject(listenError(address, error)));
        server.listen({ ...(descriptor === undefined ? { host, port } : { fd: descriptor }), backlog }, () => {
          const at = server.address();
          resolve(typeof at === "object" && at !== null ? at.port : port);
        });
      });
      server.on("error", () => {});
      return formatAddress({ host, port: bound });
    },
    async close(timeoutMs) {
      isClosing = true;
      const ended = [...servers].map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      for (const [socket, connection] of connections) {
        // Nobody is there to be told, or nobody yet.
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
    },
    renew(renewed) {
      if (tls === undefined) return;
      tls = { ...tls, ...renewed };
      for (const server of servers) if (server instanceof TlsServer) server.setSecureContext(tls);
    },
  };
}

/** The client sends no more. Where nothing waits to be written all is done here and now, so that whoever counts what it costs sees it. */
function finish(socket: Socket): void {
  if (socket.writableLength === 0 && !(socket instanceof TLSSocket)) socket.destroy();
  else socket.end();
}

/** Pings a connection that is silent, and closes one that does not answer; returns what stops it. */
function keepAlive(socket: Socket, connection: Http2Connection, { intervalMs, timeoutMs }: Keepalive): () => void {
  let late: NodeJS.Timeout | undefined;
  const timer = setInterval(
    () => {
      if (connection.pings > 0) return;
      connection.ping();
      if (connection.pings === 0) return;
      clearTimeout(late);
      late = setTimeout(
        () => {
          if (connection.pings > 0) socket.destroy();
        },
        Math.min(timeoutMs, longestTimerMs),
      ).unref();
    },
    Math.min(intervalMs, longestTimerMs),
  ).unref();
  return () => {
    clearInterval(timer);
    clearTimeout(late);
  };
}

function addDiscovery(methods: Map<string, GrpcMethod>, types: ResourceTypes, accept: Accept): void {
  for (const [service, served] of discoveryMethods(types)) {
    for (const [name, method] of served) {
      methods.set(`/${service}/${name}`, {
        unary: method.unary,
        accept: (call) => accept(Object.assign(call, { method })),
      });
    }
  }
}
