import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { commandFile, eventually, start } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { processTerminal } from "./terminal.js";

const command = [process.execPath, ...process.execArgv, commandFile];
/** A file that takes nothing, as on a disk that is full. */
const full = "/dev/full";
const options = { skip: existsSync(full) ? false : `there is no ${full}` };

test("a log that cannot be written ends no server", options, async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  const ports = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
  await using server = start("sh", ["-c", `exec "$@" 2>${full}`, "sh", ...command, "serve", folder.path, ...ports]);
  const [, admin] = await server.seen(/^admin listening on (\S+)$/m);
  await server.seen(/^ready$/m);
  // Each is a line in the log.
  for (const [name, state] of [
    ["]", "refused"],
    [clusterYaml("b"), "applied"],
  ] as const) {
    await folder.write("b.yaml", name);
    const sources = async () => (await fetch(`http://${admin}/api/v1/sources`)).text();
    await eventually(sources, (answer) => answer.includes(`"state": "${state}"`));
  }
  server.kill("SIGTERM");
  assert.equal((await server.ended()).status, 0);
});

test("a result that cannot be written is a failure with one line", options, async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  const [program = "", ...args] = [...command, "validate", folder.path];
  const output = openSync(full, "w");
  const child = spawn(program, args, { stdio: ["ignore", output, "pipe"] });
  closeSync(output);
  const [said, [status]] = await Promise.all([text(child.stderr!), once(child, "exit")]);
  assert.deepEqual(
    [status, said],
    [1, "xdskit: standard output cannot be written: ENOSPC: no space left on device, write\n"],
  );
});

/** A terminal of this process whose standard output is a stream of the test, with room for a byte. */
function withOutput(context: TestContext) {
  const output = new PassThrough({ highWaterMark: 1 });
  const mocked = context.mock.getter(process, "stdout", () => output as unknown as typeof process.stdout);
  const terminal = processTerminal();
  mocked.mock.restore();
  return { output, terminal };
}

test("many that wait for room on standard output wait for the same thing", async (context) => {
  const { output, terminal } = withOutput(context);
  for (const round of ["a", "b"]) {
    terminal.out(round.repeat(10));
    const waiting = Array.from({ length: 100 }, () => terminal.drained?.());
    assert.equal(new Set(waiting).size, 1);
    assert.ok(output.listenerCount("drain") < 2, `${output.listenerCount("drain")} listeners`);
    output.read();
    await Promise.all(waiting);
  }
});

test("all that wait for room on standard output go on when its reader is gone", async (context) => {
  const { output, terminal } = withOutput(context);
  terminal.out("a".repeat(10));
  const waiting = [terminal.drained?.(), terminal.drained?.()];
  output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  await Promise.all([...waiting, terminal.closed, terminal.drained?.()]);
});
