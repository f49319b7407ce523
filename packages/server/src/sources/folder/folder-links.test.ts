import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { readResources } from "@xdskit/api";
import {
  clusters,
  folderSource,
  startedSource,
  type TemporaryFolder,
  temporaryFolder,
} from "../../testing/basics/temporary-folder.js";
import type { RecordingSink } from "../../testing/recording-sink.js";

const names = Array.from({ length: 100 }, (_, index) => `c${index}`);

/** A release of a hundred files, all with the same number in them, written one by one while others may read. */
async function release(folder: TemporaryFolder, path: string, seconds: number): Promise<void> {
  await folder.folder(path);
  await Promise.all(
    names.map((name) => fs.promises.writeFile(folder.at(`${path}/${name}.yaml`), clusters([name], seconds))),
  );
}

test("a swap of the directory's link is one change", async (t) => {
  const folder = await temporaryFolder(t);
  await release(folder, "one", 1);
  await release(folder, "two", 2);
  await folder.link("one", "current");
  const { sink, summaries } = await startedSource(t, { directory: folder.at("current") });
  await folder.swapLink("two", "current");
  await sink.untilApplied(2);
  assert.equal(sink.applied[1]?.[0]?.upsert.length, names.length);
  // The old release may go now, and the source watches the new one.
  await folder.remove("one");
  await folder.write("two/c0.yaml", clusters(["c0"], 9));
  await sink.untilApplied(3);
  assert.equal(sink.applied[2]?.[0]?.upsert.length, 1);
  assert.equal(summaries.length, 3);
  assert.deepEqual(sink.reports, [[], [], []]);
});

test("a release that differs in one file is read whole and parsed in part", async (t) => {
  const folder = await temporaryFolder(t);
  await release(folder, "one", 1);
  await release(folder, "two", 1);
  await folder.write("two/c7.yaml", clusters(["c7"], 2));
  await folder.link("one", "current");
  const { sink, summaries } = await startedSource(t, { directory: folder.at("current") });
  await folder.swapLink("two", "current");
  await sink.untilApplied(2);
  assert.deepEqual([summaries[1]?.read, summaries[1]?.parsed, summaries[1]?.upserted], [100, 1, 1]);
});

test("a link further up on the way to the directory is followed too", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("v1/config/a.yaml", clusters(["a"]));
  await folder.write("v2/config/b.yaml", clusters(["b"]));
  await folder.link("v1", "current");
  const { sink } = await startedSource(t, { directory: folder.at("current/config") });
  await folder.swapLink("v2", "current");
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster b"]);
});

test("a Kubernetes ConfigMap, files that are links into ..data, changes at once", async (t) => {
  const folder = await temporaryFolder(t);
  await release(folder, "map/..2026_1", 1);
  await release(folder, "map/..2026_2", 2);
  await folder.link("..2026_1", "map/..data");
  for (const name of names) await folder.link(`..data/${name}.yaml`, `map/${name}.yaml`);
  const { sink } = await startedSource(t, { directory: folder.at("map"), settleMs: 400 });
  assert.equal(sink.resources().length, names.length);
  await folder.swapLink("..2026_2", "map/..data");
  await folder.remove("map/..2026_1");
  await sink.untilApplied(2);
  assert.equal(sink.applied[1]?.[0]?.upsert.length, names.length);
  // As the kubelet does it for a key that is gone and one that is new.
  await release(folder, "map/..2026_3", 2);
  await folder.remove("map/..2026_3/c0.yaml");
  await folder.write("map/..2026_3/new.yaml", clusters(["new"]));
  await folder.swapLink("..2026_3", "map/..data");
  await folder.link("..data/new.yaml", "map/new.yaml");
  await folder.remove("map/c0.yaml");
  await folder.remove("map/..2026_2");
  await sink.untilApplied(3);
  assert.deepEqual(
    sink.applied[2]?.[0]?.upsert.map(({ name }) => name),
    ["new"],
  );
  assert.deepEqual(
    sink.applied[2]?.[0]?.remove?.map(({ name }) => name),
    ["c0"],
  );
  assert.equal(sink.applied.length, 3);
  assert.deepEqual(sink.errors, []);
});

/** Records every change after which clusters of two releases exist together; the versions show the release. */
function watchForMixtures(sink: RecordingSink, releases: number) {
  const numbers = new Map<string, number>();
  for (let number = 1; number <= releases; number += 1) {
    const bytes = new TextEncoder().encode(clusters(names, number));
    for (const { resource } of readResources({ path: "all.yaml", bytes }).resources)
      numbers.set(resource.version, number);
  }
  const numberOf = (name: string) => numbers.get(sink.resource(`cluster ${name}`)?.version ?? "");
  const mixtures: string[] = [];
  sink.onApply = () => {
    const held = new Set(names.map(numberOf));
    if (held.size !== 1) mixtures.push([...held].join(" and "));
  };
  return { mixtures, served: () => numberOf("c0") };
}

