import { flag, frameType } from "./frames.js";
import { ConnectionError, http2Error, StreamError } from "./http2-errors.js";

/** What holds of a frame whatever came before it: on which stream it may be, and of which size (RFC 9113, 6). Throws a ConnectionError or a StreamError. */
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

/** The peer broke the protocol such that the connection ends with PROTOCOL_ERROR. */
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
