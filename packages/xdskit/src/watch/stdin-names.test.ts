import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { followNames } from "./stdin-names.js";

test("names come and go by lines, however the input is cut", async () => {
  const said: string[] = [];
  const input = new PassThrough();
  const stop = followNames(input, {
    subscribe: (name) => said.push(`+${name}`),
    unsubscribe: (name) => said.push(`-${name}`),
    unknown: (line) => said.push(`?${line.length > 20 ? line.length : line}`),
  });
  for (const part of ["+a", "b\r\n-*\n\n  + c d \nwhat\n+\n", "x".repeat(70_000), "\n+last"]) {
    input.write(part);
    await new Promise(setImmediate);
  }
  input.end();
  await new Promise(setImmediate);
  assert.deepEqual(said, ["+ab", "-*", "+c d", "?what", "?+", "?70000", "+last"]);
  stop();
});

test("lines after a stop are ignored", async () => {
  const input = new PassThrough();
  const stop = followNames(input, {
    subscribe: (name) => assert.fail(name),
    unsubscribe: (name) => assert.fail(name),
    unknown: (line) => assert.fail(line),
  });
  stop();
  await new Promise(setImmediate);
  assert.equal(input.destroyed, true);
});
