import assert from "node:assert/strict";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { cluster, configSource } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { startWatch, type WatchedEvent } from "./harness/xdskit/watched.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** A file of clusters. */
const file = (version: string, ...names: readonly string[]): string =>
  [
    `version_info: "${version}"`,
    "resources:",
    ...names.map((name) => `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: ${name}`),
    "",
  ].join("\n");
const upsert = (name: string) => (one: WatchedEvent) => one.event === "upsert" && one.name === name;
const remove = (name: string) => (one: WatchedEvent) => one.event === "delete" && one.name === name;

test("xdskit watch follows a file", { timeout: 120_000 }, async (t) => {
  const scene = await createScene(t);
  const path = join(scene.directory, "cds.yaml");
  const move = async (text: string) => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  const watch = startWatch(scene, "--path", path, "--type", "cluster");

  await scene.step("a folder comes after the start, and is replaced by a move", async () => {
    await watch.next(
      "that it is not there",
      ({ event, code }) => event === "error" && code === "XDSKIT_FILE_UNREADABLE",
    );
    await move(file("1", "a", "b"));
    assert.equal((await watch.next("a", upsert("a"))).version, "1");
    await watch.next("b", upsert("b"));
    await move(file("2", "a", "c"));
    await watch.next("c", (one) => upsert("c")(one) || remove("b")(one));
    await watch.next("b", (one) => upsert("c")(one) || remove("b")(one));
    assert.equal(watch.events().filter(upsert("a")).length, 1);
  });

  await scene.step("a bad file changes nothing and its error says where; a good file after it is applied", async () => {
    await move(`${file("3", "a", "c")}  conect_timeout: 1s\n`);
    const { message, code } = await watch.next(
      "the rejection",
      ({ event, nack }) => event === "error" && nack === true,
    );
    assert.match(message ?? "", /cds\.yaml:7:\d+: .*conect_timeout/);
    assert.equal(code, "XDSKIT_FIELD_UNKNOWN");
    await move(file("4", "a", "c", "d"));
    await watch.next("d", upsert("d"));
    assert.equal(watch.events().filter(({ event }) => event === "delete").length, 1);
  });

  await scene.step("a deleted file leaves its resources", async () => {
    await rm(path);
    await watch.next("that it is gone", ({ event, code }) => event === "error" && code === "XDSKIT_FILE_UNREADABLE");
    await move(file("5", "d"));
    await watch.next("a", remove("a"));
    assert.deepEqual(await watch.process.stop(), { code: 0, signal: null });
  });
});

test("xdskit watch follows a volume of Kubernetes", { timeout: 120_000 }, async (t) => {
  const scene = await createScene(t);
  const volume = join(scene.directory, "volume");
  await mkdir(volume);
  const publish = async (time: string, text: string) => {
    await mkdir(join(volume, `..${time}`));
    await writeFile(join(volume, `..${time}`, "cds.yaml"), text);
    await symlink(`..${time}`, join(volume, "..data_tmp"));
    await rename(join(volume, "..data_tmp"), join(volume, "..data"));
  };
  await publish("1", file("1", "a"));
  await symlink("..data/cds.yaml", join(volume, "cds.yaml"));
  const watch = startWatch(scene, "--path", join(volume, "cds.yaml"), "--watched-directory", volume, "--type", "cds");
  await watch.next("a", upsert("a"));
  await publish("2", file("2", "b"));
  await rm(join(volume, "..1"), { recursive: true });
  await watch.next("the swap", upsert("b"));
  assert.ok(watch.events().some(remove("a")));
  assert.deepEqual(
    watch.events().filter(({ event }) => event === "error"),
    [],
  );
});

test("xdskit watch follows the files that xdskit serve writes", { timeout: 120_000 }, async (t) => {
  const scene = await createScene(t);
  const source = configSource("ads-delta");
  const folder = await createConfigFolder(scene.directory, { "a.yaml": [cluster({ name: "a", source })] });
  const out = join(scene.directory, "out");
  await serve(scene, folder.path, { args: ["--to-files", out] });
  const watch = startWatch(scene, "--path", join(out, "cluster.json"), "--type", "cluster");
  await watch.next("a", upsert("a"));
  for (const name of ["b", "c", "d"]) {
    await folder.put({ "a.yaml": [cluster({ name, source })] });
    await watch.next(name, upsert(name));
  }
  await watch.next("that c is gone", remove("c"));
  assert.deepEqual(
    watch.events().filter(({ event }) => event === "error"),
    [],
  );
});
