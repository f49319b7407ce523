import type { FloodGuard } from "./flood-guard.js";
import { defaultWindow, frameHeadBytes, frameType, largestWindow, putFrameHead } from "./frames.js";
import { ConnectionError, http2Error, StreamError } from "./http2-errors.js";
import type { StreamState } from "./http2-stream.js";
import type { PeerSettings } from "./peer-settings.js";

/** A stream counts as full when so much of it waits. A single larger message is taken all the same: it is shared with other streams. */
const fullBytes = 16 * 1024;

/** Sends what streams have to send, as far as the windows of the peer and the socket let it: a frame of each stream in turn, so that none starves another. */
export class Http2Sender {
  readonly #write: (bytes: Buffer) => boolean;
  readonly #peer: PeerSettings;
  readonly #flood: FloodGuard;
  readonly #finish: (stream: StreamState, trailers: Uint8Array) => void;
  /** Those with data to send and room in their own window. */
  readonly #ready = new Set<StreamState>();
  #window = defaultWindow;
  #isBlocked = false;
  #isFlushing = false;

  /** `write` says whether the socket has room for more; `finish` is called for a stream whose last data went out, if trailers wait. */
  constructor(options: {
    readonly write: (bytes: Buffer) => boolean;
    readonly peer: PeerSettings;
    readonly flood: FloodGuard;
    readonly finish: (stream: StreamState, trailers: Uint8Array) => void;
  }) {
    this.#write = options.write;
    this.#peer = options.peer;
    this.#flood = options.flood;
    this.#finish = options.finish;
  }

  /** Writes a frame that no window counts. */
  control(bytes: Buffer): void {
    if (!this.#write(bytes)) this.#isBlocked = true;
  }

  /** Takes parts of one piece of data; false when there is no room for more. */
  send(stream: StreamState, parts: readonly Uint8Array[]): boolean {
    for (const part of parts) stream.queue.push(part);
    this.#readyIfSo(stream);
    this.flush();
    stream.isFull = stream.queue.bytes >= fullBytes;
    return !stream.isFull;
  }

  /** The peer takes so many bytes more on a stream, or less by new settings. Throws a StreamError. */
  grow(stream: StreamState, bytes: number): void {
    stream.sendWindow += bytes;
    if (stream.sendWindow > largestWindow) throw new StreamError(http2Error.flowControlError, "a window is too large");
    this.#readyIfSo(stream);
  }

  /** The same for the connection. Throws a ConnectionError. */
  growAll(bytes: number): void {
    this.#window += bytes;
    if (this.#window > largestWindow) throw new ConnectionError(http2Error.flowControlError, "a window is too large");
  }

  drop(stream: StreamState): void {
    stream.queue.clear();
    this.#ready.delete(stream);
  }

  /** The socket has room again. */
  drained(): void {
    this.#isBlocked = false;
    this.flush();
  }

  flush(): void {
    // What a handler does when it hears of room comes back here: one loop is enough.
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      while (this.#window > 0 && !this.#isBlocked) {
        const [stream] = this.#ready;
        if (stream === undefined) return;
        this.#ready.delete(stream);
        this.#sendFrame(stream);
        this.#readyIfSo(stream);
        this.#afterSending(stream);
      }
    } finally {
      this.#isFlushing = false;
    }
  }

  #readyIfSo(stream: StreamState): void {
    if (stream.queue.bytes > 0 && stream.sendWindow > 0) this.#ready.add(stream);
  }

  #sendFrame(stream: StreamState): void {
    const { queue } = stream;
    const length = Math.min(queue.bytes, stream.sendWindow, this.#window, this.#peer.frameBytes);
    const bytes = Buffer.allocUnsafe(frameHeadBytes + length);
    putFrameHead(bytes, 0, length, frameType.data, 0, stream.id);
    queue.take(bytes, frameHeadBytes, length);
    stream.sendWindow -= length;
    this.#window -= length;
    this.#flood.earn();
    this.control(bytes);
  }

  #afterSending(stream: StreamState): void {
    if (stream.queue.bytes === 0 && stream.trailers !== undefined) this.#finish(stream, stream.trailers);
    else if (stream.isFull && stream.queue.bytes < fullBytes) {
      stream.isFull = false;
      stream.handler?.drained();
    }
  }
}
