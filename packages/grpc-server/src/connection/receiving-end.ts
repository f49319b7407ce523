import { isOneFrame, streamAt } from "../frames/frame-reader.js";
import { checkFrame, checkNewStream, protocolError, windowGrowth } from "../frames/frame-rules.js";
import {
  flag,
  frameHeadBytes,
  frameType,
  ourWindow,
  pingFrame,
  settingsAnswer,
  windowUpdateFrame,
} from "../frames/frames.js";
import { type AssembledBlock, HeaderAssembly, unpadded } from "../frames/header-assembly.js";
import { ConnectionError, http2Error, StreamError } from "../frames/http2-errors.js";
import { IncomingFrames } from "../frames/incoming-frames.js";
import { readSettings } from "../frames/peer-settings.js";
import { checkTrailers, decodeBlock, readRequestHead } from "../frames/request-head.js";
import { HeaderDecoder } from "../hpack/header-decoder.js";
import type { ConnectionHost, ConnectionLimits } from "./connection-host.js";
import { type FloodGuard, floodCost } from "./flood-guard.js";
import type { Http2StreamState } from "./http2-stream.js";
import type { SendingEnd } from "./sending-end.js";

/** The number of received bytes after which the peer gets as much window again. */
const updateBytes = ourWindow >> 1;

/**
 * Reads what a client sends, and does what each frame asks for. A mistake ends its stream; one that ends the connection
 * is thrown as a `ConnectionError`.
 */
export class ReceivingEnd {
  readonly #host: ConnectionHost;
  readonly #limits: ConnectionLimits;
  readonly #flood: FloodGuard;
  readonly #sending: SendingEnd;
  readonly #headers = new HeaderDecoder();
  readonly #assembly: HeaderAssembly;
  readonly #incoming: IncomingFrames;
  /** See `IncomingFrames`. */
  #isBetween = false;
  /** Bytes of data since the peer got window. */
  #received = 0;

  constructor(host: ConnectionHost, limits: ConnectionLimits, flood: FloodGuard, sending: SendingEnd) {
    this.#host = host;
    this.#limits = limits;
    this.#flood = flood;
    this.#sending = sending;
    this.#assembly = new HeaderAssembly(2 * limits.headerBytes);
    this.#incoming = new IncomingFrames(this.#assembly, (type, flags, stream, payload) =>
      this.#frame(type, flags, stream, payload),
    );
  }

  /** The client sent the preface and SETTINGS. */
  get isOpen(): boolean {
    return this.#incoming.isOpen;
  }

  receive(bytes: Buffer): void {
    if (this.#tookAlone(bytes)) return;
    this.#incoming.receive(bytes);
    this.#isBetween = this.#incoming.isBetween;
    this.#sending.sender.flush();
  }

  /**
   * Handles bytes that are exactly one plain DATA frame of an open stream, which is how acknowledgements come.
   * Returns false for anything else, and has done nothing then.
   */
  #tookAlone(bytes: Buffer): boolean {
    if (!this.#isBetween || !isOneFrame(bytes, frameType.data, 0)) return false;
    const id = streamAt(bytes, 0);
    const stream = this.#sending.streamOf(id);
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
    if (this.#sending.isOver) return;
    try {
      this.#dispatch(type, flags, id, payload);
    } catch (error) {
      this.#fault(id, error);
    }
  }

  #fault(id: number, error: unknown): void {
    if (!(error instanceof StreamError)) throw error;
    this.#flood.count(floodCost.fault);
    this.#sending.reset(id, error.code);
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
    const sending = this.#sending;
    if (id > sending.lastStream) throw protocolError("DATA on a stream that was never opened");
    // Padding counts, and so does data for a stream that is gone (6.9).
    this.#makeRoom(payload.length);
    const stream = sending.streams.get(id);
    if (stream === undefined || stream.isHalfClosed) {
      if (stream === undefined && sending.wasReset(id)) {
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
    this.#sending.write(windowUpdateFrame(0, this.#received));
    this.#received = 0;
  }

  /** Handles content of a stream: the bytes from `from` on, of a payload of `payloadBytes` bytes. */
  #content(stream: Http2StreamState, bytes: Buffer, from: number, payloadBytes: number, isEnd: boolean): void {
    const length = bytes.length - from;
    stream.take(payloadBytes, length);
    if (length === 0 && !isEnd) this.#flood.count(floodCost.idle);
    if (!isEnd && stream.received >= updateBytes) {
      this.#sending.write(windowUpdateFrame(stream.id, stream.received));
      stream.received = 0;
    }
    if (length > 0) stream.handler?.data(bytes, from);
    if (isEnd) halfClose(stream);
  }

  #headerBlock(assembled: AssembledBlock | undefined): void {
    if (assembled === undefined) return;
    const sending = this.#sending;
    const { stream: id, endStream } = assembled;
    // It is always decoded, because later blocks refer to its entries in the table.
    const block = decodeBlock(this.#headers, assembled.bytes, this.#limits.headerBytes);
    const stream = sending.streams.get(id);
    if (stream !== undefined) {
      stream.checkEnd(endStream);
      checkTrailers(block.fields);
      halfClose(stream);
      return;
    }
    if (sending.wasReset(id)) return;
    checkNewStream(id, sending.lastStream);
    sending.counts(id);
    if (sending.isGoingAway || sending.streams.size >= this.#limits.streams) {
      if (!sending.isGoingAway) this.#host.full?.();
      throw new StreamError(http2Error.refusedStream, "no further streams");
    }
    if (block.isTooLarge) throw new StreamError(http2Error.enhanceYourCalm, "the headers are too large");
    const head = readRequestHead(block.fields);
    const opened = sending.open(id);
    opened.awaited = head.contentLength;
    opened.handler = this.#host.accept(head, opened);
    if (opened.isClosed) opened.handler.closed();
    else if (endStream) halfClose(opened);
  }

  #windowUpdate(id: number, payload: Buffer): void {
    this.#flood.count(floodCost.idle);
    const { lastStream, streams, sender } = this.#sending;
    if (id > lastStream) throw protocolError("WINDOW_UPDATE of a stream that was never opened");
    const stream = streams.get(id);
    if (id === 0) sender.growAll(windowGrowth(id, payload));
    // Otherwise the frame was on its way when the stream ended.
    else if (stream !== undefined) sender.grow(stream, windowGrowth(id, payload));
  }

  #ping(flags: number, payload: Buffer): void {
    if ((flags & flag.ack) !== 0) {
      this.#sending.pings = 0;
      return;
    }
    this.#flood.count(floodCost.idle);
    this.#sending.write(pingFrame(payload, true));
  }

  #settings(flags: number, payload: Buffer): void {
    if ((flags & flag.ack) !== 0) return;
    this.#flood.count(floodCost.idle);
    const { peer, sender, streams } = this.#sending;
    const { window } = peer;
    readSettings(payload, peer);
    if (peer.window > window) sender.grownEach(streams.values());
    this.#sending.write(settingsAnswer);
  }

  #rstStream(id: number): void {
    if (id > this.#sending.lastStream) throw protocolError("RST_STREAM of a stream that was never opened");
    const stream = this.#sending.streams.get(id);
    this.#flood.count(stream?.hasResponded === false ? floodCost.reset : floodCost.idle);
    if (stream !== undefined) this.#sending.close(stream);
  }
}

function halfClose(stream: Http2StreamState): void {
  stream.checkWhole();
  stream.isHalfClosed = true;
  stream.handler?.ended();
}
