import type { Http2ErrorCode } from "./http2-errors.js";
import { OutgoingQueue } from "./outgoing-queue.js";

/** What serves a stream. Nothing of it throws. */
export interface StreamHandler {
  /** A part of the request's body; only good until the call returns. */
  data(bytes: Buffer): void;
  /** The client sends no more. */
  ended(): void;
  /** There is room to send again. */
  drained(): void;
  /** Nothing is left of the stream, whatever the reason. Called once. */
  closed(): void;
}

/** A stream as what serves it sees it. */
export interface ServerStream {
  /** Sends the head of the response: an encoded header block. Once, and before any data; it goes out with what follows. */
  respond(block: Uint8Array): void;
  /** Sends parts of the body as one piece; they may be shared, and must not change. False: taken, but there is no room for more until `drained`. */
  send(...parts: readonly Uint8Array[]): boolean;
  /** Ends the response behind what was sent, by trailers; where `respond` was not called these are all of it. */
  end(block: Uint8Array): void;
  /** Ends the stream at once; what waits is dropped. */
  reset(code: Http2ErrorCode): void;
}

/** The connection of a stream, as the stream sees it. */
export interface StreamOwner {
  respond(stream: StreamState, block: Uint8Array): void;
  send(stream: StreamState, parts: readonly Uint8Array[]): boolean;
  end(stream: StreamState, block: Uint8Array): void;
  resetStream(id: number, code: Http2ErrorCode): void;
}

/** What the connection keeps of a stream. */
export class StreamState implements ServerStream {
  readonly #owner: StreamOwner;
  readonly id: number;
  readonly queue = new OutgoingQueue();
  handler: StreamHandler | undefined;
  /** How many bytes of data may be sent to the peer. */
  sendWindow: number;
  /** How many were received of those that the peer may send, since the last WINDOW_UPDATE. */
  received = 0;
  /** Bytes of the body that have not come, where the request said how many there are. */
  awaited: number | undefined;
  /** The peer sent END_STREAM. */
  isHalfClosed = false;
  hasResponded = false;
  /** Sent once the queue is empty. */
  trailers: Uint8Array | undefined;
  /** `send` said that there is no room. */
  isFull = false;
  isClosed = false;

  constructor(owner: StreamOwner, id: number, sendWindow: number) {
    this.#owner = owner;
    this.id = id;
    this.sendWindow = sendWindow;
  }

  respond(block: Uint8Array): void {
    if (!this.isClosed && !this.hasResponded) this.#owner.respond(this, block);
  }

  send(...parts: readonly Uint8Array[]): boolean {
    if (this.isClosed || this.trailers !== undefined) return false;
    return this.#owner.send(this, parts);
  }

  end(block: Uint8Array): void {
    if (!this.isClosed && this.trailers === undefined) this.#owner.end(this, block);
  }

  reset(code: Http2ErrorCode): void {
    this.#owner.resetStream(this.id, code);
  }
}
