import type { FloodGuard } from "./flood-guard.js";
import { defaultFrameBytes, defaultWindow, frameType, largestWindow } from "./frames.js";
import { ConnectionError, http2Error, StreamError } from "./http2-errors.js";
import type { StreamOwner, StreamState } from "./http2-stream.js";
import type { Again } from "./outgoing-queue.js";
import type { Output } from "./output.js";
import type { PeerSettings } from "./peer-settings.js";

/**
 * Who says nothing for so many milliseconds after it was sent more than a frame may have stopped to read. What is written to its socket then may stay there, and
 * all that it is a part of with it. Long enough that a fleet which is late with its acknowledgements costs no more than else.
 */
const silenceMs = 500;

/** A frame of less is worth nothing where there was more to send. */
const smallBytes = 1_024;

/** So many streams that a frame of settings makes us visit cost as much as a frame that brings nothing. */
const visitsPerCost = 100;

const tooLarge = "a window is too large";

/** Sends what streams have to send, as far as the windows of the peer and the socket let it: a frame of each stream in turn, so that none starves another. */
export class Http2Sender {
  readonly #output: Output;
  readonly #peer: PeerSettings;
  readonly #flood: FloodGuard;
  readonly #owner: Pick<StreamOwner, "end">;
  /** Those with data to send and, when they were last looked at, room in their own window; most connections never have one that waits. */
  #ready: Set<StreamState> | undefined;
  /** Those with data to send and no room in their own window. */
  #blocked: Set<StreamState> | undefined;
  /** No stream's window is further beyond the initial one. */
  #highestOffset = 0;
  #window = defaultWindow;
  #isFlushing = false;
  readonly #now: () => number;
  /** When more than a frame was sent first of what the peer has not answered by anything. */
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

  /** Takes three parts of one piece of data; false when there is no room for more: what the peer does not take yet is all that is kept. */
  send(stream: StreamState, prefix: Uint8Array, body: Uint8Array, tail: Uint8Array, again: Again | undefined): boolean {
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

  /** The peer said something. */
  heard(): void {
    this.#silentSince = undefined;
  }

  #suspect({ queue }: StreamState): void {
    const now = this.#now();
    this.#silentSince ??= now;
    if (now - this.#silentSince > silenceMs) queue.isSparing = true;
  }

  /** The peer takes so many bytes more on a stream. Throws a StreamError. */
  grow(stream: StreamState, bytes: number): void {
    stream.sendOffset += bytes;
    if (this.#windowOf(stream) > largestWindow) throw new StreamError(http2Error.flowControlError, tooLarge);
    if (stream.sendOffset > this.#highestOffset) this.#highestOffset = stream.sendOffset;
    this.#readyIfSo(stream);
  }

  /**
   * The peer's settings made the windows of all its streams larger: it is the connection's fault where that is too much (6.9.2). Only those that wait for that are
   * visited, and those that are open where one of them may have too much; who has us do so often is counted as a flood. Throws a ConnectionError.
   */
  grownEach(open: Iterable<StreamState>): void {
    let visits = 0;
    if (this.#highestOffset + this.#peer.window > largestWindow) {
      // The stream that had it may be gone by now, or have used it.
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

  drop(stream: StreamState): void {
    stream.queue.clear();
    this.#ready?.delete(stream);
    this.#blocked?.delete(stream);
  }

  /** Sends what can be sent. Within a turn. */
  flush(): void {
    // What a handler does when it hears of room comes back here: one loop is enough.
    const ready = this.#ready;
    if (ready === undefined || ready.size === 0 || this.#isFlushing) return;
    this.#isFlushing = true;
    try {
      // What becomes ready meanwhile stands behind, and is come to.
      for (const stream of ready) {
        if (this.#window <= 0 || !this.#output.hasRoom) return;
        ready.delete(stream);
        // Settings may have taken away its own window while it waited for the connection's (6.9.2): a frame of less than nothing would be sent for ever.
        if (this.#windowOf(stream) > 0) this.#sendFrame(stream);
        this.#readyIfSo(stream);
        this.#afterSending(stream);
      }
    } finally {
      this.#isFlushing = false;
    }
  }

  #windowOf(stream: StreamState): number {
    return this.#peer.window + stream.sendOffset;
  }

  #readyIfSo(stream: StreamState): void {
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

  #canSend(stream: StreamState): boolean {
    return stream.queue.bytes > 0 && this.#windowOf(stream) > 0 && this.#window > 0 && this.#output.hasRoom;
  }

  #sendFrame(stream: StreamState): void {
    const { queue } = stream;
    const length = Math.min(queue.bytes, this.#windowOf(stream), this.#window, this.#peer.frameBytes);
    this.#output.head(length, frameType.data, 0, stream.id);
    const { isSparing } = queue;
    queue.move(this.#output, length);
    this.#sent(stream, length, queue.bytes === 0);
    // The socket says at once that it is full, and gets no more.
    if (isSparing) this.#output.flush();
  }

  #sent(stream: StreamState, length: number, isAll: boolean): void {
    stream.sendOffset -= length;
    this.#window -= length;
    // Not where the peer's window made it small (CVE-2019-9511).
    if (length >= smallBytes || isAll) this.#flood.earn();
    if (this.#output.isLarge) this.#output.flush();
  }

  #afterSending(stream: StreamState): void {
    if (stream.queue.bytes > 0) return;
    if (stream.trailers !== undefined) this.#owner.end(stream, stream.trailers);
    else if (stream.isFull) {
      stream.isFull = false;
      stream.handler?.drained();
    }
  }
}
