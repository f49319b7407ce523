import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { type TestContext, test } from "node:test";
import { describe } from "@xdskit/api";
import type { SourceUnderTest, TemporaryFolder } from "../../testing/basics/temporary-folder.js";
import { clusters, folderSource, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";
import { createFolderSource } from "./folder-source.js";

const broken = (name: string) => clusters([name], -1);

async function skipping(t: TestContext, folder: TemporaryFolder, allowEmpty = false): Promise<SourceUnderTest> {
  return startedSource(t, { directory: folder.path, onInvalid: "skip", allowEmpty });
}

/** The findings of the last reading. They are no errors of the sink, because the change was applied. */
function errors({ sink, summaries }: SourceUnderTest): readonly string[] {
  assert.deepEqual(sink.errors, []);
  return (summaries.at(-1)?.findings ?? []).filter(({ severity }) => severity === "error").map(describe);
}

function skipped({ summaries }: SourceUnderTest) {
  return summaries.at(-1)?.skipped;
}

test("a resource with an error is skipped at the start, and the rest is served", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]) + broken("b") + clusters(["c"]));
  await folder.write("text.yaml", "name: [");
  const source = await skipping(t, folder);
  const { sink, summaries } = source;
  assert.deepEqual(sink.resources(), ["cluster a", "cluster c"]);
  assert.match(errors(source)[0] ?? "", /a\.yaml:6:\d+: cluster "b", connect_timeout: .*; skipped: it is not served/);
  assert.match(errors(source)[1] ?? "", /text\.yaml:1.*; skipped: it is not served/);
  assert.deepEqual([summaries.at(-1)?.applied, skipped(source)], [true, { lastGood: 0, absent: 2 }]);
});

test("a resource that was good keeps its last good content while it is named; other edits are applied", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a", "b", "c"]));
  const source = await skipping(t, folder);
  const { sink } = source;
  const before = sink.resource("cluster b")?.version;
  await folder.replace("a.yaml", clusters(["a"], 2) + broken("b"));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  assert.deepEqual(
    sink.applied[1]?.[0]?.upsert.map(({ name }) => name),
    ["a"],
  );
  assert.equal(sink.resource("cluster b")?.version, before);
  assert.match(errors(source).join("\n"), /cluster "b".*; skipped: the last good content stays/);
  assert.deepEqual(skipped(source), { lastGood: 1, absent: 0 });
  // Another reading of the same file, with another resource in it.
  await folder.replace("a.yaml", broken("b") + clusters(["d"]));
  await sink.untilApplied(3);
  assert.deepEqual(sink.resources(), ["cluster b", "cluster d"]);
  await folder.replace("a.yaml", clusters(["d"]));
  await sink.untilApplied(4);
  assert.deepEqual(
    [sink.resources(), errors(source), skipped(source)],
    [["cluster d"], [], { lastGood: 0, absent: 0 }],
  );
});

test("a broken resource that moves to another file keeps its content, and goes with that file", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yaml", clusters(["b"]));
  const source = await skipping(t, folder);
  const { sink } = source;
  await folder.remove("b.yaml");
  await folder.write("c.yaml", broken("b"));
  await sink.until("reported", () => errors(source).length === 1);
  assert.deepEqual([sink.resources(), skipped(source)], [["cluster a", "cluster b"], { lastGood: 1, absent: 0 }]);
  await folder.remove("c.yaml");
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a"]);
});

test("all resources of an unreadable file stay, until another file defines them", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a", "b"]));
  await folder.write("z.yaml", clusters(["z"]));
  const source = await skipping(t, folder);
  const { sink } = source;
  await folder.replace("a.yaml", `${clusters(["a"])}- name: [`);
  await folder.replace("z.yaml", clusters(["z"], 2));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster z"]);
  assert.deepEqual(skipped(source), { lastGood: 2, absent: 0 });
  const before = sink.resource("cluster b")?.version;
  await folder.replace("z.yaml", clusters(["z", "b"], 2));
  await sink.untilApplied(3);
  assert.notEqual(sink.resource("cluster b")?.version, before);
  assert.deepEqual(skipped(source), { lastGood: 1, absent: 0 });
  await folder.write("a.yaml", "");
  await sink.until("emptied", () => /XDSKIT_FILE_EMPTIED/.test(errors(source).join()));
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster z"]);
  await folder.write("a.yaml", "[]");
  await sink.untilApplied(4);
  assert.deepEqual([sink.resources(), errors(source)], [["cluster b", "cluster z"], []]);
});

