import type { Http2Connection } from "./http2-connection.js";
import { http2Error } from "./http2-errors.js";
import type { StreamState } from "./http2-stream.js";

/** Ends all calls of a connection, cleanly, and by that, behind its `goAway`, the connection. */
export function stopCalls(connection: Http2Connection): void {
  for (const stream of [...connection.streams.values()]) stream.handler?.stopped();
}

/**
 * The client closed its half of the TCP connection. True: it waits for nothing, the connection can go. Else that ends by itself once the client was answered: calls of
 * which it had nothing yet count as half-closed, as if it had said so; others are nothing without what it would say further on.
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

/** A client that came back and lacked nothing was never answered: to say goodbye to thousands of them is as much work as it was to let them in. */
function waitsForNothing({ isHalfClosed, hasResponded, handler }: StreamState): boolean {
  return !isHalfClosed && (hasResponded || handler?.isSettled === true);
}
