import type { Http2ErrorCode } from "./http2-errors.js";

/** The types of frames (RFC 9113, 6). */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Their flags. */
export const flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** The size of a frame's head: length, type, flags, stream. */
export const frameHeadBytes = 9;
/** The largest payload that may be sent to a peer by default, and the largest that we take. */
export const defaultFrameBytes = 16_384;
/** The window of each stream and of the connection at its start. */
export const defaultWindow = 65_535;
/**
 * The receive window of each connection and stream. The claims of a reconnecting client fit into it, so the client need
 * not wait. It does not make us hold more: bytes are handled as they are read, and the kept parts of requests are
 * bounded over all connections.
 */
export const ourWindow = 256 * 1024;
/** RFC 9113, 6.9.1: more is an error of flow control. */
export const largestWindow = 2 ** 31 - 1;

/** Writes the head of a frame. */
export function putFrameHead(
  target: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  target[at] = length >>> 16;
  target[at + 1] = length >>> 8;
  target[at + 2] = length;
  target[at + 3] = type;
  target[at + 4] = flags;
  target[at + 5] = stream >>> 24;
  target[at + 6] = stream >>> 16;
  target[at + 7] = stream >>> 8;
  target[at + 8] = stream;
}

/** A whole frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  putFrameHead(bytes, 0, payload.length, type, flags, stream);
  bytes.set(payload, frameHeadBytes);
  return bytes;
}

/** A header block, as HEADERS and as many CONTINUATIONs as it needs. */
export function headerFrames(stream: number, block: Uint8Array, endStream: boolean, most: number): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  do {
    const end = Math.min(at + most, block.length);
    const isFirst = at === 0;
    const flags = (end === block.length ? flag.endHeaders : 0) | (isFirst && endStream ? flag.endStream : 0);
    parts.push(frame(isFirst ? frameType.headers : frameType.continuation, flags, stream, block.subarray(at, end)));
    at = end;
  } while (at < block.length);
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

/** Ends one stream at once. */
export function rstStreamFrame(stream: number, code: Http2ErrorCode): Buffer {
  return frame(frameType.rstStream, 0, stream, uint32(code));
}

/** Lets the peer send more bytes; stream 0 is the connection. */
export function windowUpdateFrame(stream: number, bytes: number): Buffer {
  return frame(frameType.windowUpdate, 0, stream, uint32(bytes));
}

/**
 * GOAWAY: streams above `lastStream` were not and will not be served, and the reason. At most 500 characters of the
 * message are sent.
 */
export function goAwayFrame(lastStream: number, code: Http2ErrorCode, message: string): Buffer {
  const text = Buffer.from(message.slice(0, 500));
  return frame(frameType.goAway, 0, 0, Buffer.concat([uint32(lastStream), uint32(code), text]));
}

/** Our settings: streams open at once, the window of each, and bytes of a header block. */
export function settingsFrame(streams: number, window: number, headerBytes: number): Buffer {
  const payload = Buffer.alloc(18);
  payload.writeUInt16BE(3, 0);
  payload.writeUInt32BE(streams, 2);
  payload.writeUInt16BE(4, 6);
  payload.writeUInt32BE(window, 8);
  payload.writeUInt16BE(6, 12);
  payload.writeUInt32BE(headerBytes, 14);
  return frame(frameType.settings, 0, 0, payload);
}

/** Acknowledges the settings of the peer. */
export const settingsAnswer: Buffer = frame(frameType.settings, flag.ack, 0, Buffer.alloc(0));

/** A ping, or the answer to one, which has the same 8 bytes. */
export function pingFrame(payload: Uint8Array, isAnswer: boolean): Buffer {
  return frame(frameType.ping, isAnswer ? flag.ack : 0, 0, payload);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
