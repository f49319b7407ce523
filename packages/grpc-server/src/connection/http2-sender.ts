import { defaultFrameBytes, defaultWindow, frameType, largestWindow } from "../frames/frames.js";
import { ConnectionError, http2Error, StreamError } from "../frames/http2-errors.js";
import type { PeerSettings } from "../frames/peer-settings.js";
import type { FloodGuard } from "./flood-guard.js";
import type { Http2StreamState, StreamOwner } from "./http2-stream.js";
import type { RemakableBytes } from "./outgoing-queue.js";
import type { Output } from "./output.js";

/**
 * A client that is silent for this many milliseconds after more than a frame was sent may have stopped reading. Bytes
 * in its socket may then stay there, with the whole buffer that they are part of. It is long enough that a fleet which
 * acknowledges late costs no more than usual.
 */
const silenceMs = 500;

/** A smaller frame earns nothing at the flood guard if there was more to send. */
const smallBytes = 1_024;

/** The number of stream visits, caused by a SETTINGS frame, that count as one idle frame. */
const visitsPerCost = 100;

const tooLarge = "a window is too large";

/**
 * Sends the data of streams, as far as the peer's windows and the socket have room: one frame of each stream in turn,
 * so that none starves another.
 */
export class Http2Sender {
  readonly #output: Output;
  readonly #peer: PeerSettings;
  readonly #flood: FloodGuard;
  readonly #owner: Pick<StreamOwner, "end">;
  /**
   * Streams with data to send and room in their own window when they were last looked at. Most connections never have
   * one.
   */
  #ready: Set<Http2StreamState> | undefined;
  /** Streams with data to send and no room in their own window. */
  #blocked: Set<Http2StreamState> | undefined;
  /** No stream's window is further above the initial one than this. */
  #highestOffset = 0;
  #window = defaultWindow;
  #isFlushing = false;
  readonly #now: () => number;
  /** The time since which the peer has not reacted to more than a frame. */
  #silentSince: number | undefined;

  /** `owner` ends a stream whose last data went out, if trailers wait. */
  constructor(
    output: Output,
    peer: PeerSettings,
    flood: FloodGuard,
    owner: Pick<StreamOwner, "end">,
    now: () => number,
  ) {
    this.#now = now;
    this.#output = output;
    this.#peer = peer;
    this.#flood = flood;
    this.#owner = owner;
  }

