import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { readResources } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import {
  clusters,
  startedSource,
  type TemporaryFolder,
  temporaryFolder,
} from "../../testing/basics/temporary-folder.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import type { FolderSourceOptions } from "./folder-options.js";

const many = Array.from({ length: 2_000 }, (_, index) => `long-${index}`);

/** A folder whose long files are not parsed before `open` is called. */
async function heldUp(t: TestContext, own?: TemporaryFolder, options: Partial<FolderSourceOptions> = {}) {
  const folder = own ?? (await temporaryFolder(t));
  if (own === undefined) for (const name of ["b", "c"]) await folder.write(`${name}.yaml`, clusters([name]));
  const started = await startedSource(t, { directory: folder.path, settleMs: 20, ...options });
  const { file } = ReadingThread.prototype;
  let begun = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  t.mock.method(ReadingThread.prototype, "file", async function (this: ReadingThread, path: string, bytes: Uint8Array) {
    begun += 1;
    await opened;
    return await file.call(this, path, bytes);
  });
  const appliedWith = (name: string) =>
    started.sink.applied
      .map((updates) => updates.flatMap(({ upsert }) => upsert))
      .find((all) => all.some((one) => one.name === name));
  return { ...folder, ...started, begun: () => begun, open, appliedWith };
}

test("a long file, however often it is replaced, does not hold up what changes while it is read", async (t) => {
  const { replace, sink, begun, open } = await heldUp(t);
  await replace("long.yaml", clusters(many));
  await waitFor("the long file to be read", () => begun() === 1);
  for (let count = 2; count < 5; count += 1) {
    await replace("b.yaml", clusters(["b", `b${count}`], count));
    await replace("long.yaml", clusters(many, count));
    await sink.until("b is served", () => sink.resources().includes(`cluster b${count}`));
  }
  assert.equal(begun(), 1);
  assert.ok(!sink.resources().includes("cluster long-0"));
  open();
  const [last] = readResources({ path: "a.yaml", bytes: Buffer.from(clusters(["long-0"], 4)) }).resources;
  await sink.until("its last content is served", () => {
    return sink.resource("cluster long-0")?.version === last?.resource.version;
  });
  assert.deepEqual([sink.resources().length, begun()], [2_003, 2]);
  assert.deepEqual(sink.errors, []);
});

test("what changed with a long file is served with it, also if others changed meanwhile", async (t) => {
  const { replace, remove, write, sink, begun, open, appliedWith } = await heldUp(t);
  await write("old.yaml", clusters(["long-0"]));
  await write("gone.yaml", clusters(["gone"]));
  await sink.until("both are served", () => sink.resources().includes("cluster gone"));
  // A resource moves to the long file.
  await remove("old.yaml");
  await replace("c.yaml", clusters(["c", "c2"]));
  await replace("long.yaml", clusters(many));
  await waitFor("the long file to be read", () => begun() === 1);
  await remove("gone.yaml");
  await replace("b.yaml", clusters(["b", "b2"]));
  await sink.until("b is served", () => sink.resources().includes("cluster b2"));
  assert.deepEqual(sink.resources(), ["cluster b", "cluster b2", "cluster c", "cluster long-0"]);
  open();
  await sink.until("the long file is served", () => sink.resources().includes("cluster long-1"));
  assert.ok(appliedWith("long-1")?.some(({ name }) => name === "c2"));
  assert.equal(sink.resources().length, 2_004);
  assert.deepEqual(sink.errors, []);
  assert.ok(sink.applied.flat().every(({ remove = [] }) => !remove.some(({ name }) => name === "long-0")));
});

test("a long file that is deleted while it is read does not come back", async (t) => {
  const { replace, remove, sink, begun, open } = await heldUp(t);
  await replace("long.yaml", clusters(many));
  await waitFor("the long file to be read", () => begun() === 1);
  await remove("long.yaml");
  await replace("b.yaml", clusters(["b", "b2"]));
  await sink.until("b is served", () => sink.resources().includes("cluster b2"));
  open();
  await replace("b.yaml", clusters(["b", "b3"]));
  await sink.until("b is served again", () => sink.resources().includes("cluster b3"));
  assert.deepEqual(sink.resources(), ["cluster b", "cluster b3", "cluster c"]);
});

test("a long file with an error, and one of another group's folder, hold up nothing while they are read", async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ["a", "b"]) await folder.write(`${name}/${name}.yaml`, clusters([name]));
  const { sink, begun, open } = await heldUp(t, folder, { layers: ["a", "b"] });
  await folder.replace("a/long.yaml", `${clusters(many)}- nothing\n`);
  await waitFor("the long file to be read", () => begun() === 1);
  await folder.replace("b/long.yaml", clusters(many));
  await waitFor("the other long file to be read", () => begun() === 2);
  await folder.replace("b/b.yaml", clusters(["b", "b2"]));
  await sink.until("b is served", () => sink.resources("b").includes("cluster b2"));
  assert.deepEqual(sink.errors, []);
  open();
  await sink.until("the error is reported", () => sink.errors.length === 1);
  await folder.remove("a/long.yaml");
  await sink.until("the other long file is served", () => sink.resources("b").includes("cluster long-0"));
  assert.deepEqual(sink.errors, []);
});

test("what a swapped link leads to is one change, also while a long file of the last one is read", async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ["1", "2"]) {
    await folder.write(`.v${name}/long.yaml`, clusters(many, Number(name)));
    await folder.write(`.v${name}/short.yaml`, clusters([`short${name}`]));
  }
  await folder.folder(".v0");
  await folder.write(".v0/short.yaml", clusters(["short0"]));
  await folder.link(".v0", "now");
  await folder.write("b.yaml", clusters(["b"]));
  const { sink, begun, open, appliedWith } = await heldUp(t, folder);
  await folder.swapLink(".v1", "now");
  await waitFor("the long file to be read", () => begun() === 1);
  await folder.swapLink(".v2", "now");
  await folder.replace("b.yaml", clusters(["b", "b2"]));
  await sink.until("b is served", () => sink.resources().includes("cluster b2"));
  assert.deepEqual(sink.resources(), ["cluster b", "cluster b2", "cluster short0"]);
  open();
  await sink.until("the last state is served", () => sink.resources().includes("cluster short2"));
  const [last] = readResources({ path: "a.yaml", bytes: Buffer.from(clusters(["long-0"], 2)) }).resources;
  assert.equal(sink.resource("cluster long-0")?.version, last?.resource.version);
  assert.ok(appliedWith("short2")?.some(({ name }) => name === "long-0"));
  assert.deepEqual([sink.resources().length, sink.errors], [2_003, []]);
});
