import { constants } from "node:http2";
import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { statusCode } from "@xdskit/protocol";
import type { Call, ConnectionHandler, Refusal } from "../../transport.js";
import { http2StreamOf } from "./http2-stream.js";
import type { TwoParts } from "./message.js";
import { peerOf } from "./peer.js";
import { asDetails } from "./status.js";

/** How long a client may take to read the response, in milliseconds. Until then it is kept, and counts: nobody may keep it for ever. */
export const unreadMs = 60_000;

/** Serves one unary call as a connection of one request and one response. */
export function serveUnary(
  call: ServerUnaryCall<Buffer, TwoParts>,
  respond: sendUnaryData<TwoParts>,
  accept: (call: Call) => ConnectionHandler | Refusal,
): void {
  let response: TwoParts | undefined;
  let ended = false;
  let closed = false;
  let cutOff: NodeJS.Timeout | undefined;
  let handler: ConnectionHandler | undefined;
  const close = () => {
    if (closed) return;
    closed = true;
    ended = true;
    clearTimeout(cutOff);
    handler?.closed();
  };
  const cancel = () => http2StreamOf(call)?.close(constants.NGHTTP2_CANCEL);
  const connection: Call = {
    peer: peerOf(call),
    send(body, tail) {
      response = { body, tail };
      return false;
    },
    end(code, message) {
      if (ended) return;
      ended = true;
      if (handler !== undefined) cutOff = setTimeout(cancel, unreadMs).unref();
      if (code === statusCode.ok && response !== undefined) respond(null, response);
      else respond({ code: code === statusCode.ok ? statusCode.unavailable : code, details: asDetails(message) });
    },
  };
  const accepted = accept(connection);
  if ("code" in accepted) {
    connection.end(accepted.code, accepted.message);
    return;
  }
  handler = accepted;
  // Not before, since the response waits for as long as its client does not read it.
  const stream = http2StreamOf(call);
  // A client may be gone before its request is handed over, and then nobody tells of it.
  if (stream === undefined || stream.destroyed) queueMicrotask(close);
  else stream.once("close", close);
  handler.received(call.request);
  if (!ended) handler.finished();
}
