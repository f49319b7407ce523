import assert from "node:assert/strict";
import fs from "node:fs";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { effort, times } from "../../testing/basics/effort.js";
import {
  clusters,
  folderSource,
  startedSource,
  type TemporaryFolder,
  temporaryFolder,
} from "../../testing/basics/temporary-folder.js";
import { patienceMs } from "../../testing/basics/wait-for.js";
import type { RecordingSink } from "../../testing/recording-sink.js";

/** Something that happens to one of two releases, or to the link to the one that is served. */
type Operation =
  | { readonly kind: "write" | "replace"; readonly path: string; readonly content: string }
  | { readonly kind: "remove" | "swap"; readonly path: string }
  | { readonly kind: "move" | "link"; readonly path: string; readonly other: string };

const releases = ["1", "2"];
const folders = ["", "p/", "p/q/", "r/"];
const files = ["a.yaml", "b.yaml", ".hidden.yaml", "note.txt"];

const release = fc.constantFrom(...releases);
const file = fc
  .tuple(release, fc.constantFrom(...folders), fc.constantFrom(...files))
  .map(([place, folder, name]) => `${place}/${folder}${name}`);
const folder = fc.tuple(release, fc.constantFrom("p", "p/q", "r")).map(([place, name]) => `${place}/${name}`);
const content = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 3 })) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const text = content.map((some) => (some === undefined ? "]" : clusters([`c${some[0]}`], some[1])));
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("write" as const, "replace" as const), path: file, content: text }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), path: fc.oneof(file, folder) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("move" as const), path: folder, other: folder }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("link" as const), path: fc.oneof(file, folder), other: file }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("swap" as const), path: release }) },
);

/** An impossible operation (a folder moved into itself) is skipped. */
function perform({ at }: TemporaryFolder, what: Operation): void {
  try {
    fs.mkdirSync(dirname(at(what.path)), { recursive: true });
    switch (what.kind) {
      case "write":
        fs.writeFileSync(at(what.path), what.content);
        break;
      case "replace":
        fs.writeFileSync(at("beside"), what.content);
        fs.renameSync(at("beside"), at(what.path));
        break;
      case "remove":
        fs.rmSync(at(what.path), { recursive: true, force: true });
        break;
      case "move":
        fs.renameSync(at(what.path), at(what.other));
        break;
      case "link":
        fs.symlinkSync(at(what.other), at("beside"));
        fs.renameSync(at("beside"), at(what.path));
        break;
      case "swap":
        fs.symlinkSync(what.path, at("beside"));
        fs.renameSync(at("beside"), at("current"));
        break;
    }
  } catch {
    fs.rmSync(at("beside"), { force: true });
  }
}

function stateOf(sink: RecordingSink): unknown {
  const errors = [...sink.errors].sort();
  // With an error, the last good configuration stays, which a new source does not know.
  return {
    errors,
    held: errors.length > 0 ? undefined : sink.resources().map((key) => [key, sink.resource(key)?.version]),
  };
}

/** A source that followed all changes must reach the same state as a new one. */
async function comesTo(
  t: TestContext,
  live: RecordingSink,
  directory: string,
  done: readonly Operation[],
): Promise<void> {
  const { source, sink } = await startedSource(t, { directory, allowEmpty: true, allowPartial: true });
  await source.close();
  const expected = JSON.stringify(stateOf(sink));
  for (const end = Date.now() + patienceMs; Date.now() < end; await delay(5)) {
    if (JSON.stringify(stateOf(live)) === expected) return;
  }
  assert.deepEqual(stateOf(live), stateOf(sink), JSON.stringify(done));
}

test("a source reaches the same state as a new one, whatever happens to its folder", {
  timeout: 300_000 * Math.max(1, effort),
}, async (t) => {
  const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const folder = await temporaryFolder(t);
      for (const place of releases) await folder.write(`${place}/first.yaml`, clusters(["first"]));
      await folder.link("1", "current");
      const directory = folder.at("current");
      const { source, sink } = folderSource(t, { directory, allowEmpty: true, settleMs: 3 });
      await source.start(sink);
      for (const [index, batch] of all.entries()) {
        // Now and then long enough that the last reading is no longer in doubt.
        if (index % 3 === 2) await delay(30);
        for (const each of batch) perform(folder, each);
        await comesTo(t, sink, directory, all.slice(0, index + 1).flat());
      }
      await source.close();
      await folder.remove(".");
    }),
    { numRuns: times(6) },
  );
});