for (const { what, directory, link, prepare } of [
  { what: "the directory", directory: "current", link: "current", prepare: async () => {} },
  {
    what: "..data",
    directory: "map",
    link: "map/..data",
    prepare: async (folder: TemporaryFolder) => {
      await folder.folder("map");
      for (const name of names) await folder.link(`..data/${name}.yaml`, `map/${name}.yaml`);
    },
  },
]) {
  test(`however often ${what} is swapped, two releases are never mixed`, async (t) => {
    const folder = await temporaryFolder(t);
    // Two folders in turn, so that the old release is overwritten, file by file, while it may still be read. Each
    // reading is applied at once, even if more changes come: only the link says which files belong together.
    const options = { directory: folder.at(directory), settleMs: 2, maxSettleMs: 2, pollMs: 30 };
    const { source, sink } = folderSource(t, options);
    const { mixtures, served } = watchForMixtures(sink, 20);
    await release(folder, "1", 1);
    await prepare(folder);
    await folder.link(folder.at("1"), link);
    await source.start(sink);
    for (let number = 2; number <= 20; number += 1) {
      const place = number % 2 === 0 ? "2" : "1";
      await release(folder, place, number);
      await folder.swapLink(folder.at(place), link);
      // Different steps, so that the next release falls everywhere into the reading; now and then it may come to its
      // end.
      if (number % 4 === 0) await sink.until(`release ${number} is served`, () => served() === number);
      else await delay((number * 17) % 61);
    }
    assert.deepEqual(mixtures, []);
  });
}

