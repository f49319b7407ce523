import assert from "node:assert/strict";
import { test } from "node:test";
import { describe } from "@xdskit/api";
import { clusters, folderSource, startedSource, temporaryFolder } from "../../../testing/basics/temporary-folder.js";

const layers = ["shared", "edge", "edje"];
const mistyped = [
  { name: "all", layers: ["shared", "edge"] },
  { name: "edge", layers: ["edje"] },
];

test("a start waits while a group has none of its folders, and says which one was meant", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("shared/a.yaml", clusters(["a"]));
  await folder.write("edge/b.yaml", clusters(["b"]));
  const { source, sink, summaries } = folderSource(t, { directory: folder.path, layers, groups: mistyped });
  const start = source.start(sink);
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(
    sink.errors[0] ?? "",
    /edje: group "edge" has none of its folders \(edje\): .*; did you mean "edge"\? \[XDSKIT_GROUP_FOLDERS\]/,
  );
  assert.deepEqual([sink.applied, summaries.at(-1)?.serving], [[], false]);
  await folder.write("edje/c.yaml", clusters(["c"]));
  await start;
  assert.deepEqual([sink.resources("edje"), sink.errors], [["cluster c"], []]);
});

test("a group without its folders is a warning with allowEmpty, and the start fails if there is nothing else to serve", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("shared/a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.path, layers, groups: mistyped, allowEmpty: true });
  assert.deepEqual([sink.resources("shared"), sink.errors], [["cluster a"], []]);
  assert.match((sink.reports.at(-1) ?? []).map(describe).join("\n"), /edje: .*XDSKIT_GROUP_FOLDERS/);
  const groups = [{ name: "edge", layers: ["edje"] }];
  const { source } = folderSource(t, { directory: folder.path, layers: ["edje"], groups });
  await assert.rejects(source.start(sink), /has none of its folders/);
});

test("a missing folder is a warning if its group has another folder, or layers of other sources", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("shared/a.yaml", clusters(["a"]));
  const groups = [
    { name: "edge", layers: ["shared", "edge"] },
    { name: "mixed", layers: ["edge", "from elsewhere"] },
  ];
  const { sink } = await startedSource(t, { directory: folder.path, layers: ["shared", "edge"], groups });
  assert.deepEqual(
    sink.reports.at(-1)?.map(({ code, severity }) => [code, severity]),
    [["XDSKIT_FOLDER_MISSING", "warning"]],
  );
});

test("a group's only folder that disappears leaves the last good configuration", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("shared/a.yaml", clusters(["a"]));
  await folder.write("edje/c.yaml", clusters(["c"]));
  const { sink } = await startedSource(t, { directory: folder.path, layers, groups: mistyped });
  await folder.remove("edje");
  await folder.write("shared/a.yaml", clusters(["a", "b"]));
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /edje: .*the last good configuration stays/);
  assert.deepEqual([sink.resources("edje"), sink.resources("shared")], [["cluster c"], ["cluster a"]]);
});
