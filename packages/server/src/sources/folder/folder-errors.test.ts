import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import fs, { truncateSync } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { describe, XdskitError } from "@xdskit/api";
import { clusters, folderSource, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";

const nobody = 65534;

test("nothing is applied while a file has an error, and everything at once when it is fixed", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yaml", clusters(["b"]));
  const { sink, summaries } = await startedSource(t, { directory: folder.path });
  const whole = clusters(["b", "b2"], 2);
  await folder.write("b.yaml", whole.slice(0, whole.lastIndexOf("_timeout")));
  await folder.replace("a.yaml", clusters(["a"], 2));
  await folder.write("c.json", `{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "na`);
  await sink.until("reported", () => sink.errors.length > 1);
  await delay(300);
  assert.equal(sink.applied.length, 1);
  assert.equal(summaries.at(-1)?.applied, false);
  assert.match(sink.errors.join("\n"), /b\.yaml:\d+.*\n.*c\.json:1/);
  await folder.write("b.yaml", whole);
  await folder.remove("c.json");
  await sink.untilApplied(2);
  assert.deepEqual(sink.applied[1]?.[0]?.upsert.map(({ name }) => name).sort(), ["a", "b", "b2"]);
  assert.deepEqual(sink.reports.at(-1), []);
});

test("a name twice for one type names both files and lines", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["x", "a"]));
  await folder.write("b.yaml", clusters(["b"]));
  const { sink } = await startedSource(t, { directory: folder.path });
  await folder.write("b.yaml", clusters(["b", "a"]));
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /a\.yaml:4(:\d+)?: cluster "a": .*b\.yaml:4 .*\[XDSKIT_DUPLICATE_RESOURCE\]/);
  await folder.write("b.yaml", clusters(["b", "c"]));
  await sink.untilApplied(2);
  await folder.write("c.yaml", clusters(["y", "y"]));
  await sink.until("reported within one file", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /"y"/);
  await folder.remove("c.yaml");
  await sink.until("fixed", () => sink.errors.length === 0);
  assert.equal(sink.applied.length, 2);
});

test("a resource may move from one file to another", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yaml", clusters(["b"]));
  const { sink } = await startedSource(t, { directory: folder.path, settleMs: 400 });
  await folder.write("b.yaml", clusters(["b", "a"]));
  await folder.remove("a.yaml");
  await sink.until("read", () => sink.reports.length === 2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  assert.deepEqual([sink.applied.length, sink.errors], [1, []]);
});

test("the same name in two layers is no error", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("one/a.yaml", clusters(["a"]));
  await folder.write("two/a.yaml", clusters(["a"], 2));
  const { sink } = await startedSource(t, { directory: folder.path, layers: ["one", "two"] });
  assert.deepEqual(sink.errors, []);
});

test("a start waits until no file has an error, even if all get one meanwhile or the folder goes away", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("good.yaml", clusters(["good"]));
  await folder.write("bad.yaml", "]");
  const { source, sink, summaries } = folderSource(t, { directory: folder.path, allowEmpty: true });
  let started = false;
  const start = source.start(sink).then(() => {
    started = true;
  });
  await sink.until("reported", () => sink.errors.length === 1);
  assert.deepEqual([summaries.at(-1)?.applied, summaries.at(-1)?.serving], [false, false]);
  await folder.write("good.yaml", "]");
  await sink.until("two errors", () => sink.errors.length === 2);
  await folder.remove("good.yaml");
  await folder.remove("bad.yaml");
  await folder.write("other.yaml", "]");
  await sink.until("another error", () => /other\.yaml/.test(sink.errors.join()));
  assert.deepEqual([sink.applied, started], [[], false]);
  await folder.write("other.yaml", clusters(["other"]));
  await start;
  assert.deepEqual([sink.resources(), sink.errors], [["cluster other"], []]);
  assert.equal(summaries.at(-1)?.serving, true);
});

test("a change that the sink refuses while a start waits is an error like others", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("good.yaml", clusters(["good"]));
  await folder.write("bad.yaml", "]");
  const { source, sink } = folderSource(t, { directory: folder.path });
  const start = source.start(sink);
  await sink.until("reported", () => sink.errors.length === 1);
  const { apply } = sink;
  sink.apply = () => {
    throw XdskitError.of("XDSKIT_CHANGE_REFUSED", "not now");
  };
  await folder.remove("bad.yaml");
  await sink.until("refused", () => /not now/.test(sink.errors.join()));
  sink.apply = apply;
  await folder.write("more.yaml", clusters(["more"]));
  await start;
  assert.deepEqual([sink.resources(), sink.errors], [["cluster good", "cluster more"], []]);
});

test("a source that waits for errors to be fixed can be closed", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("good.yaml", clusters(["good"]));
  await folder.write("bad.yaml", "]");
  const { source, sink } = folderSource(t, { directory: folder.path });
  const start = assert.rejects(source.start(sink), /closed while it started/);
  await sink.until("reported", () => sink.errors.length === 1);
  await source.close();
  await start;
  assert.deepEqual(sink.applied, []);
});

