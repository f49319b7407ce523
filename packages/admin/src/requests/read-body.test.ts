import assert from "node:assert/strict";
import { test } from "node:test";
import { createBodies } from "./read-body.js";

const limits = { retainedBytes: 100, graceMs: 5_000 };

const withBody = (bytes: number) =>
  new Request("http://localhost/", { method: "POST", body: new Uint8Array(bytes).fill(97) });

/** Its body begins, and never ends. */
const unfinished = (bytes: number) =>
  new Request("http://localhost/", {
    method: "POST",
    body: new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(bytes)) }),
    duplex: "half",
  } as RequestInit);

test("any number of small bodies are read at once", async () => {
  const bodies = createBodies(limits);
  const read = await Promise.all(Array.from({ length: 100 }, () => bodies.read(withBody(1))));
  assert.deepEqual(new Set(read.map(({ byteLength }) => byteLength)), new Set([1]));
});

test("a body is counted until its request is answered", async () => {
  const bodies = createBodies(limits);
  const first = withBody(60);
  await bodies.read(first);
  await assert.rejects(bodies.read(withBody(60)), { status: 503 });
  bodies.release(first);
  bodies.release(first);
  await bodies.read(withBody(60));
});

test("the bytes of a refused body are counted until its request is answered", async () => {
  const bodies = createBodies(limits);
  const refused = withBody(60);
  const other = withBody(60);
  await bodies.read(other);
  await assert.rejects(bodies.read(refused), { status: 503 });
  bodies.release(refused);
  bodies.release(other);
  await bodies.read(withBody(100));
});

test("bodies that come slowly delay no other one, and are given up", { timeout: 5_000 }, async () => {
  const bodies = createBodies({ ...limits, graceMs: 200 });
  const slow = Array.from({ length: 20 }, () => bodies.read(unfinished(1)));
  const given = Promise.all(slow.map((one) => assert.rejects(one, { status: 408 })));
  assert.equal((await bodies.read(withBody(10))).byteLength, 10);
  await given;
});
