/** The reasons for the end of a stream or a connection (RFC 9113, 7). */
export const http2Error = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;
/** One of them, as in a frame. */
export type Http2ErrorCode = (typeof http2Error)[keyof typeof http2Error];

/** The peer broke the protocol, and the connection cannot go on. */
export class ConnectionError extends Error {
  readonly code: Http2ErrorCode;

  constructor(code: Http2ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The peer broke the protocol within one stream; the others go on. */
export class StreamError extends Error {
  readonly code: Http2ErrorCode;

  constructor(code: Http2ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
