import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { endInput, stopCalls } from "../connection/connection-end.js";
import type { ConnectionHost, ConnectionLimits } from "../connection/connection-host.js";
import { Http2Connection } from "../connection/http2-connection.js";
import type { Http2Stream, Http2StreamHandler } from "../connection/http2-stream.js";
import type { Slab, Written } from "../connection/output.js";
import type { HttpRequestHead } from "../frames/request-head.js";
import { endReading, type SocketEnd, tellEnd } from "../node-internals/late-ends.js";
import type { LentBytes } from "../node-internals/shared-reads.js";
import { longestTimerMs } from "../timing/longest-timer.js";
import type { Patience, Waited } from "../timing/patience.js";
import { type Ageing, ConnectionAge } from "./connection-age.js";
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
  readonly slab: Slab;
  readonly keepalive: Keepalive;
  readonly limits: ConnectionLimits;
  readonly budget: TurnBudget;
  /** Milliseconds, never going back. */
  readonly now: () => number;
  /** Reads a socket into shared memory; false if that cannot be done. */
  readonly readShared: (socket: Socket, receive: LentBytes) => boolean;
  /** For connections whose clients do not send the preface. */
  readonly handshakes: Patience;
  /** The server is closing. */
  readonly isClosing: () => boolean;
}

/** What the connection over a socket belongs to. */
export interface SocketHost extends Pick<ConnectionHost, "accept" | "full" | "foreign"> {
  /** When the client's certificate ends, in milliseconds since 1970; undefined: it showed none. */
  readonly certificateEnds: number | undefined;
  /** A fault of our own ended this connection, and nothing else. */
  failed(error: unknown): void;
  /** The socket is gone. `released` follows in its turn, when the connection was released. */
  closed(): void;
  released(): void;
}

/** Its own on each socket, so that the listeners of its events are the same functions for all sockets. */
const servedBy = Symbol("served by");

type Listened = Socket & { [servedBy]?: ServedSocket };

/**
 * Joins a socket and the HTTP/2 connection over it, until the socket is gone. A fleet has one for each client: what
 * most connections never do has no function of its own on each.
 */
export class ServedSocket implements ConnectionHost, Ageing, Waited {
  readonly slab: Slab;
  readonly now: () => number;
  readonly connection: Http2Connection;
  readonly age: ConnectionAge;
  readonly #socket: Listened;
  readonly #context: SocketContext;
  readonly #host: SocketHost;
  /** Of the wait for the client's preface: as `Waited`. */
  since = 0;
  due = 0;
  readonly grantedMs = 0;
  readonly #pings: NodeJS.Timeout;
  /** Ends one whose client does not answer a ping. */
  #unanswered: NodeJS.Timeout | undefined;
  /** Ends one that we ended, and whose client does not close it. */
  #last: NodeJS.Timeout | undefined;

  constructor(socket: Socket, context: SocketContext, host: SocketHost) {
    const { keepalive } = context;
    this.slab = context.slab;
    this.now = context.now;
    this.#socket = socket;
    this.#context = context;
    this.#host = host;
    this.connection = new Http2Connection(this, context.limits);
    this.#pings = setInterval(ping, Math.min(keepalive.intervalMs, longestTimerMs), this).unref();
    this.age = new ConnectionAge(this, keepalive, host.certificateEnds);
  }

  /** Begins to read. */
  listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    // Not before: a client that leaves during its TLS handshake has nothing to wait for.
    socket.allowHalfOpen = true;
    socket[servedBy] = this;
    this.#context.handshakes.begin(this);
    if (!this.#context.readShared(socket, onLentBytes)) socket.on("data", onData);
    socket.on("drain", onDrain);
    // The error itself is of no use. For bytes that TLS cannot decrypt Node only emits it.
    socket.on("error", onError);
    tellEnd(socket, onEnd);
    socket.on("close", onClose);
  }

  accept(head: HttpRequestHead, stream: Http2Stream): Http2StreamHandler {
    return this.#host.accept(head, stream);
  }

  full(): void {
    this.#host.full?.();
  }

  foreign(reason: string): void {
    this.#host.foreign?.(reason);
  }

