import type { ServerStream, StreamHandler } from "./http2-stream.js";
import type { Slab, Written } from "./output.js";
import type { RequestHead } from "./request-head.js";

/** What one connection may cost. */
export interface ConnectionLimits {
  /** Streams open at once. */
  readonly streams: number;
  /** Bytes of one header block, as HPACK counts, and of its frames. */
  readonly headerBytes: number;
}

/** What a connection needs from outside: it opens no socket, and reads no clock. */
export interface ConnectionHost {
  /** Where small frames are put until they are written; connections may share one. */
  readonly slab: Slab;
  /** Writes bytes as one. Those that are not gone afterwards are the socket's from then on; after `full` it calls `drained`. */
  write(chunks: readonly Buffer[]): Written;
  /** No more is written: close once all has gone out. */
  finish(): void;
  /** Milliseconds, never going back. */
  now(): number;
  /** Takes over a new stream; nothing is called on it before this returns. */
  accept(head: RequestHead, stream: ServerStream): StreamHandler;
}
