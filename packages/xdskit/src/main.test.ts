import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { main } from "./main.js";
import { xdskitEnds } from "./testing/command.js";
import { clusterYaml, testFolder } from "./testing/folder.js";

/** Runs a command whose reader reads nothing before `read`. */
function withSlowReader(args: readonly string[]) {
  let read: () => void = () => {};
  let asked: () => void = () => {};
  const written = new Promise<void>((resolve) => {
    read = resolve;
  });
  const waits = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const flushed = () => {
    asked();
    return written;
  };
  let hasEnded = false;
  const status = main(args, { out() {}, err() {}, flushed }).finally(() => {
    hasEnded = true;
  });
  return { status, waits, read, hasEnded: () => hasEnded };
}

test("a command whose reader is slow ends once its output is written", async () => {
  await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
  for (const args of [["validate", folder.path], ["--help"], ["--version"]]) {
    const running = withSlowReader(args);
    await Promise.race([running.waits, running.status]);
    await turn();
    assert.equal(running.hasEnded(), false, args[0]);
    running.read();
    assert.equal(await running.status, 0, args[0]);
  }
});

test("a command that a signal ends does not wait for its reader", async () => {
  const top = withSlowReader(["top", "--server", "http://127.0.0.1:1"]);
  while (process.listenerCount("SIGTERM") === 0) await turn();
  process.kill(process.pid, "SIGTERM");
  assert.equal(await top.status, 0);
});

test("help is no failure, of all commands or of one, and an unknown command is wrong usage", async () => {
  // As a program of its own: until a command ends, its exit status says that it did not.
  const [all, again, one, ofActions, unknown] = await Promise.all(
    [["help"], ["help", "help"], ["help", "serve"], ["rollout", "help"], ["help", "srve"]].map((args) =>
      xdskitEnds(...args),
    ),
  );
  assert.deepEqual(again, all);
  assert.equal(ofActions?.status, 0, ofActions?.err);
  assert.match(ofActions?.out ?? "", /^Usage: xdskit rollout /);
  assert.equal(all?.status, 0, all?.err);
  assert.match(all?.out ?? "", /^Usage: xdskit \[options\] \[command\]/);
  assert.equal(one?.status, 0, one?.err);
  assert.match(one?.out ?? "", /^Usage: xdskit serve /);
  assert.equal(unknown?.status, 2);
  assert.match(unknown?.err ?? "", /unknown command 'srve'\n\(Did you mean serve\?\)/);
});
