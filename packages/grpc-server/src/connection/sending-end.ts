import {
  defaultWindow,
  goAwayFrame,
  headerFrames,
  ourWindow,
  pingFrame,
  rstStreamFrame,
  settingsFrame,
  windowUpdateFrame,
} from "../frames/frames.js";
import { type Http2ErrorCode, http2Error } from "../frames/http2-errors.js";
import { agreeOnTable, startSettings } from "../frames/peer-settings.js";
import type { ConnectionHost, ConnectionLimits } from "./connection-host.js";
import type { FloodGuard } from "./flood-guard.js";
import { Http2Sender } from "./http2-sender.js";
import { Http2StreamState, type StreamOwner } from "./http2-stream.js";
import type { RemakableBytes } from "./outgoing-queue.js";
import { Output } from "./output.js";
import { RecentResets } from "./recent-resets.js";

/**
 * What a connection has open, and all that it writes: the frames of its streams, their ends, and its own. The bytes of
 * one `begin` and `end` of the output become one write.
 */
export class SendingEnd implements StreamOwner {
  readonly #host: ConnectionHost;
  readonly #limits: ConnectionLimits;
  readonly peer = startSettings();
  readonly output: Output;
  readonly sender: Http2Sender;
  readonly #streams = new Map<number, Http2StreamState>();
  readonly #resets = new RecentResets();
  /** The stream of the last DATA frame; most connections have only one stream. */
  #current: Http2StreamState | undefined;
  /** The connection had several streams at once. */
  #isShared = false;
  #lastStream = 0;
  /** Pings sent and not answered. */
  pings = 0;
  #hasGreeted = false;
  #isOver = false;
  #isGoingAway = false;

  constructor(host: ConnectionHost, limits: ConnectionLimits, flood: FloodGuard) {
    this.#host = host;
    this.#limits = limits;
    this.output = new Output(host);
    this.sender = new Http2Sender(this.output, this.peer, flood, this, host.now);
  }

  get streams(): ReadonlyMap<number, Http2StreamState> {
    return this.#streams;
  }

  /** The highest id of a stream that the client opened. */
  get lastStream(): number {
    return this.#lastStream;
  }

  /** Nothing is read or written any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isGoingAway(): boolean {
    return this.#isGoingAway;
  }

  /** The open stream of a DATA frame. */
  streamOf(id: number): Http2StreamState | undefined {
    if (this.#current?.id !== id) this.#current = this.#streams.get(id);
    return this.#current;
  }

  /** Whether the server ended this stream a moment ago: its client may not know yet. */
  wasReset(id: number): boolean {
    return this.#resets.has(id);
  }

  /** A client's stream has this id, also if it is refused: no later one may have a lower id. */
  counts(id: number): void {
    this.#lastStream = id;
  }

  open(id: number): Http2StreamState {
    const opened = new Http2StreamState(this, id);
    this.#isShared ||= this.#streams.size > 0;
    this.#streams.set(id, opened);
    return opened;
  }

  write(bytes: Buffer): void {
    if (!this.#isOver) this.output.put(bytes);
  }

  /**
   * Sends a server's first frames (RFC 9113, 3.4): its settings and its window. The client does not wait for them, and
   * with its own first bytes they go out in one write with the answer to these.
   */
  greet(): void {
    if (this.#hasGreeted) return;
    this.#hasGreeted = true;
    this.write(settingsFrame(this.#limits.streams, ourWindow, this.#limits.headerBytes));
    this.write(windowUpdateFrame(0, ourWindow - defaultWindow));
  }

  ping(): void {
    this.pings += 1;
    this.output.begin();
    this.greet();
    this.write(pingFrame(Buffer.alloc(8), false));
    this.output.end();
  }

  /** Takes no further streams; the connection ends with its last one. */
  goAway(): void {
    if (this.#isGoingAway || this.#isOver) return;
    this.#isGoingAway = true;
    this.output.begin();
    this.greet();
    this.write(goAwayFrame(this.#lastStream, http2Error.noError, ""));
    this.#finishIfDone();
    this.output.end();
  }

  respond(stream: Http2StreamState, block: Uint8Array): void {
    this.#head(stream, block, false);
  }

  send(
    stream: Http2StreamState,
    prefix: Uint8Array,
    body: Uint8Array,
    tail: Uint8Array,
    again: RemakableBytes | undefined,
  ): boolean {
    this.output.begin();
    const hasRoom = this.sender.send(stream, prefix, body, tail, again);
    // A change usually concerns the other streams too, in the same turn of the event loop: all of it becomes one write.
    if (this.#isShared) this.output.endLater();
    else this.output.end();
    return hasRoom;
  }

  end(stream: Http2StreamState, block: Uint8Array): void {
    stream.trailers = block;
    if (stream.queue.bytes > 0) return;
    this.output.begin();
    this.#head(stream, block, true);
    // A client that goes on to send is told that nobody reads it (8.1).
    if (!stream.isHalfClosed) this.reset(stream.id, http2Error.noError);
    else this.close(stream);
    this.output.end();
  }

  resetStream(id: number, code: Http2ErrorCode): void {
    this.output.begin();
    this.reset(id, code);
    this.output.end();
  }

  /** Ends a stream, open or not, and tells the client. */
  reset(id: number, code: Http2ErrorCode): void {
    if (this.#isOver) return;
    this.write(rstStreamFrame(id, code));
    this.#resets.add(id);
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.close(stream);
  }

  /** A stream is gone, on both sides. */
  close(stream: Http2StreamState): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    this.sender.drop(stream);
    this.#streams.delete(stream.id);
    if (this.#current === stream) this.#current = undefined;
    stream.handler?.closed();
    this.#finishIfDone();
  }

  /** Ends the connection for a mistake of its peer's. */
  fail(code: Http2ErrorCode, message: string): void {
    this.write(goAwayFrame(this.#lastStream, code, message));
    this.output.flush();
    this.closed();
    this.#host.finish();
  }

  /** The connection is gone. */
  closed(): void {
    this.#isOver = true;
    for (const stream of [...this.#streams.values()]) this.close(stream);
  }

  #finishIfDone(): void {
    if (!this.#isGoingAway || this.#isOver || this.#streams.size > 0) return;
    this.#isOver = true;
    this.output.flush();
    this.#host.finish();
  }

  #head(stream: Http2StreamState, block: Uint8Array, isEnd: boolean): void {
    stream.hasResponded = true;
    this.write(headerFrames(stream.id, agreeOnTable(this.peer, block), isEnd, this.peer.frameBytes));
  }
}
