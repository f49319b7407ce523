import { http2Error } from "../frames/http2-errors.js";
import type { Http2Connection } from "./http2-connection.js";
import type { Http2StreamState } from "./http2-stream.js";

/**
 * The time that a client may take to read the data before an error, in milliseconds. Until then the call counts and
 * costs memory: a client that reads nothing and provokes errors must not exceed the limit of calls, nor keep them for
 * ever.
 */
export const lastWordMs = 2_000;

/** Ends all calls of a connection with OK. After `goAway` that ends the connection, too. */
export function stopCalls(connection: Http2Connection): void {
  for (const stream of [...connection.streams.values()]) stream.handler?.stopped();
}

/**
 * The client closed its half of the TCP connection. Returns true if it waits for nothing, so that the connection can
 * go. Otherwise the connection ends once the client was answered: calls that were not answered yet count as
 * half-closed, and all others are reset, since their clients cannot go on.
 */
export function endInput(connection: Http2Connection): boolean {
  const streams = [...connection.streams.values()];
  if (streams.every(waitsForNothing)) return true;
  connection.goAway();
  for (const stream of streams) {
    if (stream.isHalfClosed) continue;
    if (stream.hasResponded || (stream.awaited ?? 0) > 0) {
      stream.reset(http2Error.cancel);
      continue;
    }
    stream.isHalfClosed = true;
    stream.handler?.ended();
  }
  return false;
}

/**
 * A client that came back and lacked nothing was never answered. To end thousands of such calls properly costs as
 * much as it cost to accept them.
 */
function waitsForNothing({ isHalfClosed, hasResponded, handler }: Http2StreamState): boolean {
  return !isHalfClosed && (hasResponded || handler?.isInSync === true);
}
