import { ourWindow } from "../frames/frames.js";
import { type Http2ErrorCode, http2Error, StreamError } from "../frames/http2-errors.js";
import { OutgoingQueue, type RemakableBytes } from "./outgoing-queue.js";

/** The handler of a stream. No function may throw. */
export interface Http2StreamHandler {
  /** Whether its client has everything that it asked for. Left out or undefined: unknown. */
  readonly isInSync?: boolean | undefined;
  /** A part of the request's body: these bytes from `from` on. They are only good until the call returns. */
  data(bytes: Buffer, from: number): void;
  /** The client sends no more. */
  ended(): void;
  /** There is room to send again. */
  drained(): void;
  /** The connection is ending: end the stream with OK. */
  stopped(): void;
  /** The stream is gone, whatever the reason. Called once. */
  closed(): void;
}

/** A stream as its handler sees it. */
export type Http2Stream = Pick<Http2StreamState, "respond" | "send" | "end" | "reset">;

/** The connection of a stream, as the stream sees it. */
export interface StreamOwner {
  respond(stream: Http2StreamState, block: Uint8Array): void;
  send(
    stream: Http2StreamState,
    prefix: Uint8Array,
    body: Uint8Array,
    tail: Uint8Array,
    again: RemakableBytes | undefined,
  ): boolean;
  end(stream: Http2StreamState, block: Uint8Array): void;
  resetStream(id: number, code: Http2ErrorCode): void;
}

const nothing = new Uint8Array(0);

/** A stream's state in its connection. */
export class Http2StreamState {
  readonly #owner: StreamOwner;
  readonly id: number;
  readonly queue = new OutgoingQueue();
  handler: Http2StreamHandler | undefined;
  /**
   * The number of bytes that may be sent beyond the initial window of each stream. A change of that window visits no
   * stream.
   */
  sendOffset = 0;
  /** Bytes received since the last WINDOW_UPDATE. */
  received = 0;
  /** Bytes of the body that are still to come, if the request has a content-length. */
  awaited: number | undefined;
  /** The peer sent END_STREAM. */
  isHalfClosed = false;
  hasResponded = false;
  /** Sent once the queue is empty. */
  trailers: Uint8Array | undefined;
  /** Something waits in the queue: `send` returned false. */
  isFull = false;
  isClosed = false;

  constructor(owner: StreamOwner, id: number) {
    this.#owner = owner;
    this.id = id;
  }

  /** Counts a part of the body. Throws a StreamError if it exceeds the window or the content-length. */
  take(frameBytes: number, bytes: number): void {
    this.received += frameBytes;
    if (this.received > ourWindow)
      throw new StreamError(http2Error.flowControlError, "more data than there was room for");
    if (this.awaited === undefined) return;
    this.awaited -= bytes;
    if (this.awaited < 0) throw new StreamError(http2Error.protocolError, "more content than content-length says");
  }

  /** The client sends HEADERS again. Throws a StreamError unless they end the body. */
  checkEnd(endStream: boolean): void {
    if (this.isHalfClosed) throw new StreamError(http2Error.streamClosed, "HEADERS after the end");
    if (!endStream) throw new StreamError(http2Error.protocolError, "a second head");
  }

  /** Throws a StreamError if the body is shorter than its content-length (8.1.1). */
  checkWhole(): void {
    if (this.awaited === undefined || this.awaited === 0) return;
    throw new StreamError(http2Error.protocolError, "less content than content-length says");
  }

  /** Sends the head of the response, an encoded header block: once, before any data. It goes out with the next data. */
  respond(block: Uint8Array): void {
    if (!this.isClosed && !this.hasResponded) this.#owner.respond(this, block);
  }

  /**
   * Sends three parts of the body as one piece. The first is copied and may be used again; the others may be shared
   * and must not change. False: taken, but there is no room for more until `drained`. `again` can produce the bytes
   * of `body` again, so that no copy of them waits.
   */
  send(prefix: Uint8Array, body: Uint8Array = nothing, tail: Uint8Array = nothing, again?: RemakableBytes): boolean {
    if (this.isClosed || this.trailers !== undefined) return false;
    return this.#owner.send(this, prefix, body, tail, again);
  }

  /** Ends the response with trailers, after the sent data. Without `respond` they are the whole response. */
  end(block: Uint8Array): void {
    if (!this.isClosed && this.trailers === undefined) this.#owner.end(this, block);
  }

  /** Resets the stream at once, and drops waiting data. */
  reset(code: Http2ErrorCode): void {
    this.#owner.resetStream(this.id, code);
  }
}
