import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { type TestContext, test } from "node:test";
import { clusters, startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";

/** Counts the system calls on files by kind. */
function countCalls(t: TestContext) {
  const counts = { open: 0, stat: 0, lstat: 0, readdir: 0, readlink: 0 };
  const { open } = fs;
  t.mock.method(fs, "open", (...all: Parameters<typeof open>) => {
    counts.open += 1;
    Reflect.apply(open, fs, all);
  });
  for (const name of ["stat", "lstat", "readdir", "readlink"] as const) {
    const original = fs.promises[name];
    t.mock.method(fs.promises, name, (...all: unknown[]) => {
      counts[name] += 1;
      return Reflect.apply(original, fs.promises, all);
    });
  }
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return counts;
}

for (const { what, write } of [
  { what: "written in place", write: "write" },
  { what: "replaced", write: "replace" },
] as const) {
  test(`only the file that is ${what} is read, however many there are`, async (t) => {
    const found: ReturnType<typeof countCalls>[] = [];
    for (const total of [100, 1_000]) {
      const folder = await temporaryFolder(t);
      for (let index = 0; index < total; index += 1) {
        fs.mkdirSync(folder.at(`part-${index % 10}`), { recursive: true });
        fs.writeFileSync(folder.at(`part-${index % 10}/${index}.yaml`), clusters([`c${index}`]));
        // The files seem old: a file that was just written may be read twice.
        fs.utimesSync(folder.at(`part-${index % 10}/${index}.yaml`), 1, 1);
      }
      const { source, sink, summaries } = await startedSource(t, { directory: folder.path });
      const counts = countCalls(t);
      await folder[write]("part-3/3.yaml", clusters(["c3"], 2));
      await sink.untilApplied(2);
      assert.deepEqual(
        sink.applied[1]?.[0]?.upsert.map(({ name }) => name),
        ["c3"],
      );
      assert.deepEqual(summaries.at(-1)?.changedFiles, ["part-3/3.yaml"]);
      await source.close();
      t.mock.restoreAll();
      syncBuiltinESMExports();
      found.push(counts);
    }
    assert.deepEqual(found[0], found[1]);
    // The scan reads the metadata of the 10 folders, their parent and the one file.
    assert.deepEqual({ ...found[0], stat: 0, lstat: 0 }, { open: 1, stat: 0, lstat: 0, readdir: 0, readlink: 0 });
  });
}
