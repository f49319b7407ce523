import assert from "node:assert/strict";
import fs from "node:fs";
import { rename } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import { clusters, folderSource, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";

test("every resource file below the folder is read, dot files and the settings are not", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yml", clusters(["b"]));
  await folder.write("sub/deep/c.json", `{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"c"}`);
  await folder.write("d.pb_text", ``);
  await folder.write("xdskit.yaml", "groups: nonsense");
  await folder.write(".hidden.yaml", "]");
  await folder.write(".git/x.yaml", "]");
  await folder.write("README.md", "]");
  const { sink, summaries } = await startedSource(t, { directory: folder.path, ignore: ["xdskit.yaml"] });
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster c"]);
  assert.deepEqual(sink.reports, [[]]);
  assert.equal(summaries.length, 1);
  const [summary] = summaries;
  assert.equal(summary?.files, 4);
  assert.equal(summary?.applied, true);
  assert.deepEqual(summary?.resources, new Map([[".", new Map([["cluster", 3]])]]));
});

test("a file is changed, renamed over, added and deleted", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yaml", clusters(["b"]));
  const { sink } = await startedSource(t, { directory: folder.path });
  const first = sink.resource("cluster a");

  await folder.write("a.yaml", clusters(["a"], 2));
  await sink.untilApplied(2);
  assert.notEqual(sink.resource("cluster a")?.version, first?.version);
  assert.deepEqual(
    sink.applied[1]?.map(({ kind, upsert }) => [kind, upsert.map(({ name }) => name)]),
    [["patch", ["a"]]],
  );

  await folder.replace("a.yaml", clusters(["a", "c"], 3));
  await sink.untilApplied(3);
  await folder.write("new/folder/d.yaml", clusters(["d"]));
  await sink.untilApplied(4);
  await folder.write("new/folder/e.yaml", clusters(["e"]));
  await sink.untilApplied(5);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster c", "cluster d", "cluster e"]);
  await folder.remove("b.yaml");
  await sink.untilApplied(6);
  await folder.remove("new");
  await sink.untilApplied(7);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster c"]);
  assert.deepEqual(sink.errors, []);
});

test("several files within the settling time are one change", async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ["a", "b", "c"]) await folder.write(`${name}.yaml`, clusters([name]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 1_500 });
  for (const name of ["a", "b", "c"]) {
    await folder.replace(`${name}.yaml`, clusters([name], 2));
    await delay(60);
  }
  await sink.untilApplied(2);
  assert.deepEqual(sink.applied[1]?.[0]?.upsert.map(({ name }) => name).sort(), ["a", "b", "c"]);
  await delay(2_000);
  assert.equal(sink.applied.length, 2);
});

test("one constantly written file does not keep others from being served", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 100, maxSettleMs: 400 });
  let writing = true;
  const writer = (async () => {
    for (let count = 2; writing; count += 1) {
      await folder.replace("a.yaml", clusters(["a"], count));
      await delay(20);
    }
  })();
  await folder.write("b.yaml", clusters(["b"]));
  await sink.until("b is served", () => sink.resources().includes("cluster b"));
  writing = false;
  await writer;
});

test("a write to another kind of file changes nothing and does not delay settling", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("server.log", "line\n");
  const { sink, summaries } = await startedSource(t, { directory: folder.path, settleMs: 200, maxSettleMs: 60_000 });
  let writing = true;
  const writer = (async () => {
    while (writing) {
      await folder.write("server.log", "line\n");
      await delay(20);
    }
  })();
  await delay(300);
  assert.equal(summaries.length, 1);
  await folder.replace("a.yaml", clusters(["a", "b"]));
  await sink.untilApplied(2);
  writing = false;
  await writer;
});