  write(chunks: readonly Buffer[]): Written {
    return writeToSocket(this.#socket, chunks);
  }

  finish(): void {
    this.#socket.end();
    this.#linger(this.#context.isClosing() ? lastLingerMs : lingerMs);
  }

  goAway(): void {
    this.#guard(() => this.connection.goAway());
  }

  stopCalls(): void {
    this.#guard(() => stopCalls(this.connection));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * Bytes have come: passes them on at once or, if this turn of the event loop was spent on others, later. `isLent`:
   * they are only good until this returns.
   */
  came(bytes: Buffer, isLent: boolean): void {
    if (this.#context.budget.hasTime(this.#socket)) this.#receive(bytes);
    else this.#receiveLater(isLent ? Buffer.from(bytes) : bytes);
  }

  #receiveLater(bytes: Buffer): void {
    this.#context.budget.spend(this.#socket, !this.connection.isOpen, () => this.#receive(bytes));
  }

  // Not by `#guard`: this is done for each read.
  #receive(bytes: Buffer): void {
    try {
      this.connection.receive(bytes);
    } catch (error) {
      this.#failed(error);
    }
  }

  drained(): void {
    this.#guard(() => this.connection.drained());
  }

  /** A fleet that leaves does so in one turn: its cost is spread over several. */
  ended(end: SocketEnd): void {
    this.#context.budget.defer(this.#socket, () => {
      if (end === "broken") this.#socket.destroy();
      else this.#guard(() => this.#inputEnded());
    });
  }

  #inputEnded(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (socket.readableLength > 0) {
      // Over TLS Node still holds unread bytes, which come first.
      socket.once("end", () => this.ended("input"));
      endReading(socket);
      return;
    }
    if (endInput(this.connection)) finish(socket);
    // The client cannot grow its windows any more: bytes that do not go out by then never do.
    else this.#linger(lingerMs);
    if (!socket.destroyed) endReading(socket);
  }

  closed(): void {
    this.#context.handshakes.end(this);
    // The timer would keep the connection in memory for as long.
    clearTimeout(this.#last);
    clearInterval(this.#pings);
    clearTimeout(this.#unanswered);
    this.age.stop();
    this.#host.closed();
    this.#context.budget.spend(this.#socket, false, () =>
      this.#guard(() => {
        this.connection.closed();
        this.#host.released();
      }),
    );
  }

  /** Pings a silent connection, and closes one that does not answer. */
  ping(): void {
    const { connection } = this;
    if (connection.pings > 0) return;
    connection.ping();
    if (connection.pings === 0) return;
    clearTimeout(this.#unanswered);
    const { timeoutMs } = this.#context.keepalive;
    this.#unanswered = setTimeout(endUnanswered, Math.min(timeoutMs, longestTimerMs), this).unref();
  }

  /** The time for the preface is over. */
  late(): void {
    if (!this.connection.isOpen) this.#socket.destroy();
  }

  #linger(ms: number): void {
    this.#last ??= setTimeout(() => this.#socket.destroy(), ms).unref();
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#socket.destroy();
    this.#host.failed(error);
  }
}

function onLentBytes(socket: Listened, bytes: Buffer): void {
  socket[servedBy]?.came(bytes, true);
}

function onData(this: Listened, bytes: Buffer): void {
  this[servedBy]?.came(bytes, false);
}

function onDrain(this: Listened): void {
  this[servedBy]?.drained();
}

function onError(this: Listened): void {
  this.destroy();
}

function onEnd(socket: Listened, end: SocketEnd): void {
  socket[servedBy]?.ended(end);
}

function onClose(this: Listened): void {
  this[servedBy]?.closed();
}

function ping(served: ServedSocket): void {
  served.ping();
}

function endUnanswered(served: ServedSocket): void {
  if (served.connection.pings > 0) served.destroy();
}

/**
 * The client sends no more. If nothing waits to be written, the socket is destroyed here and now, so that the turn
 * budget sees the cost.
 */
function finish(socket: Socket): void {
  if (socket.writableLength === 0 && !(socket instanceof TLSSocket)) socket.destroy();
  else socket.end();
}
