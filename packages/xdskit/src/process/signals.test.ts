import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { commandFile, start, within } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { listenForStop } from "./signals.js";
import { untilStopped } from "./until-stopped.js";

test("the first signal asks for an orderly end, and the second ends the process at once", async (context) => {
  const exit = context.mock.method(process, "exit", (() => {}) as typeof process.exit);
  // Waiting for a signal keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  context.after(() => clearInterval(alive));
  const signals = listenForStop();
  process.kill(process.pid, "SIGTERM");
  assert.equal(await signals.stop, "SIGTERM");
  assert.equal(exit.mock.callCount(), 0);
  process.kill(process.pid, "SIGINT");
  while (exit.mock.callCount() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(exit.mock.calls[0]?.arguments, [130]);
  signals.release();
  assert.equal(process.listenerCount("SIGTERM"), 0);
});

test("a signal that comes twice at once, as from GNU timeout, is one", async (context) => {
  const exit = context.mock.method(process, "exit", (() => {}) as typeof process.exit);
  const signals = listenForStop();
  try {
    process.emit("SIGTERM");
    process.emit("SIGTERM");
    assert.equal(await signals.stop, "SIGTERM");
    assert.equal(exit.mock.callCount(), 0);
    await sleep(110);
    process.emit("SIGTERM");
    assert.deepEqual(exit.mock.calls[0]?.arguments, [143]);
  } finally {
    signals.release();
  }
});

test("a SIGTERM for npx, which only ends npm's shell, ends the server too", async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  const words = [process.execPath, ...process.execArgv, commandFile, "serve", folder.path];
  // As npm does it: a shell that stays between, and gets the signal alone.
  const shell = `npm_lifecycle_event=npx "$@" & echo "server $!" && wait`;
  await using npm = start("sh", [
    "-c",
    shell,
    "sh",
    ...words,
    "--grpc",
    "127.0.0.1:0",
    "--rest",
    "off",
    "--admin",
    "127.0.0.1:0",
  ]);
  const server = Number((await npm.seen(/^server (\d+)$/m))[1]);
  try {
    await npm.seen(/^ready$/m);
    npm.kill("SIGTERM");
    // Its pipes close only when the server is gone, too.
    await within(npm.ended(), () => `the server goes on\n${npm.err()}`);
  } catch (error) {
    process.kill(server, "SIGKILL");
    throw error;
  }
  assert.match(npm.err(), /stopping: streams are ended/);
});

test("a command that looks again and again keeps nothing of what it found before", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const looks: WeakRef<object>[] = [];
  let left = 0;
  const look = async () => {
    await turn();
    collect();
    left = looks.filter((found) => found.deref() !== undefined).length;
    const found = {};
    looks.push(new WeakRef(found));
    return found;
  };
  await untilStopped({}, 1, look, () => (looks.length < 20 ? "again" : "end"));
  // The newest ones may still be on the stack.
  assert.ok(left <= 3, `${left} of ${looks.length - 1} are left`);
});

test("a command that looks again and again ends with its reader, and does not wait for a look", async () => {
  let shown = 0;
  let leave = () => {};
  const closed = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const look = () => (shown === 2 ? new Promise<void>(() => setImmediate(leave)) : Promise.resolve());
  await within(
    untilStopped({ closed }, 1, look, () => {
      shown += 1;
      return "again";
    }),
    () => "the command has ended",
  );
  assert.equal(shown, 2);
});

test("a command that looks again and again waits for a slow reader, and ends while it waits", async () => {
  let shown = 0;
  let hasRoom = true;
  let waits: () => void = () => {};
  let leave: () => void = () => {};
  const waiting = new Promise<void>((resolve) => {
    waits = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const drained = () => {
    if (hasRoom) return Promise.resolve();
    waits();
    return new Promise<void>(() => {});
  };
  const ended = untilStopped(
    { drained, closed },
    1,
    async () => {},
    () => {
      shown += 1;
      hasRoom = shown < 3;
      // It never waited.
      return shown === 10 ? "end" : "again";
    },
  );
  await Promise.race([waiting, ended]);
  leave();
  await within(ended, () => "the command has ended");
  assert.equal(shown, 3);
});
