import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { describe, it } from "node:test";
import { frame } from "../frames/frames.js";
import { http2Bench, open, request, setting, uint32 } from "../testing/http2-bench.js";
import { withGrpcServer } from "../testing/with-server.js";

describe("settings of a peer", () => {
  it("a stream that waits for the connection's window may lose its own, and sends again once it has one (6.9.2)", () => {
    const { streams, send, out, sentBytes } = http2Bench({ settings: setting(4, 200_000) });
    send(open(1));
    streams[0]?.respond(request);
    streams[0]?.send(Buffer.alloc(100_000));
    assert.equal(sentBytes(1), 65_535);
    for (const less of [65_535, 10_000]) {
      send(setting(4, less));
      out();
      send(frame(8, 0, 0, uint32(100_000)));
      assert.deepEqual(out(), []);
    }
    send(frame(8, 0, 1, uint32(55_535)));
    assert.deepEqual(out(), []);
    send(frame(8, 0, 1, uint32(100_000)));
    assert.equal(sentBytes(1), 100_000);
  });

  for (const headerTableSize of [0, 100, 8_192]) {
    it(`the table for header fields becomes ${headerTableSize} bytes large (RFC 7541, 4.2)`, { timeout: 30_000 }, () =>
      withGrpcServer({}, async ({ address }) => {
        const session = connect(`http://${address}`, { settings: { headerTableSize } });
        const failed: unknown[] = [];
        session.on("error", (error) => failed.push(error));
        try {
          // From here on the client holds the server to it.
          await once(session, "localSettings");
          for (let call = 0; call < 2; call++) {
            const stream = session.request({ ":method": "POST", ":path": "/a/b", "content-type": "application/grpc" });
            let head: IncomingHttpHeaders = {};
            stream.on("response", (headers) => {
              head = headers;
            });
            const closed = new Promise((resolve) => stream.once("close", resolve));
            stream.on("error", (error) => failed.push(error));
            await closed;
            assert.deepEqual(failed, []);
            assert.equal(head["grpc-status"], "12");
          }
        } finally {
          session.destroy();
        }
      }),
    );
  }
});