  /**
   * Sends three parts of one piece of data. Returns false when there is no room for more; only bytes that the peer does
   * not take yet are kept.
   */
  send(
    stream: Http2StreamState,
    prefix: Uint8Array,
    body: Uint8Array,
    tail: Uint8Array,
    again: RemakableBytes | undefined,
  ): boolean {
    const isAlone = !this.#isFlushing && (this.#ready === undefined || this.#ready.size === 0);
    if (isAlone && !stream.isFull && this.#output.hasRoom) {
      const length = prefix.length + body.length + tail.length;
      if (length <= this.#windowOf(stream) && length <= this.#window && length <= defaultFrameBytes) {
        this.#output.data(stream.id, length, prefix, body, tail);
        this.#sent(stream, length, true);
        return true;
      }
    }
    // A copy: it waits.
    stream.queue.push(new Uint8Array(prefix));
    stream.queue.push(again ?? body);
    stream.queue.push(tail);
    this.#suspect(stream);
    while (isAlone && this.#canSend(stream)) this.#sendFrame(stream);
    this.#readyIfSo(stream);
    this.flush();
    stream.isFull = stream.queue.bytes > 0;
    return !stream.isFull;
  }

  /** The peer sent something. */
  received(): void {
    this.#silentSince = undefined;
  }

  #suspect({ queue }: Http2StreamState): void {
    const now = this.#now();
    this.#silentSince ??= now;
    if (now - this.#silentSince > silenceMs) queue.isSparing = true;
  }

  /** The peer accepts more bytes on a stream. Throws a StreamError. */
  grow(stream: Http2StreamState, bytes: number): void {
    stream.sendOffset += bytes;
    if (this.#windowOf(stream) > largestWindow) throw new StreamError(http2Error.flowControlError, tooLarge);
    if (stream.sendOffset > this.#highestOffset) this.#highestOffset = stream.sendOffset;
    this.#readyIfSo(stream);
  }

  /**
   * The peer's settings made the windows of all its streams larger; too large a window is an error of the connection
   * (6.9.2). Visits only streams that wait for window, and all open ones if one of them may have too much. Doing that
   * often counts as a flood. Throws a ConnectionError.
   */
  grownEach(open: Iterable<Http2StreamState>): void {
    let visits = 0;
    if (this.#highestOffset + this.#peer.window > largestWindow) {
      // The stream with the largest window may be gone by now, or have used it.
      this.#highestOffset = 0;
      for (const { sendOffset } of open) {
        visits += 1;
        if (sendOffset > this.#highestOffset) this.#highestOffset = sendOffset;
      }
      if (this.#highestOffset + this.#peer.window > largestWindow) {
        throw new ConnectionError(http2Error.flowControlError, tooLarge);
      }
    }
    if (this.#blocked !== undefined) {
      visits += this.#blocked.size;
      for (const stream of this.#blocked) this.#readyIfSo(stream);
    }
    if (visits >= visitsPerCost) this.#flood.count(Math.floor(visits / visitsPerCost));
  }

  /** The same for the connection. Throws a ConnectionError. */
  growAll(bytes: number): void {
    this.#window += bytes;
    if (this.#window > largestWindow) throw new ConnectionError(http2Error.flowControlError, tooLarge);
  }

  drop(stream: Http2StreamState): void {
    stream.queue.clear();
    this.#ready?.delete(stream);
    this.#blocked?.delete(stream);
  }

  /** Sends as much as possible. Within a turn. */
  flush(): void {
    // A handler that is told about room sends again, which comes back here: one loop is enough.
    const ready = this.#ready;
    if (ready === undefined || ready.size === 0 || this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      // Streams that become ready meanwhile are added at the end, and reached.
      for (const stream of ready) {
        if (this.#window <= 0 || !this.#output.hasRoom) return;
        ready.delete(stream);
        // SETTINGS may have taken away the stream's own window while it waited for the connection's (6.9.2). Without
        // this check frames without content would be sent for ever.
        if (this.#windowOf(stream) > 0) this.#sendFrame(stream);
        this.#readyIfSo(stream);
        this.#afterSending(stream);
      }
    } finally {
      this.#isFlushing = false;
    }
  }

  #windowOf(stream: Http2StreamState): number {
    return this.#peer.window + stream.sendOffset;
  }

  #readyIfSo(stream: Http2StreamState): void {
    if (stream.queue.bytes === 0) {
      this.#ready?.delete(stream);
      this.#blocked?.delete(stream);
    } else if (this.#windowOf(stream) > 0) {
      this.#blocked?.delete(stream);
      this.#ready ??= new Set();
      this.#ready.add(stream);
    } else {
      this.#ready?.delete(stream);
      this.#blocked ??= new Set();
      this.#blocked.add(stream);
    }
  }

  #canSend(stream: Http2StreamState): boolean {
    return stream.queue.bytes > 0 && this.#windowOf(stream) > 0 && this.#window > 0 && this.#output.hasRoom;
  }

  #sendFrame(stream: Http2StreamState): void {
    const { queue } = stream;
    const { isSparing } = queue;
    // What the socket does not take stays in it, and the peer's frames may be as large as a response.
    const most = isSparing ? defaultFrameBytes : this.#peer.frameBytes;
    const length = Math.min(queue.bytes, this.#windowOf(stream), this.#window, most);
    this.#output.head(length, frameType.data, 0, stream.id);
    queue.move(this.#output, length);
    this.#sent(stream, length, queue.bytes === 0);
    // The socket says at once that it is full, and gets no more.
    if (isSparing) this.#output.flush();
  }

  #sent(stream: Http2StreamState, length: number, isAll: boolean): void {
    stream.sendOffset -= length;
    this.#window -= length;
    // Not if the peer's window made the frame small (CVE-2019-9511).
    if (length >= smallBytes || isAll) this.#flood.earn();
    if (this.#output.isLarge) this.#output.flush();
  }

  #afterSending(stream: Http2StreamState): void {
    if (stream.queue.bytes > 0) return;
    if (stream.trailers !== undefined) this.#owner.end(stream, stream.trailers);
    else if (stream.isFull) {
      stream.isFull = false;
      stream.handler?.drained();
    }
  }
}