test("files are not served in part after an empty start either", async (t) => {
  const folder = await temporaryFolder(t);
  const { sink } = await startedSource(t, { directory: folder.path, allowEmpty: true });
  await folder.write("good.yaml", clusters(["good"]));
  await folder.write("bad.yaml", "]");
  await sink.until("reported", () => sink.errors.length === 1);
  assert.deepEqual(sink.resources(), []);
  await folder.remove("bad.yaml");
  await sink.until("applied", () => sink.resources().length === 1);
});

test("files without errors are served at the start without the others if allowPartial is set, until all are valid", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("good.yaml", clusters(["good"]));
  await folder.write("bad.yaml", "]");
  await folder.write("twice1.yaml", clusters(["twice", "other"]));
  await folder.write("twice2.yaml", clusters(["twice"]));
  const { sink } = await startedSource(t, { directory: folder.path, allowPartial: true });
  assert.deepEqual(sink.resources(), ["cluster good"]);
  assert.equal(sink.errors.length, 2);
  await folder.write("good.yaml", clusters(["good"], 2));
  await folder.remove("twice2.yaml");
  await sink.until("one error left", () => sink.errors.length === 1);
  assert.equal(sink.applied.length, 1);
  await folder.write("bad.yaml", clusters(["fixed"]));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster fixed", "cluster good", "cluster other", "cluster twice"]);
});

test("pipes, sockets and folders that are named like files are errors, and nothing blocks", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  execFileSync("mkfifo", [folder.at("pipe.yaml")]);
  await folder.folder("folder.yaml");
  const server = createServer().listen(folder.at("socket.json"));
  t.after(() => server.close());
  await new Promise((listening) => server.once("listening", listening));
  const { sink } = await startedSource(t, { directory: folder.path, allowPartial: true });
  assert.equal(sink.errors.length, 3);
  assert.match(
    sink.errors.join("\n"),
    /folder\.yaml: .*a folder.*\n.*pipe\.yaml: .*a pipe.*\n.*socket\.json: .*a socket/,
  );
  assert.deepEqual(sink.resources(), ["cluster a"]);
});

test("a file of 100 MB is refused without being read; the last good configuration stays", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path });
  await folder.write("large.yaml", "");
  truncateSync(folder.at("large.yaml"), 100_000_000);
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(
    sink.errors[0] ?? "",
    /large\.yaml: .*larger than the limit: 95\.4 MiB of at most 64\.0 MiB.*XDSKIT_FILE_UNREADABLE/,
  );
  assert.deepEqual(sink.resources(), ["cluster a"]);
  await folder.remove("large.yaml");
  await sink.until("fixed", () => sink.errors.length === 0);
});

test("an emptied file keeps its resources, and a new empty file has none", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yaml", clusters(["b"]));
  const { sink } = await startedSource(t, { directory: folder.path });
  await folder.write("new.yaml", "");
  await sink.until("read", () => sink.reports.length === 2);
  assert.deepEqual(sink.errors, []);
  await folder.write("a.yaml", "");
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /a\.yaml: .*XDSKIT_FILE_EMPTIED/);
  await folder.write("a.yaml", "[]");
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster b"]);
});

test("a file without permission is an error", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("b.yaml", clusters(["b"]));
  if (process.getuid?.() === 0) {
    // Root may read everything, so this test runs as another user.
    await chown(folder.path, nobody, nobody);
    for (const name of ["a.yaml", "b.yaml"]) await chown(folder.at(name), nobody, nobody);
    process.seteuid?.(nobody);
    t.after(() => process.seteuid?.(0));
  }
  const { source, sink } = await startedSource(t, { directory: folder.path });
  await chmod(folder.at("b.yaml"), 0);
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /b\.yaml: .*permission denied/);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  await chmod(folder.at("b.yaml"), 0o600);
  await sink.until("fixed", () => sink.errors.length === 0);
  await source.close();
});

