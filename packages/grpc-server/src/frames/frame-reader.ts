import { defaultFrameBytes, frameHeadBytes } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** Called for each frame. The payload is only good until the call returns, unless it is copied. */
export type FrameReceiver = (type: number, flags: number, stream: number, payload: Buffer) => void;

/** Cuts the bytes of a connection into frames, however they come. */
export type FrameReader = ReturnType<typeof createFrameReader>;

/** Whether these bytes are one frame, whole, of that type and with those flags. */
export function isOneFrame(bytes: Buffer, type: number, flags: number): boolean {
  if (bytes.length < frameHeadBytes || bytes[3] !== type || bytes[4] !== flags) return false;
  const length = bytes.length - frameHeadBytes;
  return length <= defaultFrameBytes && length === (((bytes[0] ?? 0) << 16) | ((bytes[1] ?? 0) << 8) | (bytes[2] ?? 0));
}

/** The stream of the frame that begins there. */
export function streamAt(bytes: Buffer, at: number): number {
  // The highest bit means nothing (4.1).
  return bytes.readUInt32BE(at + 5) & 0x7fffffff;
}

/** Makes a reader of frames with payloads of at most `most` bytes. */
export function createFrameReader(receive: FrameReceiver, most = defaultFrameBytes) {
  /** The beginning of a frame whose rest has not come. */
  let parts: Buffer[] = [];
  let waiting = 0;

  /**
   * Adds the missing bytes of the waiting frame from the chunk, and reports the frame if it is whole. Later bytes are
   * not copied. Returns their start.
   */
  function complete(chunk: Buffer): number {
    const before = waiting;
    parts.push(chunk);
    waiting += chunk.length;
    // Joined only once it is a whole frame, so that a frame that comes byte by byte costs no copy for each.
    const needed = neededOf(parts, waiting, most);
    if (waiting < needed) {
      // The bytes are only valid during the call.
      parts.push(Buffer.from(parts.pop() as Buffer));
      return chunk.length;
    }
    const whole = Buffer.concat(parts, needed);
    parts = [];
    waiting = 0;
    receive(whole[3] as number, whole[4] as number, streamAt(whole, 0), whole.subarray(frameHeadBytes));
    return needed - before;
  }

  return {
    /**
     * Throws a ConnectionError for a too large frame, and the receiver's errors. A part of a frame is copied until its
     * rest comes.
     */
    receive(bytes: Buffer): void {
      let at = 0;
      if (waiting > 0) {
        at = complete(bytes);
        if (waiting > 0) return;
      }
      while (bytes.length - at >= frameHeadBytes) {
        const length = lengthAt(bytes, at, most);
        const start = at + frameHeadBytes;
        const end = start + length;
        if (end > bytes.length) break;
        const type = bytes[at + 3] as number;
        const flags = bytes[at + 4] as number;
        const stream = streamAt(bytes, at);
        at = end;
        receive(type, flags, stream, bytes.subarray(start, end));
      }
      if (at < bytes.length) {
        // A copy, so that the few bytes that are left do not keep the whole chunk.
        parts = [Buffer.from(bytes.subarray(at))];
        waiting = bytes.length - at;
        if (waiting >= 3) lengthAt(bytes, at, most);
      }
    },
    /** Bytes of a frame whose rest has not come. */
    get waiting(): number {
      return waiting;
    },
  };
}

function lengthAt(bytes: Buffer, at: number, most: number): number {
  const length = bytes.readUIntBE(at, 3);
  if (length > most) throw new ConnectionError(http2Error.frameSizeError, `a frame of ${length} bytes is too large`);
  return length;
}

/** The number of bytes that are needed before a frame can be read. */
function neededOf(parts: Buffer[], waiting: number, most: number): number {
  if (waiting < frameHeadBytes) return frameHeadBytes;
  const [first] = parts as [Buffer];
  const head = first.length >= 3 ? first : Buffer.concat(parts, waiting);
  if (head !== first) parts.splice(0, parts.length, head);
  return frameHeadBytes + lengthAt(head, 0, most);
}
