import type { HttpRequestHead } from "../frames/request-head.js";
import type { Http2Stream, Http2StreamHandler } from "./http2-stream.js";
import type { OutputHost } from "./output.js";

/** The limits of one connection. */
export interface ConnectionLimits {
  /** Streams open at once. */
  readonly streams: number;
  /** Bytes of one header block, as HPACK counts, and of its frames. */
  readonly headerBytes: number;
}

/** The environment of a connection, which itself opens no socket and reads no clock. */
export interface ConnectionHost extends OutputHost {
  /** No more is written: close once all has gone out. */
  finish(): void;
  /** Milliseconds, never going back. */
  now(): number;
  /** Takes over a new stream; nothing is called on it before this returns. */
  accept(head: HttpRequestHead, stream: Http2Stream): Http2StreamHandler;
  /** The peer speaks another protocol; `reason` says what to do. */
  foreign?(reason: string): void;
  /** A stream was refused, since there are as many as the limits allow. */
  full?(): void;
}
