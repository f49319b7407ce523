import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { FrameReader } from "../frames/frame-reader.js";
import { frame } from "../frames/frames.js";
import { GrpcMessageReader } from "./message-reader.js";

/** A reader, its reports, and the bytes that it holds. */
function bench(encoding?: "gzip") {
  const told: string[] = [];
  const held = { now: 0, most: 0 };
  const sink = {
    message: (bytes: Uint8Array) => void told.push(Buffer.from(bytes).toString("latin1")),
    lastMessage: () => void told.push("last"),
    failed: (code: number) => void told.push(`failed:${code}`),
  };
  const reader = new GrpcMessageReader(sink, {
    maxBytes: 100_000,
    encoding,
    hold(bytes) {
      held.now += bytes;
      held.most = Math.max(held.most, held.now);
      return undefined;
    },
  });
  return { reader, told, held };
}

function message(body: Buffer, isCompressed = false): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = isCompressed ? 1 : 0;
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

const texts = ["", "a", "b".repeat(30), "c".repeat(5_000), "", "d".repeat(70_000), "e"];
const body = Buffer.concat(texts.map((text) => message(Buffer.from(text))));

describe("requests that come in parts", () => {
  for (const size of [1, 2, 7, 1_000, 16_384, 40_000, body.length]) {
    it(`of ${size} bytes equal whole ones`, () => {
      const { reader, told, held } = bench();
      for (let at = 0; at < body.length; at += size) {
        // The incoming bytes do not belong to the reader: the test overwrites them.
        const part = Buffer.from(body.subarray(at, at + size));
        reader.receive(part);
        part.fill(0);
      }
      reader.end();
      assert.deepEqual(told, [...texts, "last"]);
      assert.equal(held.now, 0);
    });
  }

  it("requests that wait in several streams at once stay separate, whatever memory they have", () => {
    const readers = Array.from({ length: 5 }, () => bench());
    const bodies = readers.map((_, index) => [30_000, 70_000, 31_000].map((length) => `${index}`.repeat(length)));
    const bytes = bodies.map((texts) => Buffer.concat(texts.map((text) => message(Buffer.from(text)))));
    for (let at = 0; at < 140_000; at += 9_000) {
      for (const [index, { reader }] of readers.entries())
        reader.receive(Buffer.from(bytes[index]?.subarray(at, at + 9_000) ?? []));
    }
    assert.deepEqual(
      readers.map(({ told }) => told),
      bodies,
    );
    assert.deepEqual(
      readers.map(({ held }) => held.now),
      [0, 0, 0, 0, 0],
    );
  });

  it("a request in parts holds at most a few times its received bytes, whatever it announces, and nothing once it is gone", () => {
    const { reader, held } = bench();
    reader.receive(message(Buffer.alloc(90_000)).subarray(0, 100));
    assert.ok(held.now >= 100 && held.now <= 800, `${held.now}`);
    reader.receive(Buffer.alloc(1_000));
    assert.ok(held.now <= 8_800, `${held.now}`);
    reader.close();
    assert.equal(held.now, 0);
  });

  it("requests are read in their order behind one that is inflated, however small their parts are", async () => {
    const { reader, told, held } = bench("gzip");
    reader.receive(message(gzipSync("first"), true));
    for (let at = 0; at < body.length; at += 11) reader.receive(body.subarray(at, at + 11));
    assert.ok(held.most <= 2 * body.length + 100, `${held.most}`);
    reader.end();
    for (let turn = 0; turn < 10_000 && told.at(-1) !== "last"; turn++) await new Promise(setImmediate);
    assert.deepEqual(told, ["first", ...texts, "last"]);
    assert.equal(held.now, 0);
  });

  for (const [what, act] of [
    ["ends", "close"],
    ["fails in its handler", "throw"],
  ] as const) {
    it(`a call that ${what} at a request that came in parts holds nothing afterwards`, () => {
      const held = { now: 0 };
      let messages = 0;
      const sink = {
        message() {
          messages += 1;
          if (messages < 2) return;
          reader.close();
          if (act === "throw") throw new Error("a fault");
        },
        lastMessage() {},
        failed() {},
      };
      const hold = (bytes: number) => {
        held.now += bytes;
        return undefined;
      };
      const reader = new GrpcMessageReader(sink, { maxBytes: 100_000, hold });
      const bytes = Buffer.concat([30_000, 40_000, 50_000].map((length) => message(Buffer.alloc(length))));
      const feed = () => {
        for (let at = 0; at < bytes.length; at += 9_000) reader.receive(bytes.subarray(at, at + 9_000));
      };
      if (act === "throw") assert.throws(feed, /a fault/);
      else feed();
      assert.deepEqual([messages, held.now], [2, 0]);
    });
  }
});

describe("frames that come in parts", () => {
  const frames = [0, 3, 16_384, 0, 1, 9, 70, 16_000].map((bytes, index) =>
    frame(index, index, index, Buffer.alloc(bytes, index)),
  );
  const all = Buffer.concat(frames);
  for (const size of [1, 2, 3, 8, 9, 10, 11, 100, 16_384, 16_393, all.length]) {
    it(`of ${size} bytes equal whole ones, while other readers and messages use the same memory`, () => {
      const readers = Array.from({ length: 3 }, () => {
        const seen: Buffer[] = [];
        const reader = new FrameReader((...[type, flags, stream, payload]) => {
          // A message takes memory of about the same size, and fills it.
          const messages = bench().reader;
          messages.receive(message(Buffer.alloc(20_000, 0xff)).subarray(0, 17_000));
          messages.close();
          seen.push(frame(type, flags, stream, Buffer.from(payload)));
        });
        return { reader, seen };
      });
      for (let at = 0; at < all.length; at += size) {
        for (const { reader } of readers) {
          const part = Buffer.from(all.subarray(at, at + size));
          reader.receive(part);
          part.fill(0);
        }
      }
      for (const { reader, seen } of readers) {
        assert.deepEqual(Buffer.concat(seen), all);
        assert.deepEqual([seen.length, reader.waiting], [frames.length, 0]);
      }
    });
  }
});
