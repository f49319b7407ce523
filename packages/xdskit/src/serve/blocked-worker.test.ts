import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { test } from "node:test";
import { commandFile, eventually, start, within } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";

/**
 * Loaded into each process: the first worker comes around no more once there is a file `block`, and says so by another.
 */
const preload = `
  const { existsSync, writeFileSync } = require("node:fs");
  if (process.env.XDSKIT_WORKER?.startsWith("1/")) setInterval(() => {
    if (!existsSync(__dirname + "/block")) return;
    writeFileSync(__dirname + "/blocked", "");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }, 10).unref();
`;

test("a worker that comes around no more does not keep the command from its end", async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  await using helper = await testFolder({ "preload.cjs": preload });
  const ports = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
  await using running = start(process.execPath, [
    ...process.execArgv,
    "--require",
    `${helper.path}/preload.cjs`,
    commandFile,
    "serve",
    folder.path,
    "--workers",
    "2",
    ...ports,
  ]);
  await running.seen(/^ready$/m);
  await helper.write("block", "");
  const isBlocked = () => access(`${helper.path}/blocked`).then(() => true);
  await eventually(isBlocked, (blocked) => blocked);
  running.kill("SIGTERM");
  const { status, err } = await within(running.ended(), () => `it goes on\n${running.err()}`);
  assert.equal(status, 0, err);
});
