import { WaitingBytes } from "../bytes/waiting-bytes.js";
import { defaultFrameBytes, frameHeadBytes } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** Called for each frame. The payload is only good until the call returns, unless it is copied. */
export type FrameReceiver = (type: number, flags: number, stream: number, payload: Buffer) => void;

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

/** Cuts the bytes of a connection into frames, however they come. */
export class FrameReader {
  readonly #receive: FrameReceiver;
  readonly #most: number;
  /** The beginning of a frame whose rest has not come; undefined between frames. */
  #kept: WaitingBytes | undefined;

  /** `most`: the largest payload, in bytes. */
  constructor(receive: FrameReceiver, most = defaultFrameBytes) {
    this.#receive = receive;
    this.#most = most;
  }

  /** Bytes of a frame whose rest has not come. */
  get waiting(): number {
    return this.#kept?.length ?? 0;
  }

  /**
   * Throws a ConnectionError for a too large frame, and the receiver's errors. A part of a frame is copied until its
   * rest comes.
   */
  receive(bytes: Buffer): void {
    let at = this.#kept === undefined ? 0 : this.#complete(this.#kept, bytes);
    while (bytes.length - at >= frameHeadBytes) {
      const end = at + frameHeadBytes + lengthAt(bytes, at, this.#most);
      if (end > bytes.length) break;
      this.#frame(bytes, at, end);
      at = end;
    }
    if (at === bytes.length) return;
    const rest = bytes.subarray(at);
    const needed = this.#neededOf(rest);
    this.#kept = new WaitingBytes();
    this.#kept.add(rest, needed);
  }

  /**
   * Adds to the waiting frame its missing bytes, and reports it if it is whole. Returns the number of bytes that it
   * took.
   */
  #complete(kept: WaitingBytes, bytes: Buffer): number {
    let at = 0;
    let needed = this.#neededOf(kept.bytes);
    while (kept.length < needed) {
      if (at === bytes.length) return at;
      const end = Math.min(at + needed - kept.length, bytes.length);
      kept.add(bytes.subarray(at, end), needed);
      at = end;
      needed = this.#neededOf(kept.bytes);
    }
    this.#kept = undefined;
    try {
      this.#frame(kept.bytes, 0, needed);
    } finally {
      kept.release();
    }
    return at;
  }

  #frame(bytes: Buffer, at: number, end: number): void {
    const payload = bytes.subarray(at + frameHeadBytes, end);
    this.#receive(bytes[at + 3] as number, bytes[at + 4] as number, streamAt(bytes, at), payload);
  }

  /** The length of the frame that these bytes begin, or of its head while that does not say more. */
  #neededOf(bytes: Buffer): number {
    return frameHeadBytes + (bytes.length < lengthBytes ? 0 : lengthAt(bytes, 0, this.#most));
  }
}

/** The first bytes of a frame's head are the length of its payload. */
const lengthBytes = 3;

function lengthAt(bytes: Buffer, at: number, most: number): number {
  const length = bytes.readUIntBE(at, lengthBytes);
  if (length > most) throw new ConnectionError(http2Error.frameSizeError, `a frame of ${length} bytes is too large`);
  return length;
}
