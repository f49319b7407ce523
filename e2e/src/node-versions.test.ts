import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { peer, root } from "./harness/basics/peers.js";

/** The three places that use Node's private parts, and what is done where these are another way. */
const folder = join(root, "packages/grpc-server/src/node-internals");
const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
const options = ["--conditions=@xdskit/source", "--import", "tsx", "--test", "--test-reporter=tap"];

describe("the private parts of Node that are used", () => {
  for (const version of [22, 24, 26] as const)
    it(`are as expected in Node ${version}`, { timeout: 120_000 }, async (t) => {
      const node = peer(`node-${version}`, t);
      if (node === undefined) return;
      const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = process.env;
      const files = tests.map((name) => join(folder, name));
      const { stdout } = await promisify(execFile)(node, [...options, ...files], { cwd: root, env });
      assert.match(stdout, /^# fail 0$/m);
      assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) >= tests.length);
    });
});
