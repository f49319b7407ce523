import { ForeignProtocol } from "../frames/foreign-protocol.js";
import { isOneFrame, streamAt } from "../frames/frame-reader.js";
import { checkFrame, checkNewStream, protocolError, windowGrowth } from "../frames/frame-rules.js";
import {
  defaultWindow,
  flag,
  frameHeadBytes,
  frameType,
  goAwayFrame,
  headerFrames,
  ourWindow,
  pingFrame,
  rstStreamFrame,
  settingsAnswer,
  settingsFrame,
  windowUpdateFrame,
} from "../frames/frames.js";
import { type AssembledBlock, HeaderAssembly, unpadded } from "../frames/header-assembly.js";
import { ConnectionError, type Http2ErrorCode, http2Error, StreamError } from "../frames/http2-errors.js";
import { IncomingFrames } from "../frames/incoming-frames.js";
import { agreeOnTable, readSettings, startSettings } from "../frames/peer-settings.js";
import { checkTrailers, decodeBlock, readRequestHead } from "../frames/request-head.js";
import { createHeaderDecoder, type HeaderDecoder } from "../hpack/header-decoder.js";
import type { ConnectionHost, ConnectionLimits } from "./connection-host.js";
import { FloodGuard, floodCost } from "./flood-guard.js";
import { Http2Sender } from "./http2-sender.js";
import { type StreamOwner, StreamState } from "./http2-stream.js";
import type { RemakableBytes } from "./outgoing-queue.js";
import { Output } from "./output.js";
import { RecentResets } from "./recent-resets.js";

/** The number of received bytes after which the peer gets as much window again. */
const updateBytes = ourWindow >> 1;
/**
 * The server's end of one HTTP/2 connection (RFC 9113): bytes in, bytes out, no socket and no clock. A peer's mistake
 * ends its stream or the connection with the RFC's error; nothing throws out of here.
 */
export class Http2Connection implements StreamOwner {
  readonly #host: ConnectionHost;
  readonly #limits: ConnectionLimits;
  readonly #incoming: IncomingFrames;
  readonly #headers: HeaderDecoder = createHeaderDecoder();
  readonly #flood: FloodGuard;
  readonly #assembly: HeaderAssembly;
  readonly #peer = startSettings();
  readonly #streams = new Map<number, StreamState>();
  readonly #output: Output;
  readonly #sender: Http2Sender;
  readonly #resets = new RecentResets();
  /** See `IncomingFrames`. */
  #isBetween = false;
  /** The stream of the last DATA frame; most connections have only one stream. */
  #current: StreamState | undefined;
  /** The connection had several streams at once. */
  #isShared = false;
  #lastStream = 0;
  #received = 0;
  #hasGreeted = false;
  #isOver = false;
  #isGoingAway = false;
  #pings = 0;
  #wasHeard = false;