for (const { what, places } of [
  { what: "replaced and overwritten", places: ["2"] },
  { what: "replaced, overwritten and put back", places: ["2", "1"] },
]) {
  test(`a release that is ${what} while it is read is read again`, async (t) => {
    const folder = await temporaryFolder(t);
    for (const number of [1, 2]) await release(folder, `${number}`, number);
    await folder.link("1", "current");
    // Only the link says which files belong together: each reading is applied at once, even if more changes come.
    const { source, sink } = folderSource(t, { directory: folder.at("current"), settleMs: 0, maxSettleMs: 0 });
    const { mixtures, served } = watchForMixtures(sink, 3);
    const { open } = fs;
    let opened = 0;
    t.mock.method(fs, "open", (...all: Parameters<typeof open>) => {
      opened += 1;
      if (opened === names.length / 2) {
        for (const place of places) {
          fs.symlinkSync(place, folder.at("swap"));
          fs.renameSync(folder.at("swap"), folder.at("current"));
          for (const name of names) fs.writeFileSync(folder.at(`1/${name}.yaml`), clusters([name], 3));
        }
      }
      open(...all);
    });
    syncBuiltinESMExports();
    try {
      await source.start(sink);
      const last = places.at(-1) === "1" ? 3 : 2;
      await sink.until("the new release is served", () => served() === last);
      assert.deepEqual(mixtures, []);
      assert.ok(opened > names.length);
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
  });
}

test("a file that changes while a folder behind a link is read must be quiet before both are applied", async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ["a", "b"]) await folder.write(`1/${name}.yaml`, clusters([name]));
  await folder.link("1", "current");
  const options = { directory: folder.at("current"), settleMs: 400, maxSettleMs: 5_000 };
  const { sink } = await startedSource(t, options);
  const { open } = fs;
  let changedAt: number | undefined;
  t.mock.method(fs, "open", (...all: Parameters<typeof open>) => {
    if (changedAt === undefined) {
      changedAt = performance.now();
      fs.writeFileSync(folder.at("1/b.yaml"), clusters(["b"], 2));
    }
    open(...all);
  });
  syncBuiltinESMExports();
  try {
    await folder.replace("1/a.yaml", clusters(["a"], 2));
    await sink.untilApplied(2);
    assert.ok(changedAt !== undefined && performance.now() - changedAt > 390, "it was not quiet for 400 ms");
    // In the order in which the system told of them.
    const names = sink.applied[1]?.[0]?.upsert.map(({ name }) => name);
    assert.deepEqual(names?.toSorted(), ["a", "b"]);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("files that were overwritten while the link led elsewhere are read, even if the watcher has not reported all of them", async (t) => {
  const folder = await temporaryFolder(t);
  for (const number of [1, 2]) await release(folder, `${number}`, number);
  await folder.link("1", "current");
  const options = { directory: folder.at("current"), settleMs: 0, maxSettleMs: 0 };
  const { sink } = await startedSource(t, options);
  const { mixtures, served } = watchForMixtures(sink, 3);
  const { lstat } = fs.promises;
  let swapped = false;
  t.mock.method(fs.promises, "lstat", (...all: Parameters<typeof lstat>) => {
    // The scan has begun, and reaches the link now: the release that the link led to at first has changed.
    if (!swapped && all[0] === folder.at("current")) {
      swapped = true;
      for (const name of names) fs.writeFileSync(folder.at(`1/${name}.yaml`), clusters([name], 3));
      fs.symlinkSync("1", folder.at("swap"));
      fs.renameSync(folder.at("swap"), folder.at("current"));
    }
    return lstat(...all);
  });
  syncBuiltinESMExports();
  try {
    await folder.swapLink("2", "current");
    await folder.write("1/c0.yaml", clusters(["c0"], 3));
    await sink.until("the newest release is served", () => served() === 3);
    assert.ok(swapped);
    assert.deepEqual(mixtures, []);
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test("links that lead in a circle are errors, and nothing hangs", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("config/a.yaml", clusters(["a"]));
  const { sink } = await startedSource(t, { directory: folder.at("config") });
  await folder.link("..", "config/up");
  await folder.link("self.yaml", "config/self.yaml");
  await folder.link("two", "config/one");
  await folder.link("one", "config/two");
  await sink.until("four errors", () => sink.errors.length === 4);
  for (const error of sink.errors) assert.match(error, /leads in a circle.*XDSKIT_FILE_UNREADABLE/);
  assert.equal(sink.applied.length, 1);
  for (const name of ["up", "self.yaml", "one", "two"]) await folder.remove(`config/${name}`);
  await sink.until("fixed", () => sink.errors.length === 0);
  assert.equal(sink.applied.length, 1);
});

test("a link that leads nowhere is an error until it leads somewhere", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("config/a.yaml", clusters(["a"]));
  await folder.link("../shared/b.yaml", "config/b.yaml");
  await folder.folder("shared");
  const { sink } = await startedSource(t, { directory: folder.at("config"), allowPartial: true });
  assert.match(sink.errors[0] ?? "", /b\.yaml: cannot be read: the symbolic link .*shared\/b\.yaml: it does not exist/);
  assert.deepEqual(sink.resources(), ["cluster a"]);
  await folder.write("shared/b.yaml", clusters(["b"]));
  await sink.untilApplied(2);
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
});

test("files and folders behind links are watched where they are", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("config/a.yaml", clusters(["a"]));
  await folder.write("away/b.yaml", clusters(["b"]));
  await folder.write("far/sub/c.yaml", clusters(["c"]));
  await folder.link("../away/b.yaml", "config/b.yaml");
  await folder.link(folder.at("far"), "config/far");
  const { sink } = await startedSource(t, { directory: folder.at("config") });
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b", "cluster c"]);
  await folder.write("away/b.yaml", clusters(["b"], 2));
  await sink.untilApplied(2);
  await folder.replace("far/sub/c.yaml", clusters(["c"], 2));
  await sink.untilApplied(3);
  assert.deepEqual(sink.errors, []);
});

test("a link's file is gone when a folder on the way to it is moved", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("config/a.yaml", clusters(["a"]));
  await folder.write("far/one/two/b.yaml", clusters(["b"]));
  await folder.link("../far/one/two/b.yaml", "config/b.yaml");
  const { sink } = await startedSource(t, { directory: folder.at("config") });
  assert.deepEqual(sink.resources(), ["cluster a", "cluster b"]);
  fs.renameSync(folder.at("far/one"), folder.at("far/other"));
  await sink.until("an error", () => sink.errors.length === 1);
  await folder.write("far/one/two/b.yaml", clusters(["b"], 2));
  await sink.untilApplied(2);
  assert.deepEqual(sink.errors, []);
});

test("a file that is only read through a link is watched whatever it is called, in a folder that is read too", async (t) => {
  const folder = await temporaryFolder(t);
  await folder.write("config/first.yaml", clusters(["first"]));
  await folder.write("config/.kept.yaml", clusters(["a"]));
  await folder.write("config/text", clusters(["b"]));
  await folder.link(".kept.yaml", "config/a.yaml");
  await folder.link("text", "config/b.yaml");
  await folder.link(".to-come.yaml", "config/c.yaml");
  const { sink } = await startedSource(t, { directory: folder.at("config"), allowPartial: true });
  assert.equal(sink.errors.length, 1);
  await folder.write("config/.to-come.yaml", clusters(["c"]));
  await sink.until("fixed", () => sink.errors.length === 0 && sink.resources().length === 4);
  for (const [name, file] of [
    ["a", ".kept.yaml"],
    ["b", "text"],
  ] as const) {
    const before = sink.resource(`cluster ${name}`);
    await folder.write(`config/${file}`, clusters([name], 2));
    await sink.until(`${name} changed`, () => sink.resource(`cluster ${name}`)?.version !== before?.version);
  }
});