test("a file that is written to all the time is an error of that file alone", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  await folder.write("busy.yaml", clusters(["busy"]));
  let busy = true;
  // The first reading is synchronous, later ones are not.
  for (const name of ["read", "readSync"] as const) {
    const original = fs[name];
    t.mock.method(fs, name, (file: number, ...all: never[]) => {
      const { ino } = fs.fstatSync(file);
      if (busy && ino === fs.statSync(folder.at("busy.yaml")).ino) fs.appendFileSync(folder.at("busy.yaml"), "#\n");
      return Reflect.apply(original, fs, [file, ...all]);
    });
  }
  syncBuiltinESMExports();
  try {
    const { sink } = await startedSource(t, {
      directory: folder.path,
      settleMs: 10,
      maxSettleMs: 50,
      pollMs: 50,
      allowPartial: true,
    });
    assert.match(sink.errors.join(), /busy\.yaml: cannot be read: it is written to all the time/);
    assert.deepEqual(sink.resources(), ["cluster a"]);
    busy = false;
    await sink.untilApplied(2);
    assert.deepEqual([sink.resources(), sink.errors], [["cluster a", "cluster busy"], []]);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("a file whose name is not UTF-8 is an error", { skip: process.platform !== "linux" }, async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  fs.writeFileSync(Buffer.concat([Buffer.from(folder.at("b")), Buffer.from([0xff]), Buffer.from(".yaml")]), "[]");
  const { sink } = await startedSource(t, { directory: folder.path, allowPartial: true });
  assert.match(sink.errors.join(), /cannot be read: its name is not UTF-8/);
  assert.deepEqual(sink.resources(), ["cluster a"]);
});

test("too many files, and folders too deep, are errors", async (t) => {
  const folder = await temporaryFolder(t);
  for (let index = 0; index < 5; index += 1) await folder.write(`${index}.yaml`, clusters([`c${index}`]));
  await folder.write("a/b/c/d.yaml", clusters(["d"]));
  const many = await startedSource(t, { directory: folder.path, limits: { files: 3 }, allowPartial: true });
  assert.match(many.sink.errors.join(), /more than 3 files.*XDSKIT_FOLDER_LIMIT/);
  const deep = await startedSource(t, { directory: folder.path, limits: { depth: 2 }, allowPartial: true });
  assert.match(deep.sink.errors.join(), /a\/b\/c: more than 2 folders deep.*XDSKIT_FOLDER_LIMIT/);
});

test("a report is bounded", async (t) => {
  const folder = await temporaryFolder(t);
  for (let index = 0; index < 30; index += 1) await folder.write(`${index}.yaml`, "]");
  await folder.write("good.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, limits: { findings: 10 }, allowPartial: true });
  assert.equal(sink.errors.length, 10);
  assert.match(sink.errors[9] ?? "", /and \d+ more/);
});

test("a change that the sink refuses is reported, and tried again with the next one", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path });
  const { apply } = sink;
  sink.apply = () => {
    throw XdskitError.of("XDSKIT_CHANGE_REFUSED", "not now");
  };
  await folder.write("b.yaml", clusters(["b"]));
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /not now/);
  sink.apply = apply;
  await folder.write("c.yaml", clusters(["c"]));
  await sink.untilApplied(2);
  assert.deepEqual([sink.resources(), sink.errors], [["cluster a", "cluster b", "cluster c"], []]);
});

test("a layer's folder that does not exist yet is a warning, and one that vanished is an error", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("shared/a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, layers: ["shared", "edge"] });
  assert.match(
    (sink.reports.at(-1) ?? []).map(describe).join(),
    /edge: cannot read the folder of a layer.*XDSKIT_FOLDER_MISSING/,
  );
  assert.deepEqual(sink.errors, []);
  await folder.write("edge/b.yaml", clusters(["b"]));
  await sink.untilApplied(2);
  assert.deepEqual([sink.resources("edge"), sink.reports.at(-1)], [["cluster b"], []]);
  await folder.remove("edge");
  await sink.until("reported", () => sink.errors.length === 1);
  assert.deepEqual(sink.resources("edge"), ["cluster b"]);
  await folder.folder("edge");
  await sink.untilApplied(3);
  assert.deepEqual([sink.resources("edge"), sink.errors], [[], []]);
});

test("a failed watch is a warning, and the safety poll finds changes", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  t.mock.method(fs, "watch", () => {
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  });
  syncBuiltinESMExports();
  try {
    const { sink } = await startedSource(t, { directory: folder.path, pollMs: 30 });
    const warnings = sink.reports.at(-1) ?? [];
    assert.match(warnings.map(describe).join(), /cannot be watched .*ENOSPC.*XDSKIT_WATCH_UNAVAILABLE/);
    assert.deepEqual(sink.errors, []);
    await folder.write("a.yaml", clusters(["a"], 2));
    await sink.untilApplied(2);
    await folder.write("sub/b.yaml", clusters(["b"]));
    await sink.untilApplied(3);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("a source that is closed while it starts does not start", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { source, sink } = folderSource(t, { directory: folder.path });
  const start = assert.rejects(source.start(sink), /closed while it started/);
  await source.close();
  await start;
  assert.deepEqual(sink.applied, []);
});

test("a fault in the listener of the folder's errors does not end the watching", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, pollMs: 0 });
  const warned = once(process, "warning");
  const { report } = sink;
  sink.report = () => {
    sink.report = report;
    throw new Error("no room");
  };
  await folder.write("b.yaml", clusters(["b"]));
  const [warning] = await warned;
  assert.match(String(warning), /no room/);
  await folder.write("c.yaml", clusters(["c"]));
  await sink.until("what came after the fault", () => sink.resources().includes("cluster c"));
});
