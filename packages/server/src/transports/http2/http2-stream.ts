import { ourWindow } from "./frames.js";
import { type Http2ErrorCode, http2Error, StreamError } from "./http2-errors.js";
import { type Again, OutgoingQueue } from "./outgoing-queue.js";

/** What serves a stream. Nothing of it throws. */
export interface StreamHandler {
  /** Its client waits for nothing: all that it asked for it has. Left out, or undefined: nobody knows. */
  readonly isSettled?: boolean | undefined;
  /** A part of the request's body: these bytes from there on; only good until the call returns. */
  data(bytes: Buffer, from: number): void;
  /** The client sends no more. */
  ended(): void;
  /** There is room to send again. */
  drained(): void;
  /** The connection is to end: so is what is served, cleanly. */
  stopped(): void;
  /** Nothing is left of the stream, whatever the reason. Called once. */
  closed(): void;
}

/** A stream as what serves it sees it. */
export interface ServerStream {
  /** Sends the head of the response: an encoded header block. Once, and before any data; it goes out with what follows. */
  respond(block: Uint8Array): void;
  /**
   * Sends three parts of the body as one piece. The first is copied, and may be used again; the others may be shared, and must not change. False: taken, but
   * there is no room for more until `drained`. `again` has the bytes of `body` again: what waits is then no copy of them.
   */
  send(prefix: Uint8Array, body?: Uint8Array, tail?: Uint8Array, again?: Again): boolean;
  /** Ends the response behind what was sent, by trailers; where `respond` was not called these are all of it. */
  end(block: Uint8Array): void;
  /** Ends the stream at once; what waits is dropped. */
  reset(code: Http2ErrorCode): void;
}

/** The connection of a stream, as the stream sees it. */
export interface StreamOwner {
  respond(stream: StreamState, block: Uint8Array): void;
  send(stream: StreamState, prefix: Uint8Array, body: Uint8Array, tail: Uint8Array, again: Again | undefined): boolean;
  end(stream: StreamState, block: Uint8Array): void;
  resetStream(id: number, code: Http2ErrorCode): void;
}

const nothing = new Uint8Array(0);

/** What the connection keeps of a stream. */
export class StreamState implements ServerStream {
  readonly #owner: StreamOwner;
  readonly id: number;
  readonly queue = new OutgoingQueue();
  handler: StreamHandler | undefined;
  /** How many bytes of data may be sent to the peer, beyond what it allows each stream at its start: settings that change that visit no stream. */
  sendOffset = 0;
  /** How many were received of those that the peer may send, since the last WINDOW_UPDATE. */
  received = 0;
  /** Bytes of the body that have not come, where the request said how many there are. */
  awaited: number | undefined;
  /** The peer sent END_STREAM. */
  isHalfClosed = false;
  hasResponded = false;
  /** Sent once the queue is empty. */
  trailers: Uint8Array | undefined;
  /** Something waits in the queue, as `send` said: there is no room. */
  isFull = false;
  isClosed = false;

  constructor(owner: StreamOwner, id: number) {
    this.#owner = owner;
    this.id = id;
  }

  /** So much of the body came, in a frame of so many bytes. Throws a StreamError where that is more than there was room for, or than was announced. */
  take(frameBytes: number, bytes: number): void {
    this.received += frameBytes;
    if (this.received > ourWindow)
      throw new StreamError(http2Error.flowControlError, "more data than there was room for");
    if (this.awaited === undefined) return;
    this.awaited -= bytes;
    if (this.awaited < 0) throw new StreamError(http2Error.protocolError, "more content than content-length says");
  }

  /** Its client sends HEADERS again. Throws a StreamError where these cannot be what ends the body. */
  checkEnd(endStream: boolean): void {
    if (this.isHalfClosed) throw new StreamError(http2Error.streamClosed, "HEADERS after the end");
    if (!endStream) throw new StreamError(http2Error.protocolError, "a second head");
  }

  /** Throws a StreamError where the body is shorter than was announced (8.1.1). */
  checkWhole(): void {
    if (this.awaited === undefined || this.awaited === 0) return;
    throw new StreamError(http2Error.protocolError, "less content than content-length says");
  }

  respond(block: Uint8Array): void {
    if (!this.isClosed && !this.hasResponded) this.#owner.respond(this, block);
  }

  send(prefix: Uint8Array, body: Uint8Array = nothing, tail: Uint8Array = nothing, again?: Again): boolean {
    if (this.isClosed || this.trailers !== undefined) return false;
    return this.#owner.send(this, prefix, body, tail, again);
  }

  end(block: Uint8Array): void {
    if (!this.isClosed && this.trailers === undefined) this.#owner.end(this, block);
  }

  reset(code: Http2ErrorCode): void {
    this.#owner.resetStream(this.id, code);
  }
}