test("a refused change that is tried again while files change waits for them, and comes with them", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { source, sink } = await startedSource(t, { directory: folder.path, settleMs: 500, maxSettleMs: 5_000 });
  sink.onApply = () => {
    throw XdskitError.of("XDSKIT_CHANGE_REFUSED", "not now");
  };
  await folder.replace("a.yaml", clusters(["a", "b"]));
  await sink.until("refused", () => sink.errors.length === 1);
  sink.onApply = () => {};
  const watcher = fs.watch(folder.path);
  t.after(() => watcher.close());
  const heard = new Promise((resolve) => {
    watcher.on("change", (_, name) => name === "a.yaml" && setImmediate(resolve));
  });
  const changedAt = performance.now();
  await folder.replace("a.yaml", clusters(["a", "b", "c"]));
  await heard;
  source.retry?.();
  await sink.untilApplied(3);
  assert.ok(performance.now() - changedAt > 490, "a file counts when it was quiet for half a second");
});

test("the same content is neither parsed nor applied when it is written again", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink, summaries } = await startedSource(t, { directory: folder.path });
  await folder.replace("a.yaml", clusters(["a"]));
  await sink.until("it is read again", () => summaries.length === 2);
  assert.deepEqual([summaries[1]?.read, summaries[1]?.parsed], [1, 0]);
  assert.equal(sink.applied.length, 1);
  assert.equal(sink.reports.length, 1);
});

test("only the changed one of 10,000 files is read", async (t) => {
  const folder = await temporaryFolder(t);
  for (let group = 0; group < 100; group += 1) {
    await folder.folder(`${group}`);
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        folder.write(`${group}/${index}.yaml`, clusters([`c-${group}-${index}`])),
      ),
    );
  }
  await delay(50);
  const { sink, summaries } = await startedSource(t, { directory: folder.path });
  assert.deepEqual([summaries[0]?.files, summaries[0]?.read], [10_000, 10_000]);
  await folder.replace("37/42.yaml", clusters(["c-37-42"], 2));
  await sink.untilApplied(2);
  assert.deepEqual([summaries[1]?.files, summaries[1]?.read, summaries[1]?.changedFiles], [10_000, 1, ["37/42.yaml"]]);
  assert.deepEqual(
    sink.applied[1]?.[0]?.upsert.map(({ name }) => name),
    ["c-37-42"],
  );
  assert.deepEqual([summaries[1]?.upserted, summaries[1]?.removed], [1, 0]);
});

test("folders are layers, and a change in several of them is one change", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("shared/a.yaml", clusters(["a"]));
  await folder.write("edge/a.yaml", clusters(["a"], 2));
  await folder.write("edge/eu/b.yaml", clusters(["b"]));
  await folder.write("other/broken.yaml", "]");
  const { sink } = await startedSource(t, {
    directory: folder.path,
    layers: ["shared", "edge", "edge/eu"],
    settleMs: 400,
  });
  assert.deepEqual(
    sink.applied[0]?.map(({ layer, kind }) => [layer, kind]),
    [
      ["shared", "replace"],
      ["edge", "replace"],
      ["edge/eu", "replace"],
    ],
  );
  assert.deepEqual(sink.resources("shared"), ["cluster a"]);
  assert.deepEqual(sink.resources("edge"), ["cluster a", "cluster b"]);
  assert.deepEqual(sink.resources("edge/eu"), ["cluster b"]);
  await folder.replace("shared/a.yaml", clusters(["a", "s"]));
  await folder.replace("edge/eu/b.yaml", clusters(["b", "e"]));
  await sink.untilApplied(2);
  assert.deepEqual(
    sink.applied[1]?.map(({ layer, kind }) => [layer, kind]),
    [
      ["shared", "patch"],
      ["edge", "patch"],
      ["edge/eu", "patch"],
    ],
  );
});

test("a layer's folder must be below the directory", () => {
  for (const layer of ["", "/etc", "..", "a/../..", ".git", "a/.b"]) {
    assert.throws(
      () => folderSource({ after: () => {} } as never, { directory: "x", layers: [layer] }),
      (error) => error instanceof XdskitError && error.code === "XDSKIT_FOLDER_OPTION",
      layer,
    );
  }
});

