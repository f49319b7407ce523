import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { BodyRoom } from "./body-room.js";
import { readBody } from "./read-body.js";

const mebibyte = 1024 * 1024;
const limit = 16 * mebibyte;

function compressed(bytes: Uint8Array): IncomingMessage {
  const parts = { headers: { "content-encoding": "gzip" }, socket: { destroyed: false } };
  return Object.assign(Readable.from([gzipSync(bytes)]), parts) as unknown as IncomingMessage;
}

describe("compressed bodies", () => {
  it("compressed bodies are inflated four at once, and one that waits keeps its room", async () => {
    const room = new BodyRoom(mebibyte);
    const ended: string[] = [];
    const read = async (name: string, request: IncomingMessage) => {
      const { kind } = await readBody(request, limit, room);
      ended.push(name);
      return kind;
    };
    const large = Array.from({ length: 4 }, () => read("large", compressed(Buffer.alloc(8 * mebibyte))));
    const small = read("small", compressed(randomBytes(mebibyte)));
    const gone = compressed(Buffer.alloc(10));
    const left = read("gone", gone);
    gone.on("end", () => Object.assign(gone.socket, { destroyed: true }));
    await Promise.race(large);
    assert.ok(
      ended.every((name) => name === "large"),
      ended.join(),
    );
    assert.equal(room.enter().grow(mebibyte), false);
    assert.deepEqual(await Promise.all([...large, small, left]), ["body", "body", "body", "body", "body", "gone"]);
    assert.equal(room.enter().grow(mebibyte), true);
  });
});
