import { constants } from "node:http2";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import { type StatusCode, statusCode } from "@xdskit/protocol";
import { type Call, type ConnectionHandler, lastWordMs, type Refusal } from "../../transport.js";
import { http2StreamOf } from "./http2-stream.js";
import type { TwoParts } from "./message.js";
import { peerOf } from "./peer.js";
import { asDetails } from "./status.js";

/**
 * How many bytes of messages may wait for a client before it counts as one that cannot take more. A single larger message is taken all the
 * same. Small, since what waits is fixed, and what does not wait yet can still be replaced by something newer (latest wins).
 */
const waitingBytes = 16 * 1024;

/** Serves one streaming call. */
export function serveStream(
  call: ServerDuplexStream<Buffer, TwoParts>,
  accept: (call: Call) => ConnectionHandler | Refusal,
): void {
  let waiting = 0;
  let full = false;
  let ended = false;
  let closed = false;
  let cutOff: NodeJS.Timeout | undefined;

  const connection: Call = {
    peer: peerOf(call),
    send(body, tail) {
      if (ended || closed) return false;
      const size = body.byteLength + tail.byteLength;
      waiting += size;
      // The callback comes when HTTP/2's flow control has let the message go, not when Node has put it into a buffer.
      call.write({ body, tail }, () => {
        waiting -= size;
        if (!full || waiting >= waitingBytes || ended || closed) return;
        full = false;
        handler.drained();
      });
      full = waiting >= waitingBytes;
      return !full;
    },
    end(code, message) {
      if (ended || closed) return;
      ended = true;
      endCall(code, message);
      if (code === statusCode.ok) return;
      // gRPC sends the status once HTTP/2 has let go of all messages, which for a client that reads nothing is never.
      cutOff = setTimeout(() => http2StreamOf(call)?.close(constants.NGHTTP2_CANCEL), lastWordMs);
      cutOff.unref();
    },
  };

  function endCall(code: StatusCode, message: string): void {
    if (code === statusCode.ok) call.end();
    else call.emit("error", { code, details: asDetails(message) });
  }

  const accepted = accept(connection);
  if ("code" in accepted) {
    ended = true;
    // What the client goes on to send is read and dropped, or the end of the call would never be seen.
    call.resume();
    endCall(accepted.code, accepted.message);
    return;
  }
  const handler = accepted;
  const close = () => {
    if (closed) return;
    closed = true;
    clearTimeout(cutOff);
    handler.closed();
  };
  call.on("data", (bytes: Buffer) => {
    if (!ended && !closed) handler.received(bytes);
  });
  call.on("end", () => {
    if (!ended && !closed) handler.finished();
  });
  call.on("cancelled", close);
  call.on("close", close);
}
