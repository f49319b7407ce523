import assert from "node:assert/strict";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { waitFor } from "../testing/wait-for.js";
import { withGrpcServer } from "../testing/with-server.js";
import { inflateMessage } from "./inflate-message.js";
import { GrpcMessageReader } from "./message-reader.js";

const mebibyte = 1024 * 1024;

describe("compressed requests", () => {
  it("compressed requests are inflated a few at a time, over all clients", async () => {
    const bomb = gzipSync(Buffer.alloc(mebibyte));
    let held = 0;
    let told = 0;
    let atOnce = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const isWanted = () => {
          atOnce += 1;
          most = Math.max(most, atOnce);
          if (index % 2 === 0) return true;
          atOnce -= 1;
          return false;
        };
        await inflateMessage("gzip", bomb, mebibyte, isWanted, (inflated) => {
          atOnce -= 1;
          told += 1;
          assert.ok("bytes" in inflated && inflated.bytes.length === mebibyte);
        });
      }),
    );
    assert.equal(told, 20);
    assert.ok(most <= 4, `${most} at once`);
    // Waiting ones count as held, until they were read or their stream is gone.
    const prefix = Buffer.alloc(5, 1);
    prefix.writeUInt32BE(bomb.length, 1);
    const sizes: number[] = [];
    let reads = 0;
    const readers = Array.from(
      { length: 12 },
      () =>
        new GrpcMessageReader(
          {
            message: (bytes) => void sizes.push(bytes.length),
            lastMessage() {
              reads += 1;
            },
            failed: (_, message) => assert.fail(message),
          },
          {
            maxBytes: mebibyte,
            encoding: "gzip",
            hold(bytes) {
              held += bytes;
              return undefined;
            },
          },
        ),
    );
    for (const reader of readers) {
      reader.receive(Buffer.concat([prefix, bomb]));
      reader.end();
    }
    assert.equal(held, 12 * bomb.length);
    for (const reader of readers.slice(6)) reader.close();
    // Other threads inflate: turns of the event loop are no measure of their time.
    await waitFor("the messages", () => held === 0 && reads === 6);
    assert.deepEqual([held, reads, sizes.length], [0, 6, 6]);
  });

  it("a request in an unknown compression is refused with the list of known compressions", () =>
    withGrpcServer({}, async ({ address }) => {
      const session = connect(`http://${address}`);
      const head = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
        session.on("error", reject);
        const path = "/test.Service/Echo";
        const headers = { "content-type": "application/grpc", "grpc-encoding": "snappy" };
        const stream = session.request({ ":method": "POST", ":path": path, ...headers });
        stream.on("error", () => {});
        stream.on("response", resolve);
      }).finally(() => session.destroy());
      assert.deepEqual([head["grpc-status"], head["grpc-accept-encoding"]], ["12", "identity,gzip,deflate"]);
    }));
});
