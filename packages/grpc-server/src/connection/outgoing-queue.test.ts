import assert from "node:assert/strict";
import { it } from "node:test";
import { frame } from "../frames/frames.js";
import { http2Bench, open, setting, uint32 } from "../testing/http2-bench.js";
import { randomFrom } from "../testing/random.js";
import type { RemakableBytes } from "./outgoing-queue.js";

/** Bytes that are at hand for this many requests; afterwards they come in small pieces. */
function fading(
  bytes: Buffer,
  times: number,
  pieceBytes: number,
): RemakableBytes & { readonly begun: readonly number[] } {
  let left = times;
  const begun: number[] = [];
  return {
    begun,
    length: bytes.length,
    get atHand() {
      left -= 1;
      return left >= 0 ? bytes : undefined;
    },
    *rest(from) {
      begun.push(from);
      for (let at = from; at < bytes.length; at += pieceBytes)
        yield bytes.subarray(at, Math.min(bytes.length, at + pieceBytes));
    },
  };
}

it("a queue goes on with equal bytes when the first copy is gone", () => {
  const random = randomFrom(11);
  let faded = 0;
  for (let run = 0; run < 300; run++) {
    const { streams, send, outBytes } = http2Bench({ settings: setting(4, random(40_000)) });
    send(open(1));
    const [stream] = streams;
    let expected = "";
    for (let message = 0; message < 3; message++) {
      const body = Buffer.from(Array.from({ length: random(60_000) }, () => random(256)));
      const again = fading(body, random(4), 1 + random(9_000));
      let isDrained = stream?.send(Buffer.from("first"), body, Buffer.from("tail"), again);
      expected += `first${body.toString("latin1")}tail`;
      for (let round = 0; round < 100 && isDrained === false; round++) {
        const bytes = uint32(1 + random(20_000));
        send(frame(8, 0, 0, bytes), frame(8, 0, 1, bytes));
        isDrained = outBytes(1).length === expected.length;
      }
      assert.equal(isDrained, true);
      assert.equal(outBytes(1), expected);
      // From its old place, and once.
      assert.ok(again.begun.length <= 1);
      faded += again.begun.length;
    }
  }
  assert.ok(faded > 100, `${faded} times`);
});

for (const [who, frameBytes] of [
  ["a client", 16_384],
  ["a client that takes large frames", 1_000_000],
] as const) {
  it(`${who} that was silent for long has at most one frame left in the socket, and no part of large content`, () => {
    const { streams, send, outBytes, room, keptBytes, wait } = http2Bench({
      settings: setting(4, 10_000_000),
      frameBytes,
    });
    send(setting(5, frameBytes), open(1), frame(8, 0, 0, uint32(10_000_000)));
    const [stream] = streams;
    const responses = Array.from({ length: 3 }, (_, index) => Buffer.alloc(200_000, `${index}`));
    const respond = (index: number) => {
      const bytes = responses[index] as Buffer;
      stream?.send(Buffer.alloc(0), bytes, Buffer.alloc(0), fading(bytes, 100, 1_000));
    };
    respond(0);
    wait(1_000);
    room(false);
    respond(1);
    assert.ok(keptBytes() > 0 && keptBytes() < 64_000, `${keptBytes()} bytes are kept`);
    room(true);
    // It reads again.
    send(frame(8, 0, 0, uint32(1)));
    room(false);
    respond(2);
    assert.equal(outBytes(1), Buffer.concat(responses.slice(0, 2)).toString("latin1") + outBytes(1).slice(400_000));
    assert.ok(keptBytes() >= 200_000, "who reads is sent what is at hand");
    room(true);
    assert.equal(outBytes(1), Buffer.concat(responses).toString("latin1"));
  });
}
