import { flag } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** A whole header block, not decoded. */
export interface AssembledBlock {
  readonly stream: number;
  readonly endStream: boolean;
  readonly bytes: Buffer;
}

/** Puts header blocks together from HEADERS and the CONTINUATIONs behind them, which nothing may interrupt. */
export type HeaderAssembly = ReturnType<typeof createHeaderAssembly>;

/** Clients cut blocks of at most 32 kB at 16 kB: a client that sends more pieces wants to keep us busy. */
const mostContinuations = 32;

/** `mostBytes` is for the frames of one block. */
export function createHeaderAssembly(mostBytes: number) {
  let open:
    | { readonly stream: number; readonly endStream: boolean; readonly parts: Buffer[]; bytes: number }
    | undefined;
  return {
    /** The stream whose block is open; undefined between blocks. */
    get open(): number | undefined {
      return open?.stream;
    },
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
      open = { stream, endStream, parts: [Buffer.from(bytes)], bytes: bytes.length };
      return undefined;
    },
    continuation(flags: number, payload: Buffer): AssembledBlock | undefined {
      if (open === undefined) throw new ConnectionError(http2Error.protocolError, "CONTINUATION of nothing");
      open.parts.push(Buffer.from(payload));
      open.bytes += payload.length;
      // CVE-2024-27316: without these two bounds a client could go on for ever.
      if (open.parts.length > mostContinuations + 1 || open.bytes > mostBytes) {
        throw new ConnectionError(http2Error.enhanceYourCalm, "a header block is too large");
      }
      if ((flags & flag.endHeaders) === 0) return undefined;
      const { stream, endStream, parts } = open;
      open = undefined;
      return { stream, endStream, bytes: Buffer.concat(parts) };
    },
  };
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
