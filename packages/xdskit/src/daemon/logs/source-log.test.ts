import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, type Log, type LogEvent } from "@xdskit/admin/log";
import type { Finding } from "@xdskit/api";
import type { FolderSummary } from "@xdskit/server";
import { createSourceLog } from "./source-log.js";

const applied: FolderSummary = {
  directory: "config",
  files: 1,
  read: 1,
  parsed: 1,
  applied: true,
  serving: true,
  upserted: 1,
  removed: 0,
  changed: { upserted: ["cluster web"], removed: [] },
  changedFiles: ["a.yaml"],
  changedLayers: ["."],
  resources: new Map(),
  whereIs: () => undefined,
  findings: [],
  skipped: undefined,
  adopted: [],
  durationMs: 1,
};
const error: Finding = { code: "XDSKIT_SYNTAX", severity: "error", message: "no", file: "a.yaml", line: 2 };
const refused: FolderSummary = { ...applied, applied: false, upserted: 0, findings: [error] };

function logged(...summaries: readonly FolderSummary[]): string[] {
  const lines: string[] = [];
  const at = (level: string) => (_: LogEvent, __: object, message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const tell = createSourceLog(log);
  for (const summary of summaries) tell(summary);
  return lines;
}

test("a change is one line with its first resources, their files and other fields", () => {
  const lines: string[] = [];
  const log = createLog({ err: (text) => lines.push(text) }, { level: "info", format: "pretty" });
  const tell = createSourceLog(log, ({ changedLayers }) => ({ revision: 7, groups: changedLayers }));
  tell({ ...applied, removed: 1, changed: { upserted: ["cluster web"], removed: ["listener old"] } });
  const [line, ...more] = lines;
  assert.match(
    line ?? "",
    /configuration applied: 1 resource added or changed, 1 removed {2}revision=7 groups=\["\."\]/,
  );
  assert.match(line ?? "", / changed=\["cluster web"\] gone=\["listener old"\] from=\["a.yaml"\] /);
  assert.deepEqual(more, []);
});

test("a refused change is logged once, until it is fixed or has other errors", () => {
  const other: Finding = { ...error, line: 3 };
  assert.deepEqual(
    logged(applied, refused, { ...refused, parsed: 0 }, { ...refused, findings: [other] }, applied, refused),
    [
      "info configuration applied: 1 resource added or changed, 0 removed",
      "error a.yaml:2: no [XDSKIT_SYNTAX]",
      "error change refused: the last good configuration stays",
      "debug change refused: the last good configuration stays",
      "error a.yaml:3: no [XDSKIT_SYNTAX]",
      "error change refused: the last good configuration stays",
      "info configuration applied: 1 resource added or changed, 0 removed",
      "error a.yaml:2: no [XDSKIT_SYNTAX]",
      "error change refused: the last good configuration stays",
    ],
  );
});

test("another edit that the same errors hold back is logged with the first of them", () => {
  const lines: string[] = [];
  const log = createLog({ err: (text) => lines.push(text) }, { level: "info", format: "pretty" });
  const tell = createSourceLog(log);
  tell(refused);
  lines.length = 0;
  tell({ ...refused, read: 1 });
  assert.match(lines.join(""), /change refused: the last good configuration stays {2}errors=1 first="a.yaml:2: no /);
});

test("a partly served folder is logged at the start", () => {
  assert.deepEqual(logged({ ...applied, findings: [error] }), [
    "error a.yaml:2: no [XDSKIT_SYNTAX]",
    "info configuration applied: 1 resource added or changed, 0 removed",
    "warn files with errors are left out, and no change is applied until these errors are fixed",
  ]);
});

test("errors at the start, before anything is served, say what to do", () => {
  assert.deepEqual(logged({ ...refused, serving: false }), [
    "error a.yaml:2: no [XDSKIT_SYNTAX]",
    "error nothing is served until these errors are fixed: the ports for clients stay closed (--allow-partial serves the files without errors)",
  ]);
});

test("a warning does not stop a change, and a reading without changes is not logged", () => {
  const warning: Finding = { ...error, severity: "warning" };
  assert.deepEqual(logged({ ...applied, findings: [warning] }, { ...applied, findings: [warning], upserted: 0 }), [
    "warn a.yaml:2: no [XDSKIT_SYNTAX]",
    "info configuration applied: 1 resource added or changed, 0 removed",
    "debug nothing changed",
  ]);
});

test("an error that is fixed by a return to the served content is logged", () => {
  const back: FolderSummary = { ...applied, upserted: 0 };
  assert.deepEqual(logged(applied, refused, back, back).slice(1), [
    "error a.yaml:2: no [XDSKIT_SYNTAX]",
    "error change refused: the last good configuration stays",
    "info all files are valid again",
    "debug nothing changed",
  ]);
});

test("the result of a file of another form is logged once, until it changes", () => {
  const file = { file: "config/envoy.yaml", form: "an Envoy bootstrap", leftOut: ["admin"], serverClusters: [] };
  const one: FolderSummary = { ...applied, adopted: [{ ...file, taken: { cluster: 1 } }] };
  const two: FolderSummary = {
    ...applied,
    adopted: [{ ...file, taken: { cluster: 2, listener: 1 }, serverClusters: ["sds"] }],
  };
  const lines = logged(one, one, { ...refused, adopted: two.adopted }, two).filter((line) =>
    line.includes("bootstrap"),
  );
  assert.deepEqual(lines, [
    "info config/envoy.yaml: an Envoy bootstrap: 1 cluster; left out: admin",
    "info config/envoy.yaml: an Envoy bootstrap: 2 clusters, 1 listener; left out: admin; clusters that clients must have in their bootstrap: sds",
  ]);
});
