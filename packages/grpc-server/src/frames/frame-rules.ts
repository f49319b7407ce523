import { flag, frameType } from "./frames.js";
import { ConnectionError, http2Error, StreamError } from "./http2-errors.js";

/**
 * Checks the rules of every frame: its stream and its size (RFC 9113, 6). Throws a ConnectionError or a StreamError.
 */
export function checkFrame(type: number, flags: number, stream: number, length: number): void {
  switch (type) {
    case frameType.data:
    case frameType.headers:
      needsStream(type, stream);
      return;
    case frameType.priority:
      needsStream(type, stream);
      if (length !== 5) throw new StreamError(http2Error.frameSizeError, "PRIORITY of another size than 5");
      return;
    case frameType.rstStream:
      needsStream(type, stream);
      if (length !== 4) throw badSize(type, length);
      return;
    case frameType.settings:
      needsNoStream(type, stream);
      if ((flags & flag.ack) !== 0 ? length > 0 : length % 6 !== 0) throw badSize(type, length);
      return;
    case frameType.pushPromise:
      throw protocolError("a client must not push");
    case frameType.ping:
      needsNoStream(type, stream);
      if (length !== 8) throw badSize(type, length);
      return;
    case frameType.goAway:
      needsNoStream(type, stream);
      if (length < 8) throw badSize(type, length);
      return;
    case frameType.windowUpdate:
      if (length !== 4) throw badSize(type, length);
      return;
    default:
    // CONTINUATION follows its block; unknown types mean nothing (5.5).
  }
}

/** Checks a stream that a client opens against its last one (5.1.1). Throws a ConnectionError. */
export function checkNewStream(id: number, last: number): void {
  if (id % 2 === 0) throw protocolError("a client's streams have odd numbers");
  if (id <= last) throw new ConnectionError(http2Error.streamClosed, "HEADERS on a stream that is closed");
}

/**
 * The bytes that a WINDOW_UPDATE adds to the window of a stream or, on stream 0, of the connection (6.9). Throws the
 * right error if that is 0.
 */
export function windowGrowth(stream: number, payload: Buffer): number {
  const bytes = payload.readUInt32BE(0) & 0x7fffffff;
  if (bytes > 0) return bytes;
  if (stream === 0) throw protocolError("WINDOW_UPDATE by nothing");
  throw new StreamError(http2Error.protocolError, "WINDOW_UPDATE by nothing");
}

/** The error for a peer that broke the protocol: the connection ends with PROTOCOL_ERROR. */
export function protocolError(message: string): ConnectionError {
  return new ConnectionError(http2Error.protocolError, message);
}

function needsStream(type: number, stream: number): void {
  if (stream === 0) throw protocolError(`a frame of type ${type} without a stream`);
}

function needsNoStream(type: number, stream: number): void {
  if (stream !== 0) throw protocolError(`a frame of type ${type} on a stream`);
}

function badSize(type: number, length: number): ConnectionError {
  return new ConnectionError(http2Error.frameSizeError, `a frame of type ${type} and ${length} bytes`);
}
