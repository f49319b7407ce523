import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { endInput, stopCalls } from "../connection/connection-end.js";
import type { ConnectionHost, ConnectionLimits } from "../connection/connection-host.js";
import { Http2Connection } from "../connection/http2-connection.js";
import { tellEnd } from "../node-internals/late-ends.js";
import type { LentBytes } from "../node-internals/shared-reads.js";
import { longestTimerMs } from "../timing/longest-timer.js";
import { ConnectionAge } from "./connection-age.js";
import { handshakeMs } from "./handshakes.js";
import type { Keepalive } from "./keepalive.js";
import type { TurnBudget } from "./turn-budget.js";
import { writeToSocket } from "./write-to-socket.js";

/**
 * The time that a connection which we ended may stay open until its client has read the rest and closes it too, in
 * milliseconds.
 */
const lingerMs = 10_000;
/** The same when the server shuts down: the kernel sends the written bytes without us. */
const lastLingerMs = 250;

/** The parts that the sockets of one server share. */
export interface SocketContext {
  readonly keepalive: Keepalive;
  readonly limits: ConnectionLimits;
  readonly budget: TurnBudget;
  /** Reads a socket into shared memory; false if that cannot be done. */
  readonly readShared: (socket: Socket, receive: LentBytes) => boolean;
  /** The server is closing. */
  readonly isClosing: () => boolean;
}

/** What the connection over a socket belongs to. */
interface SocketHost extends Pick<ConnectionHost, "slab" | "now" | "accept" | "full" | "foreign"> {
  /** When the client's certificate ends, in milliseconds since 1970; undefined: it showed none. */
  readonly certificateEnds: number | undefined;
}

/** Called by a socket. */
interface SocketListener {
  /** A fault of our own, which ended this connection and nothing else. */
  fault(error: unknown): void;
  /** The socket is gone. `released` follows in its turn, when the connection was released. */
  closed(): void;
  released(): void;
}

/** A connection and its end. */
export interface ServedSocket {
  readonly connection: Http2Connection;
  readonly age: ConnectionAge;
}

/** Joins a socket and the HTTP/2 connection over it, until the socket is gone. */
export function serveSocket(
  socket: Socket,
  context: SocketContext,
  host: SocketHost,
  listener: SocketListener,
): ServedSocket {
  const { keepalive, budget } = context;
  socket.setNoDelay(true);
  // Not before: a client that leaves during its TLS handshake has nothing to wait for.
  socket.allowHalfOpen = true;
  let last: NodeJS.Timeout | undefined;
  const linger = (ms: number): void => {
    last ??= setTimeout(() => socket.destroy(), ms).unref();
  };
  const connection = new Http2Connection(
    // Written out: a literal that begins with a spread gets a new hidden class each time that it runs.
    {
      slab: host.slab,
      now: host.now,
      accept: host.accept,
      full: host.full,
      foreign: host.foreign,
      write: (chunks) => writeToSocket(socket, chunks),
      finish() {
        socket.end();
        linger(context.isClosing() ? lastLingerMs : lingerMs);
      },
    },
    context.limits,
  );
  const late = setTimeout(() => {
    if (!connection.isOpen) socket.destroy();
  }, handshakeMs).unref();
  const guarded = (work: () => void) => () => {
    try {
      work();
    } catch (error) {
      socket.destroy();
      listener.fault(error);
    }
  };
  const stopPings = keepAlive(socket, connection, keepalive);
  const age = new ConnectionAge(
    {
      goAway: guarded(() => connection.goAway()),
      stopCalls: guarded(() => stopCalls(connection)),
      destroy: () => socket.destroy(),
    },
    keepalive,
    host.certificateEnds,
  );
  readFrom(socket, connection, context, listener);
  socket.on(
    "drain",
    guarded(() => connection.drained()),
  );
  // The error itself is of no use. For bytes that TLS cannot decrypt Node only emits it.
  socket.on("error", () => void socket.destroy());
  followEnd(socket, connection, budget, guarded, () => linger(lingerMs));
  socket.on("close", () => {
    clearTimeout(late);
    // The timer would keep the connection in memory for as long.
    clearTimeout(last);
    stopPings();
    age.stop();
    listener.closed();
    budget.spend(
      socket,
      false,
      guarded(() => {
        connection.closed();
        listener.released();
      }),
    );
  });
  return { connection, age };
}

/** Passes received bytes to the connection, at once or, if this turn of the event loop was spent on others, later. */
function readFrom(
  socket: Socket,
  connection: Http2Connection,
  { budget, readShared }: SocketContext,
  listener: SocketListener,
): void {
  // Not by `guarded`: this is done for each read.
  function receive(bytes: Buffer): void {
    try {
      connection.receive(bytes);
    } catch (error) {
      socket.destroy();
      listener.fault(error);
    }
  }
  const later = (bytes: Buffer) => budget.spend(socket, !connection.isOpen, () => receive(bytes));
  const isShared = readShared(socket, (bytes) => {
    if (budget.hasTime(socket)) receive(bytes);
    else later(Buffer.from(bytes));
  });
  if (isShared) return;
  socket.on("data", (bytes: Buffer) => {
    if (budget.hasTime(socket)) receive(bytes);
    else later(bytes);
  });
}

/** A fleet that leaves does so in one turn: its cost is spread over several. */
function followEnd(
  socket: Socket,
  connection: Http2Connection,
  budget: TurnBudget,
  guarded: (work: () => void) => () => void,
  linger: () => void,
): void {
  const endReading = tellEnd(socket, (end) => budget.defer(socket, end === "broken" ? letGo : inputEnded));
  const letGo = () => void socket.destroy();
  const inputEnded = guarded(() => {
    if (socket.destroyed) return;
    if (socket.readableLength > 0) {
      // Over TLS Node still holds unread bytes, which come first.
      socket.once("end", () => budget.defer(socket, inputEnded));
      endReading();
      return;
    }
    if (endInput(connection)) finish(socket);
    // The client cannot grow its windows any more: bytes that do not go out by then never do.
    else linger();
    if (!socket.destroyed) endReading();
  });
}

/**
 * The client sends no more. If nothing waits to be written, the socket is destroyed here and now, so that the turn
 * budget sees the cost.
 */
function finish(socket: Socket): void {
  if (socket.writableLength === 0 && !(socket instanceof TLSSocket)) socket.destroy();
  else socket.end();
}

/** Pings a silent connection, and closes one that does not answer; returns a function that stops this. */
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
