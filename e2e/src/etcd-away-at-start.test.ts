import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { StoreCopy } from "@xdskit/server";
import { openSqliteStore } from "@xdskit/store-sqlite";
import { copyFolder } from "../../packages/xdskit/src/daemon/revisions/etcd-state.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { clusterType, request } from "./harness/basics/wire.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { cds, createRawClient, observe } from "./harness/peers/raw-client.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve, startServe, type XdskitServer } from "./harness/xdskit/xdskit.js";

const named = (name: string) => cluster({ name, source: configSource("ads-delta"), serviceName: name });

async function get(server: XdskitServer, path: string): Promise<string> {
  return await (await fetch(`http://${server.admin}${path}`)).text();
}

async function write(server: XdskitServer, name: string): Promise<number> {
  const upsert = [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name }];
  return (await changeByApi(server, { upsert })).status;
}

test("A server that starts while etcd is away", { timeout: 120_000 }, async (t) => {
  const program = peer("etcd", t);
  if (program === undefined) return;
  const etcd = await EtcdCluster.start(program, { size: 1 });
  t.after(() => etcd.stop());
  const [member] = etcd.members;
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, { "a.yaml": [named("a")] });
  const args = ["--store", `etcd://${etcd.endpoints.join(",")}/away`, "--replica", "127.0.0.1:0"];
  const start = () => serve(scene, folder.path, { args });

  await scene.step("serves what its machine has of it, and says how old that is", async () => {
    const before = await start();
    assert.equal(await write(before, "written"), 200);
    const { store } = await openSqliteStore(copyFolder({ endpoints: etcd.endpoints, prefix: "/away" }));
    const copy = new StoreCopy(store);
    await eventually("it is copied", async () => (await copy.heads()).some(({ layer }) => layer === "api"));
    await copy.close();
    await before.process.stop();
    await member?.kill();
  });

  const server = await start();
  await scene.step("which the log and /readyz tell, and writers hear", async () => {
    assert.match(await get(server, "/api/v1/layers/api/resources"), /"written"/);
    await eventually("it is away", async () => /^ready\nstore away since 20/.test(await get(server, "/readyz")));
    assert.match(await get(server, "/readyz"), /served is a copy from 20\d\d-/);
    assert.match(server.process.stderr.join("\n"), /served is a copy from 20\d\d-/);
    assert.equal(await write(server, "lost"), 503);
    await folder.put({ "a.yaml": [named("a"), named("b")] });
    await eventually("the folder is followed", async () => /"cluster": 2/.test(await get(server, "/api/v1/sources")));
  });

  await scene.step("joins the others once etcd is back", async () => {
    await member?.start();
    await eventually("it is back", async () => (await get(server, "/readyz")) === "ready\n");
    assert.equal(await write(server, "later"), 200);
    const other = await start();
    const resources = await get(other, "/api/v1/layers/api/resources");
    assert.match(resources, /"written"/);
    assert.match(resources, /"later"/);
    createRawClient(scene, server.grpc)
      .open(cds)
      .send(request({ type: clusterType, node: "n" }));
    await eventually("they answer for each other", async () => /"id": ?"n"/.test(await get(other, "/api/v1/nodes")));
    await other.process.stop();
  });

  await scene.step("and does not start where its machine has nothing of it", async () => {
    await member?.kill();
    const url = `etcd://${etcd.endpoints.join(",")}/elsewhere`;
    const lost = startServe(scene, folder.path, { args: ["--store", url] });
    assert.equal((await lost.ended).code, 2);
    assert.match(lost.stderr.join("\n"), /this machine has no copy of it, so it is not known what clients must have/);
  });
});

test("A server that starts while etcd is away holds back what a rollout has not reached", {
  timeout: 120_000,
}, async (t) => {
  const program = peer("etcd", t);
  if (program === undefined) return;
  const etcd = await EtcdCluster.start(program, { size: 1 });
  t.after(() => etcd.stop());
  const scene = await createScene(t);
  const files = (content: number) => ({
    "a.yaml": [
      cluster({ name: "a", source: configSource("ads-sotw"), serviceName: "a", connectTimeout: `${content}s` }),
    ],
  });
  const folder = await createConfigFolder(scene.directory, files(1));
  const settings = join(scene.directory, "settings.yaml");
  await writeFile(settings, "rollout: { steps: [{ match: { id: first } }], soak: 1h }\n");
  const store = `etcd://${etcd.endpoints.join(",")}/held`;
  const args = ["--store", store, "--replica", "127.0.0.1:0", "--settings", settings];
  const nodes = (server: XdskitServer) => ["first", "second"].map((id) => observe(scene, server.grpc, id));

  const before = await serve(scene, folder.path, { args });
  const [first, second] = nodes(before);
  await first?.sees("a=1");
  await second?.sees("a=1");
  await folder.put(files(2));
  await first?.sees("a=2");
  await eventually("it soaks", async () => /"soaking"/.test(await get(before, "/api/v1/rollouts")));
  const { store: machine } = await openSqliteStore(copyFolder({ endpoints: etcd.endpoints, prefix: "/held" }));
  const copy = new StoreCopy(machine);
  await eventually("it is copied", async () => {
    const [course] = await copy.shared("rollouts/course/");
    return /"soaking"/.test(course?.value ?? "");
  });
  await copy.close();
  assert.equal(second?.clusters(), "a=1");
  await before.process.stop();
  await etcd.members[0]?.kill();

  const late = await serve(scene, folder.path, { args });
  const [again, held] = nodes(late);
  await again?.sees("a=2");
  await held?.sees("a=1");
  await etcd.members[0]?.start();
  await eventually("it is back", async () => (await get(late, "/readyz")) === "ready\n", { withinMs: 30_000 });
  const promote = async () =>
    (await fetch(`http://${late.admin}/api/v1/rollouts/all/promote`, { method: "POST" })).status === 200;
  await eventually("it is promoted", promote, { withinMs: 30_000 });
  await held?.sees("a=2");
});
