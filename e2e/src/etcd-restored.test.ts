import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it, type TestContext, test } from "node:test";
import type { Store } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const info = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 } as const;
const withinMs = 30_000;

async function opened(t: TestContext, endpoints: readonly string[]): Promise<Store> {
  const store = await openEtcdStore({ endpoints, prefix: "/restored", timeoutMs: 1_000 });
  t.after(() => store.close());
  return store;
}

async function commit(store: Store, version: string): Promise<void> {
  const parent = (await store.head("a"))?.id;
  const upsert = [{ type, key: "one", version, bytes: Buffer.from(version) }];
  assert.equal((await store.commit([{ layer: "a", parent, kind: "patch", upsert }], info)).kind, "committed");
}

describe("a watch of a store in etcd that is restored from a backup", () => {
  for (const size of [1, 3])
    it(`hears what a cluster of ${size} has, and all that is written after`, { timeout: 120_000 }, async (t) => {
      const [program, control] = [peer("etcd", t), peer("etcdctl", t)];
      if (program === undefined || control === undefined) return;
      const etcd = await EtcdCluster.start(program, { size });
      t.after(() => etcd.stop());
      const [writer, reader] = [await opened(t, etcd.endpoints), await opened(t, etcd.endpoints)];
      const heads: number[] = [];
      const values: string[] = [];
      const watches = [
        reader.watch({ moved: ([head]) => void heads.push(head?.number ?? 0), away: () => {} }),
        reader.shared.watch("x", { entriesChanged: ([entry]) => void values.push(entry?.value ?? ""), away: () => {} }),
      ];
      t.after(() => watches.map((watch) => watch.close()));
      const hears = (number: number, value: string) =>
        eventually(
          `revision ${number} and ${value} are heard`,
          () => heads.at(-1) === number && values.at(-1) === value,
          { withinMs },
        );
      await commit(writer, "1");
      await writer.shared.put({ key: "x", value: "kept", expected: "any" });
      await hears(1, "kept");
      const file = join(etcd.directory, "backup");
      etcd.backUp(control, file);
      for (const version of ["2", "3", "4", "5"]) await commit(writer, version);
      await writer.shared.put({ key: "x", value: "lost", expected: "any" });
      await hears(5, "lost");
      await etcd.restore(control, file);
      await hears(1, "kept");
      await commit(writer, "other 2");
      await writer.shared.put({ key: "x", value: "new", expected: "any" });
      await hears(2, "new");
      const [head] = await reader.heads();
      const [one] = await reader.read(head?.id ?? "");
      assert.equal(one?.version, "other 2");
    });
});

const named = (name: string) => cluster({ name, source: configSource("ads-delta"), serviceName: name });

async function names(server: XdskitServer, layer: string): Promise<string> {
  const answer = await fetch(`http://${server.admin}/api/v1/layers/${layer}/resources`);
  const { resources } = (await answer.json()) as { readonly resources: readonly { readonly name: string }[] };
  return resources.map(({ name }) => name).join();
}

async function write(server: XdskitServer, name: string): Promise<void> {
  const body = { upsert: [{ "@type": type, name }] };
  const isTaken = async () => (await changeByApi(server, body)).status === 200;
  await eventually(`${name} is written`, isTaken, { withinMs });
}

test("Servers whose etcd is restored from a backup", { timeout: 120_000 }, async (t) => {
  const [program, control] = [peer("etcd", t), peer("etcdctl", t)];
  if (program === undefined || control === undefined) return;
  const etcd = await EtcdCluster.start(program, { size: 1 });
  t.after(() => etcd.stop());
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, { "a.yaml": [named("a")] });
  const args = ["--store", `etcd://${etcd.endpoints.join(",")}/restored`, "--replica", "127.0.0.1:0"];
  const [one, two] = [await serve(scene, folder.path, { args }), await serve(scene, folder.path, { args })];
  const all = (layer: string, expected: string) =>
    eventually(
      `${layer} has ${expected} at both`,
      async () => (await names(one, layer)) === expected && (await names(two, layer)) === expected,
      { withinMs },
    );

  await scene.step("serve what the backup has", async () => {
    await write(one, "kept");
    await all("api", "kept");
    etcd.backUp(control, join(etcd.directory, "backup"));
    await write(one, "lost");
    await write(two, "gone");
    await folder.put({ "a.yaml": [named("a"), named("b")] });
    await all("api", "gone,kept,lost");
    await all("folder", "a,b");
    await etcd.restore(control, join(etcd.directory, "backup"));
    await all("api", "kept");
    assert.match(one.process.stderr.join("\n"), /layer api was at revision 3, .* 1: was it restored from a backup\?/);
  });

  await scene.step("follow what is written after it", async () => {
    await write(two, "later");
    await all("api", "kept,later");
    await write(one, "more");
    await all("api", "kept,later,more");
  });

  await scene.step("give it what the folder has", async () => {
    const store = await opened(t, etcd.endpoints);
    await eventually(
      "the folder's newest content is in the store",
      async () => {
        const found = await Promise.all((await store.heads()).map(({ id }) => store.read(id)));
        return found.some((resources) => resources.map(({ key }) => key).join() === "a,b");
      },
      { withinMs },
    );
  });
});