test("the last good content of a file with an error stays while its folder is gone for a while", async (t) => {
  for (const moving of ["config/edge", "far"]) {
    const folder = await temporaryFolder(t);
    await folder.write("config/more/b.yaml", clusters(["b"]));
    await folder.folder("config/edge");
    await folder.write("far/a.yaml", clusters(["a"]));
    await folder.link("../../far", "config/edge/link");
    const directory = folder.at("config");
    const source = await startedSource(t, { directory, layers: ["edge", "more"], onInvalid: "skip" });
    const { sink, summaries } = source;
    await folder.replace("far/a.yaml", "name: [");
    await sink.until("reported", () => errors(source).length === 1);
    fs.renameSync(folder.at(moving), folder.at("aside"));
    await sink.until(`${moving} is gone`, () => sink.errors.length === 1);
    assert.equal(summaries.at(-1)?.applied, false);
    fs.renameSync(folder.at("aside"), folder.at(moving));
    await sink.until(`${moving} is back`, () => summaries.at(-1)?.applied === true);
    assert.deepEqual([sink.resources("edge"), skipped(source)], [["cluster a"], { lastGood: 1, absent: 0 }], moving);
    assert.match(errors(source).join(), /a\.yaml.*; skipped: the last good content stays/);
    await folder.replace("far/a.yaml", "[]");
    await sink.until(`${moving} holds nothing`, () => sink.resources("edge").length === 0);
  }
});

test("the last good content of a file with an error stays if a scan finds the file gone for a moment", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const source = await skipping(t, folder);
  const { sink } = source;
  await folder.replace("a.yaml", "name: [");
  await sink.until("reported", () => errors(source).length === 1);
  const { lstat } = fs.promises;
  let missed = false;
  t.mock.method(fs.promises, "lstat", async (...all: Parameters<typeof lstat>) => {
    if (missed || all[0] !== folder.at("a.yaml")) return lstat(...all);
    missed = true;
    throw Object.assign(new Error("gone"), { code: "ENOENT" });
  });
  syncBuiltinESMExports();
  try {
    // A new file makes the scan list the folder.
    await folder.replace("b.yaml", clusters(["b"]));
    await folder.replace("a.yaml", "name: [ ");
    await sink.untilApplied(2);
    assert.ok(missed);
    assert.deepEqual([sink.resources(), skipped(source)], [["cluster a", "cluster b"], { lastGood: 1, absent: 0 }]);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("an error without a resource removes nothing", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a", "b"]));
  const source = await skipping(t, folder);
  const { sink } = source;
  await folder.replace(
    "a.yaml",
    clusters(["a", "b"]).replace("- name: b", "- nam: b").replace("  name: b", "  nam: b"),
  );
  await sink.until("reported", () => errors(source).length > 0);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  await folder.replace("a.yaml", clusters(["a", "b"], 2).replaceAll("v3.Cluster\n  name: b", "v3.Kluster\n  name: b"));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  assert.match(errors(source).join(), /Kluster.*skipped: the last good content stays/);
});

test("the last good content of a name that appears twice stays, and one that never was good is not served", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const source = await skipping(t, folder);
  const { sink } = source;
  await folder.write("b.yaml", clusters(["b", "a", "c"], 2));
  await folder.write("c.yaml", clusters(["c"]));
  await sink.untilApplied(2);
  assert.deepEqual(
    sink.applied[1]?.[0]?.upsert.map(({ name }) => name),
    ["b"],
  );
  assert.match(errors(source).join("\n"), /"a": .*XDSKIT_DUPLICATE[\s\S]*"c": .*XDSKIT_DUPLICATE/);
  assert.deepEqual(skipped(source), { lastGood: 1, absent: 1 });
  await folder.remove("c.yaml");
  await folder.remove("a.yaml");
  await sink.untilApplied(3);
  assert.deepEqual([sink.resources(), errors(source)], [["cluster a", "cluster b", "cluster c"], []]);
  assert.deepEqual(sink.applied[2]?.[0]?.upsert.map(({ name }) => name).sort(), ["a", "c"]);
});

test("a start without anything good fails as before, and errors of folders refuse the whole change", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", broken("a"));
  await folder.write("twice1.yaml", clusters(["x"]));
  await folder.write("twice2.yaml", clusters(["x"]));
  const nothing = folderSource(t, { directory: folder.path, onInvalid: "skip" });
  await assert.rejects(nothing.source.start(nothing.sink), /no file is valid/);
  await folder.remove("twice2.yaml");
  const { sink } = await skipping(t, folder);
  assert.deepEqual(sink.resources(), ["cluster x"]);
  await folder.link("nowhere", "link.yaml");
  await folder.write("more.yaml", clusters(["more"]));
  await sink.until("reported", () => /link\.yaml/.test(sink.errors.join()));
  assert.deepEqual(sink.resources(), ["cluster x"]);
  await folder.remove("link.yaml");
  await sink.until("applied", () => sink.resources().includes("cluster more"));
});

test("onInvalid takes two words", () => {
  const wrong = { directory: ".", onInvalid: "ignore" as "skip" };
  assert.throws(() => createFolderSource(wrong), /onInvalid must be "refuse" or "skip", not "ignore"/);
});

test("nothing reports skipped resources if errors are not skipped", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const source = await startedSource(t, { directory: folder.path });
  await folder.write("b.yaml", broken("b"));
  await source.sink.until("reported", () => source.sink.errors.length === 1);
  assert.equal(skipped(source), undefined);
  assert.doesNotMatch((source.sink.reports.at(-1) ?? []).map(describe).join(), /skipped/);
});