test("a folder that vanishes leaves the last good configuration, and is picked up when it is back", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("config/sub/a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.at("config") });
  await folder.remove("config");
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /config: .*does not exist.*last good.*XDSKIT_FOLDER_MISSING/);
  assert.equal(sink.applied.length, 1);
  await folder.write("config/sub/a.yaml", clusters(["a", "b"]));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  await sink.until("fixed", () => sink.errors.length === 0);
  await rename(folder.at("config"), folder.at("elsewhere"));
  await sink.until("reported again", () => sink.errors.length === 1);
  await rename(folder.at("elsewhere"), folder.at("config"));
  await sink.until("fixed again", () => sink.errors.length === 0);
  await folder.replace("config/sub/a.yaml", clusters(["c"]));
  await sink.untilApplied(3);
  assert.deepEqual(sink.resources(), ["cluster c"]);
});

test("a missing or empty folder is an error at the start if allowEmpty is not set", async (t) => {
  const folder = await temporaryFolder(t);
  const code = (expected: string) => (error: unknown) => error instanceof XdskitError && error.code === expected;
  const { source, sink } = folderSource(t, { directory: folder.at("nowhere") });
  await assert.rejects(source.start(sink), code("XDSKIT_FOLDER_MISSING"));
  await folder.folder("empty");
  await assert.rejects(
    folderSource(t, { directory: folder.at("empty") }).source.start(sink),
    code("XDSKIT_NO_VALID_FILE"),
  );
  await folder.write("broken/a.yaml", "]");
  await assert.rejects(
    folderSource(t, { directory: folder.at("broken") }).source.start(sink),
    code("XDSKIT_NO_VALID_FILE"),
  );
  assert.deepEqual(sink.applied, []);
});

test("a missing folder is served once it exists if allowEmpty is set", async (t) => {
  const folder = await temporaryFolder(t);
  const { sink } = await startedSource(t, { directory: folder.at("later/config"), allowEmpty: true });
  assert.deepEqual(sink.applied, [[{ layer: ".", kind: "replace", upsert: [] }]]);
  assert.deepEqual(
    sink.reports.at(-1)?.map(({ code, severity }) => [code, severity]),
    [["XDSKIT_FOLDER_MISSING", "warning"]],
  );
  await folder.write("later/config/a.yaml", clusters(["a"]));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a"]);
  await folder.remove("later/config/a.yaml");
  await sink.untilApplied(3);
  assert.deepEqual(sink.resources(), []);
});

test("a folder that loses its last file keeps the last good configuration", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path });
  await folder.remove("a.yaml");
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /XDSKIT_NO_VALID_FILE/);
  assert.deepEqual(sink.resources(), ["cluster a"]);
});

test("a closed source keeps no process from ending", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("sub/a.yaml", clusters(["a"]));
  const watching = () => process.getActiveResourcesInfo().filter((kind) => kind === "FSEventWrap").length;
  const before = watching();
  const { source } = await startedSource(t, { directory: folder.path, pollMs: 20 });
  assert.ok(watching() > before);
  await folder.write("sub/b.yaml", clusters(["b"]));
  await source.close();
  await delay(0);
  assert.equal(watching(), before);
  const rejected = folderSource(t, { directory: folder.at("nowhere") });
  await assert.rejects(rejected.source.start(rejected.sink));
  await delay(0);
  assert.equal(watching(), before);
});

test("a poll time beyond the limit of Node's timers does not end at once", async (t) => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => warnings.push(name);
  process.on("warning", note);
  t.after(() => process.off("warning", note));
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await startedSource(t, { directory: folder.path, settleMs: 2 ** 32, pollMs: 2 ** 32 });
  await delay(0);
  assert.deepEqual(warnings, []);
});

test("a closed source applies and reports nothing", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { source, sink } = await startedSource(t, { directory: folder.path, settleMs: 10, pollMs: 20 });
  await folder.write("a.yaml", clusters(["b"]));
  await source.close();
  const { length } = sink.applied;
  await folder.write("a.yaml", clusters(["c"]));
  await delay(200);
  assert.equal(sink.applied.length, length);
});