  constructor(host: ConnectionHost, limits: ConnectionLimits) {
    this.#host = host;
    this.#limits = limits;
    this.#flood = new FloodGuard(host.now);
    this.#assembly = new HeaderAssembly(2 * limits.headerBytes);
    this.#output = new Output(host);
    this.#sender = new Http2Sender(this.#output, this.#peer, this.#flood, this, host.now);
    this.#incoming = new IncomingFrames(this.#assembly, (type, flags, stream, payload) =>
      this.#frame(type, flags, stream, payload),
    );
  }

  /** The client sent the preface and SETTINGS. */
  get isOpen(): boolean {
    return this.#incoming.isOpen;
  }

  /** The open streams. */
  get streams(): ReadonlyMap<number, StreamState> {
    return this.#streams;
  }

  /** Pings sent and not answered. */
  get pings(): number {
    return this.#pings;
  }

  receive(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#wasHeard = true;
    this.#sender.heard();
    this.#output.begin();
    this.#greet();
    try {
      if (!this.#tookAlone(bytes)) {
        this.#incoming.receive(bytes);
        this.#isBetween = this.#incoming.isBetween;
        this.#sender.flush();
      }
      this.#output.checkUnread();
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#fail(error.code, error.message);
      if (error instanceof ForeignProtocol) this.#host.foreign?.(error.message);
    } finally {
      this.#output.end();
    }
  }

  /** The socket has room again. */
  drained(): void {
    if (this.#isOver) return;
    this.#output.drained();
    this.#output.begin();
    this.#sender.flush();
    this.#output.end();
  }

  /** The socket is gone. */
  closed(): void {
    this.#isOver = true;
    for (const stream of [...this.#streams.values()]) this.#close(stream);
  }

  /**
   * Pings the client, unless it sent something since the last time. `pings` tells whether a ping waits for its answer.
   */
  ping(): void {
    const wasHeard = this.#wasHeard;
    this.#wasHeard = false;
    if (this.#isOver || wasHeard) return;
    this.#pings += 1;
    this.#output.begin();
    this.#greet();
    this.#write(pingFrame(Buffer.alloc(8), false));
    this.#output.end();
  }

  /** Takes no further streams; the connection ends with its last one. */
  goAway(): void {
    if (this.#isGoingAway || this.#isOver) return;
    this.#isGoingAway = true;
    this.#output.begin();
    this.#greet();
    this.#write(goAwayFrame(this.#lastStream, http2Error.noError, ""));
    this.#finishIfDone();
    this.#output.end();
  }

  /** See `StreamState`, for which these four are. */
  respond(stream: StreamState, block: Uint8Array): void {
    this.#head(stream, block, false);
  }

  send(
    stream: StreamState,
    prefix: Uint8Array,
    body: Uint8Array,
    tail: Uint8Array,
    again: RemakableBytes | undefined,
  ): boolean {
    this.#output.begin();
    const hasRoom = this.#sender.send(stream, prefix, body, tail, again);
    // A change usually concerns the other streams too, in the same turn of the event loop: all of it becomes one write.
    if (this.#isShared) this.#output.endLater();
    else this.#output.end();
    return hasRoom;
  }

  end(stream: StreamState, block: Uint8Array): void {
    stream.trailers = block;
    if (stream.queue.bytes > 0) return;
    this.#output.begin();
    this.#finishStream(stream, block);
    this.#output.end();
  }

  resetStream(id: number, code: Http2ErrorCode): void {
    this.#output.begin();
    this.#reset(id, code);
    this.#output.end();
  }

  /**
   * Sends a server's first frames (RFC 9113, 3.4): its settings and its window. The client does not wait for them, and
   * with its own first bytes they go out in one write with the answer to these.
   */
  #greet(): void {
    if (this.#hasGreeted) return;
    this.#hasGreeted = true;
    this.#write(settingsFrame(this.#limits.streams, ourWindow, this.#limits.headerBytes));
    this.#write(windowUpdateFrame(0, ourWindow - defaultWindow));
  }

  /**
   * Handles bytes that are exactly one plain DATA frame of an open stream, which is how acknowledgements come.
   * Returns false for anything else, and has done nothing then.
   */
  #tookAlone(bytes: Buffer): boolean {
    if (!this.#isBetween || !isOneFrame(bytes, frameType.data, 0)) return false;
    const id = streamAt(bytes, 0);
    if (this.#current?.id !== id) this.#current = this.#streams.get(id);
    const stream = this.#current;
    if (stream === undefined || stream.isHalfClosed) return false;
    const length = bytes.length - frameHeadBytes;
    this.#makeRoom(length);
    try {
      this.#content(stream, bytes, frameHeadBytes, length, false);
    } catch (error) {
      this.#fault(id, error);
    }
    return true;
  }

  #frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#dispatch(type, flags, id, payload);
    } catch (error) {
      this.#fault(id, error);
    }
  }

  #fault(id: number, error: unknown): void {
    if (!(error instanceof StreamError)) throw error;
    this.#flood.count(floodCost.fault);
    this.#reset(id, error.code);
  }

  #dispatch(type: number, flags: number, id: number, payload: Buffer): void {
    checkFrame(type, flags, id, payload.length);
    switch (type) {
      case frameType.data:
        this.#data(flags, id, payload);
        return;
      case frameType.headers:
        this.#headerBlock(this.#assembly.headers(flags, id, payload));
        return;
      case frameType.continuation:
        this.#headerBlock(this.#assembly.continuation(flags, payload));
        return;
      case frameType.windowUpdate:
        this.#windowUpdate(id, payload);
        return;
      case frameType.ping:
        this.#ping(flags, payload);
        return;
      case frameType.settings:
        this.#settings(flags, payload);
        return;
      case frameType.rstStream:
        this.#rstStream(id);
        return;
      default:
        // Priorities are obsolete (5.3.2), unknown types are ignored (5.5), and a GOAWAY of the client changes
        // nothing: its streams end by themselves.
        this.#flood.count(floodCost.idle);
    }
  }

  #data(flags: number, id: number, payload: Buffer): void {
    if (id > this.#lastStream) throw protocolError("DATA on a stream that was never opened");
    // Padding counts, and so does data for a stream that is gone (6.9).
    this.#makeRoom(payload.length);
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isHalfClosed) {
      if (stream === undefined && this.#resets.has(id)) {
        this.#flood.count(floodCost.idle);
        return;
      }
      throw new StreamError(http2Error.streamClosed, "DATA on a stream that is closed");
    }
    this.#content(stream, unpadded(flags, payload), 0, payload.length, (flags & flag.endStream) !== 0);
  }

  /** Counts data that came, and gives the peer window again. */
  #makeRoom(bytes: number): void {
    this.#received += bytes;
    if (this.#received > ourWindow)
      throw new ConnectionError(http2Error.flowControlError, "more data than there was room for");
    if (this.#received < updateBytes) return;
    this.#write(windowUpdateFrame(0, this.#received));
    this.#received = 0;
  }

  /** Handles content of a stream: the bytes from `from` on, of a payload of `payloadBytes` bytes. */
  #content(stream: StreamState, bytes: Buffer, from: number, payloadBytes: number, isEnd: boolean): void {
    const length = bytes.length - from;
    stream.take(payloadBytes, length);
    if (length === 0 && !isEnd) this.#flood.count(floodCost.idle);
    if (!isEnd && stream.received >= updateBytes) {
      this.#write(windowUpdateFrame(stream.id, stream.received));
      stream.received = 0;
    }
    if (length > 0) stream.handler?.data(bytes, from);
    if (isEnd) this.#halfClose(stream);
  }

  #headerBlock(assembled: AssembledBlock | undefined): void {
    if (assembled === undefined) return;
    const { stream: id, endStream } = assembled;
    // It is always decoded, because later blocks refer to its entries in the table.
    const block = decodeBlock(this.#headers, assembled.bytes, this.#limits.headerBytes);
    const stream = this.#streams.get(id);
    if (stream !== undefined) {
      stream.checkEnd(endStream);
      checkTrailers(block.fields);
      this.#halfClose(stream);
      return;
    }
    if (this.#resets.has(id)) return;
    checkNewStream(id, this.#lastStream);
    this.#lastStream = id;
    if (this.#isGoingAway || this.#streams.size >= this.#limits.streams) {
      if (!this.#isGoingAway) this.#host.full?.();
      throw new StreamError(http2Error.refusedStream, "no further streams");
    }
    if (block.isTooLarge) throw new StreamError(http2Error.enhanceYourCalm, "the headers are too large");
    const head = readRequestHead(block.fields);
    const opened = new StreamState(this, id);
    opened.awaited = head.contentLength;
    this.#isShared ||= this.#streams.size > 0;
    this.#streams.set(id, opened);
    opened.handler = this.#host.accept(head, opened);
    if (opened.isClosed) opened.handler.closed();
    else if (endStream) this.#halfClose(opened);
  }

  #halfClose(stream: StreamState): void {
    stream.checkWhole();
    stream.isHalfClosed = true;
    stream.handler?.ended();
  }

  #windowUpdate(id: number, payload: Buffer): void {
    this.#flood.count(floodCost.idle);
    if (id > this.#lastStream) throw protocolError("WINDOW_UPDATE of a stream that was never opened");
    const stream = this.#streams.get(id);
    if (id === 0) this.#sender.growAll(windowGrowth(id, payload));
    // Otherwise the frame was on its way when the stream ended.
    else if (stream !== undefined) this.#sender.grow(stream, windowGrowth(id, payload));
  }

  #ping(flags: number, payload: Buffer): void {
    if ((flags & flag.ack) !== 0) {
      this.#pings = 0;
      return;
    }
    this.#flood.count(floodCost.idle);
    this.#write(pingFrame(payload, true));
  }

  #settings(flags: number, payload: Buffer): void {
    if ((flags & flag.ack) !== 0) return;
    this.#flood.count(floodCost.idle);
    const { window } = this.#peer;
    readSettings(payload, this.#peer);
    if (this.#peer.window > window) this.#sender.grownEach(this.#streams.values());
    this.#write(settingsAnswer);
  }

  #rstStream(id: number): void {
    if (id > this.#lastStream) throw protocolError("RST_STREAM of a stream that was never opened");
    const stream = this.#streams.get(id);
    this.#flood.count(stream?.hasResponded === false ? floodCost.reset : floodCost.idle);
    if (stream !== undefined) this.#close(stream);
  }

  #finishStream(stream: StreamState, block: Uint8Array): void {
    this.#head(stream, block, true);
    // A client that goes on to send is told that nobody reads it (8.1).
    if (!stream.isHalfClosed) this.#reset(stream.id, http2Error.noError);
    else this.#close(stream);
  }

  /** Ends a stream, open or not, and tells the client. */
  #reset(id: number, code: Http2ErrorCode): void {
    if (this.#isOver) return;
    this.#write(rstStreamFrame(id, code));
    this.#resets.add(id);
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#close(stream);
  }

  #close(stream: StreamState): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    this.#sender.drop(stream);
    this.#streams.delete(stream.id);
    if (this.#current === stream) this.#current = undefined;
    stream.handler?.closed();
    this.#finishIfDone();
  }

  #finishIfDone(): void {
    if (!this.#isGoingAway || this.#isOver || this.#streams.size > 0) return;
    this.#isOver = true;
    this.#output.flush();
    this.#host.finish();
  }

  #fail(code: Http2ErrorCode, message: string): void {
    this.#write(goAwayFrame(this.#lastStream, code, message));
    this.#output.flush();
    this.closed();
    this.#host.finish();
  }

  #head(stream: StreamState, block: Uint8Array, isEnd: boolean): void {
    stream.hasResponded = true;
    this.#write(headerFrames(stream.id, agreeOnTable(this.#peer, block), isEnd, this.#peer.frameBytes));
  }

  #write(bytes: Buffer): void {
    if (!this.#isOver) this.#output.put(bytes);
  }
}
