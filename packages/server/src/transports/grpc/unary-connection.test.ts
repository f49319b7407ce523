import assert from "node:assert/strict";
import { constants } from "node:http2";
import { Duplex } from "node:stream";
import { test } from "node:test";
import type { ServerUnaryCall } from "@grpc/grpc-js";
import { statusCode } from "@xdskit/protocol";
import type { TwoParts } from "./message.js";
import { serveUnary, unreadMs } from "./unary-connection.js";

/** An HTTP/2 stream whose client takes nothing, as far as the connection looks at it. */
class UnreadStream extends Duplex {
  readonly rstCode = undefined;
  closedWith: number | undefined;
  close(code: number): void {
    this.closedWith = code;
    this.emit("close");
  }
}

test("a call whose response is not read is cut off, and does not count for ever", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stream = new UnreadStream();
  const call = { call: { stream }, request: Buffer.alloc(0), getPeer: () => "127.0.0.1:1" };
  let responses = 0;
  let closed = 0;
  serveUnary(
    call as unknown as ServerUnaryCall<Buffer, TwoParts>,
    () => {
      responses += 1;
    },
    (connection) => ({
      received() {
        connection.send(new Uint8Array(1), new Uint8Array());
        connection.end(statusCode.ok, "");
      },
      finished() {},
      drained() {},
      closed() {
        closed += 1;
      },
      stop() {},
    }),
  );
  assert.deepEqual([responses, closed], [1, 0]);
  t.mock.timers.tick(unreadMs - 1);
  assert.deepEqual([stream.closedWith, closed], [undefined, 0]);
  t.mock.timers.tick(1);
  assert.deepEqual([stream.closedWith, closed], [constants.NGHTTP2_CANCEL, 1]);
});
