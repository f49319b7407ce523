import { flag } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** A whole header block, not decoded. */
export interface AssembledBlock {
  readonly stream: number;
  readonly endStream: boolean;
  readonly bytes: Buffer;
}

/** Clients cut blocks of at most 32 kB at 16 kB: a client that sends more pieces wants to keep us busy. */
const maxContinuations = 32;

/** A block whose end has not come yet. */
interface OpenBlock {
  readonly stream: number;
  readonly endStream: boolean;
  readonly parts: Buffer[];
  bytes: number;
}

/** Puts header blocks together from HEADERS and the CONTINUATIONs behind them, which nothing may interrupt. */
export class HeaderAssembly {
  readonly #maxBytes: number;
  #open: OpenBlock | undefined;

  /** `maxBytes` is for the frames of one block. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The stream whose block is open; undefined between blocks. */
  get open(): number | undefined {
    return this.#open?.stream;
  }

  /** The block, if it is whole. Throws a ConnectionError. */
  headers(flags: number, stream: number, payload: Buffer): AssembledBlock | undefined {
    let bytes = unpadded(flags, payload);
    if ((flags & flag.priority) !== 0) {
      if (bytes.length < 5) throw new ConnectionError(http2Error.frameSizeError, "HEADERS without their priority");
      // Priorities mean nothing any more (5.3.2).
      bytes = bytes.subarray(5);
    }
    const endStream = (flags & flag.endStream) !== 0;
    if ((flags & flag.endHeaders) !== 0) return { stream, endStream, bytes };
    this.#open = { stream, endStream, parts: [Buffer.from(bytes)], bytes: bytes.length };
    return undefined;
  }

  /** The next part of the open block; returns the block once it is whole. Throws a ConnectionError. */
  continuation(flags: number, payload: Buffer): AssembledBlock | undefined {
    const open = this.#open;
    if (open === undefined) throw new ConnectionError(http2Error.protocolError, "CONTINUATION of nothing");
    open.parts.push(Buffer.from(payload));
    open.bytes += payload.length;
    // CVE-2024-27316: without these two bounds a client could go on for ever.
    if (open.parts.length > maxContinuations + 1 || open.bytes > this.#maxBytes) {
      throw new ConnectionError(http2Error.enhanceYourCalm, "a header block is too large");
    }
    if ((flags & flag.endHeaders) === 0) return undefined;
    const { stream, endStream, parts } = open;
    this.#open = undefined;
    return { stream, endStream, bytes: Buffer.concat(parts) };
  }
}

/** A payload without its padding. Throws a ConnectionError. */
export function unpadded(flags: number, payload: Buffer): Buffer {
  if ((flags & flag.padded) === 0) return payload;
  const [padding] = payload;
  if (padding === undefined || padding + 1 > payload.length) {
    throw new ConnectionError(http2Error.protocolError, "more padding than there is payload");
  }
  return payload.subarray(1, payload.length - padding);
}
