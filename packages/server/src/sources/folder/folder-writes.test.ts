import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { clusters, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";

/** The number of resources shows how much of the file was read. */
const numbers = (sizes: readonly (readonly unknown[])[]) => sizes.map(({ length }) => length);

test("a file that is written in place with pauses is read once it is whole, though each part of it is valid", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a", "b", "c"]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 20, writeSettleMs: 1_000 });
  fs.writeFileSync(folder.at("a.yaml"), clusters(["a"], 2));
  for (const name of ["b", "c"]) {
    await delay(150);
    fs.appendFileSync(folder.at("a.yaml"), clusters([name], 2));
  }
  await sink.untilApplied(2);
  assert.deepEqual(numbers(sink.applied.map(([update]) => update?.upsert ?? [])), [3, 3]);
});

test("a new file that is written in place with pauses is read once it is whole", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 20, writeSettleMs: 1_000 });
  fs.writeFileSync(folder.at("b.yaml"), clusters(["b"]));
  await delay(150);
  fs.appendFileSync(folder.at("b.yaml"), clusters(["c"]));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster c"]);
});

test("a file that is renamed into place is read without that wait", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 20, writeSettleMs: 3_600_000 });
  await folder.replace("a.yaml", clusters(["a", "b"]));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  // Its earlier name does not matter.
  await folder.write("beside.yaml", clusters(["a"], 2));
  fs.renameSync(folder.at("beside.yaml"), folder.at("a.yaml"));
  await sink.untilApplied(3);
  assert.deepEqual(sink.resources(), ["cluster a"]);
});

test("a file that is never still holds up others for a bounded time", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("busy.yaml", clusters(["busy"]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 5, writeSettleMs: 50 });
  // The writer must end before the hooks of the test do: the first of them removes the folder.
  const timer = setInterval(() => fs.appendFileSync(folder.at("busy.yaml"), "#\n"), 10);
  try {
    await delay(30);
    await folder.replace("a.yaml", clusters(["a", "b"]));
    await sink.untilApplied(2);
  } finally {
    clearInterval(timer);
  }
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster busy"]);
});

test("a source that waits for a file to be still can be closed", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { source, sink } = await startedSource(t, { directory: folder.path, settleMs: 5, writeSettleMs: 3_600_000 });
  await folder.write("a.yaml", clusters(["b"]));
  await delay(50);
  await source.close();
  assert.equal(sink.applied.length, 1);
});
