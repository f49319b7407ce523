import { defaultFrameBytes, frameHeadBytes } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** Who is told of each frame. The payload is only good until the call returns, unless it is copied. */
export type FrameReceiver = (type: number, flags: number, stream: number, payload: Buffer) => void;

/** Cuts the bytes of a connection into frames, however they come. */
export interface FrameReader {
  /** Throws a ConnectionError for a frame that is too large, and what the receiver throws. */
  receive(bytes: Buffer): void;
}

/** Makes a reader of frames with at most `most` bytes behind their head. */
export function createFrameReader(receive: FrameReceiver, most = defaultFrameBytes): FrameReader {
  /** The beginning of a frame whose rest has not come. */
  let parts: Buffer[] = [];
  let waiting = 0;

  return {
    receive(chunk) {
      let bytes = chunk;
      if (waiting > 0) {
        parts.push(chunk);
        waiting += chunk.length;
        // Joined only once it is a frame, so that one that comes byte by byte costs no copy each.
        if (waiting < neededOf(parts, waiting, most)) return;
        bytes = Buffer.concat(parts, waiting);
        parts = [];
        waiting = 0;
      }
      let at = 0;
      while (bytes.length - at >= frameHeadBytes) {
        const length = lengthAt(bytes, at, most);
        const start = at + frameHeadBytes;
        const end = start + length;
        if (end > bytes.length) break;
        const type = bytes[at + 3] as number;
        const flags = bytes[at + 4] as number;
        // The highest bit means nothing (4.1).
        const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
        at = end;
        receive(type, flags, stream, bytes.subarray(start, end));
      }
      if (at < bytes.length) {
        // A copy: what came with it is not to be kept for the few bytes that are left.
        parts = [Buffer.from(bytes.subarray(at))];
        waiting = bytes.length - at;
        if (waiting >= 3) lengthAt(bytes, at, most);
      }
    },
  };
}

function lengthAt(bytes: Buffer, at: number, most: number): number {
  const length = bytes.readUIntBE(at, 3);
  if (length > most) throw new ConnectionError(http2Error.frameSizeError, `a frame of ${length} bytes is too large`);
  return length;
}

/** How many bytes are needed before a frame can be read. */
function neededOf(parts: Buffer[], waiting: number, most: number): number {
  if (waiting < frameHeadBytes) return frameHeadBytes;
  const [first] = parts as [Buffer];
  const head = first.length >= 3 ? first : Buffer.concat(parts, waiting);
  if (head !== first) parts.splice(0, parts.length, head);
  return frameHeadBytes + lengthAt(head, 0, most);
}
