import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { waitFor } from "../../../testing/wait-for.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { batchFiles, type FileRead, FileRoom } from "./file-batch.js";
import { ahead, Batches, readAhead } from "./read-ahead.js";

const maxBytes = 3 << 20;

/** Paths of files of all kinds, each many times, so many batches of them. */
async function manyPaths(t: Parameters<typeof temporaryFolder>[0], batches: number): Promise<readonly string[]> {
  const { at, write, folder } = await temporaryFolder(t);
  const names = Array.from({ length: 50 }, (_, index) => `${index}.json`);
  for (const [index, name] of names.entries())
    await write(name, `{"number": ${index}, "é": "${"x".repeat(index * 100)}"}`);
  await write("empty.json", "");
  await write("large.json", "y".repeat(2 << 20));
  await write("too-large.json", "z".repeat(maxBytes + 1));
  await folder("folder.json");
  const usual = [...names, "empty.json", "folder.json", "none.json"].map(at);
  return Array.from({ length: batches * batchFiles }, (_, index) => {
    if (index % 1_000 === 17) return at("large.json");
    if (index % 1_000 === 18) return at("too-large.json");
    return usual[index % usual.length] as string;
  });
}

/** With bytes of their own, since those are only good until the next file is read. */
function kept(read: FileRead): FileRead {
  return read.kind === "read" ? { ...read, bytes: read.bytes.slice() } : read;
}

function oneByOne(paths: readonly string[]): readonly FileRead[] {
  const room = new FileRoom(maxBytes);
  return paths.map((path) => kept(room.read(path)));
}

/** As if all had been there for long, so that whether they are doubtful does not differ. */
function settled(reads: readonly FileRead[]): readonly FileRead[] {
  return reads.map((read) => (read.kind === "moved" ? read : { ...read, doubtful: false }));
}

test("two threads read what one does, in its order", async (t) => {
  const paths = (await manyPaths(t, 100)).slice(0, -5);
  const reads: FileRead[] = [];
  // A pause now and then, so that the other thread has its part.
  for await (const group of readAhead(paths, maxBytes)) {
    for (const read of group) reads.push(kept(read));
    if (reads.length % 1_000 < batchFiles) await delay(1);
  }
  assert.deepEqual(settled(reads), settled(oneByOne(paths)));
});

test("the other thread reads what is not begun, to a distance", async (t) => {
  const paths = await manyPaths(t, ahead + 60);
  const batches = new Batches(paths, maxBytes);
  try {
    const [first] = await batches.take(0);
    assert.equal(first?.kind, "read");
    // It has begun one more, and waits with it.
    await waitFor("the other thread to be ahead", () => batches.begun >= 1 + ahead);
    await delay(50);
    assert.ok(batches.begun <= 3 + ahead, `${batches.begun} were begun`);
    for (let number = 1; number < batches.count; number += 1)
      assert.ok(Array.from(await batches.take(number)).length > 0);
  } finally {
    await batches.close();
  }
});

for (const [what, program] of [
  ["cannot be started", new URL("./there-is-no-such-module.js", import.meta.url)],
  ["fails at once", "throw new Error('on purpose')"],
  [
    "ends with batches in hand",
    "Atomics.add(new Int32Array(require('worker_threads').workerData.shared), 0, 3); process.exit(3)",
  ],
] as const) {
  test(`a thread that ${what} leaves nothing unread`, async (t) => {
    const paths = await manyPaths(t, 20);
    const batches = new Batches(paths, maxBytes, program);
    try {
      // Some are taken once it has ended, so that what it had in hand comes up.
      const reads = [...(await batches.take(0))].map(kept);
      await batches.ended;
      for (let number = 1; number < batches.count; number += 1)
        reads.push(...[...(await batches.take(number))].map(kept));
      assert.deepEqual(settled(reads), settled(oneByOne(paths)));
    } finally {
      await batches.close();
    }
  });
}

test("who leaves early leaves nothing behind", async (t) => {
  const paths = await manyPaths(t, 50);
  for await (const group of readAhead(paths, maxBytes)) {
    assert.ok(Array.from(group).length > 0);
    break;
  }
  assert.ok(!process.getActiveResourcesInfo().includes("MessagePort"));
});
