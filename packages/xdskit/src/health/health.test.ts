import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { xdskit, xdskitEnds } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";

test("health says over a Unix socket whether a server is ready, and needs no token for it", async () => {
  const roles = `tokens: { ci: "sha256:${"0".repeat(64)}" }\nroles: [{ when: { token: ci }, may: [read] }]\n`;
  await using folder = await testFolder({ "a.yaml": "a: [", "b.yaml": clusterYaml("b"), "xdskit.yaml": roles });
  await using beside = await testFolder();
  const admin = `unix:${join(beside.path, "admin")}`;
  const health = (...args: readonly string[]) => xdskitEnds("health", "--server", admin, ...args);

  const before = await health();
  assert.equal(before.status, 1);
  assert.match(before.err, /xdskit health: .*admin/);

  const others = ["--grpc", "127.0.0.1:0", "--rest", "off", "--state", "off"];
  await using server = xdskit("serve", folder.path, "--admin", admin, ...others);
  await server.seen(/^admin listening/m);
  const waiting = await health();
  assert.equal(waiting.status, 1);
  assert.match(waiting.err, /answers 503: starting: .*; \S+a\.yaml:1/);
  const lives = await health("--live");
  assert.equal(lives.status, 0, lives.err);

  await folder.write("a.yaml", clusterYaml("a"));
  await server.seen(/^ready$/m);
  assert.deepEqual(await health(), { status: 0, signal: null, out: "ready\n", err: "" });
  assert.equal((await xdskitEnds("history", "--server", admin)).status, 1, "other commands need a token");
});
