import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { commandFile, start, within } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";

/** Loaded into each process: while there is a file `missing`, the one that starts workers starts a missing program. */
const preload = `
  const { existsSync } = require("node:fs");
  const { execPath } = process;
  if (process.env.XDSKIT_WORKER === undefined)
    Object.defineProperty(process, "execPath", {
      get: () => (existsSync(__dirname + "/missing") ? "/no/such/program" : execPath),
    });
`;

async function childrenOf(pid: number): Promise<readonly number[]> {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").map(Number);
}

// Only Linux tells the processes of a process in its files.
const skip = process.platform !== "linux";

test("a worker that cannot be started is tried again, and does not keep the command from its end", {
  skip,
}, async () => {
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
  const workers = await childrenOf(running.pid);
  assert.equal(workers.length, 2);
  await helper.write("missing", "");
  for (const pid of workers) process.kill(pid, "SIGKILL");
  await running.seen(/a worker ended.*reason="it could not be started"/, "err");
  await helper.remove("missing");
  await running.seen(/a worker serves in the place of one that ended/, "err");
  running.kill("SIGTERM");
  const { status, err } = await within(running.ended(), () => `it goes on\n${running.err()}`);
  assert.equal(status, 0, err);
});
