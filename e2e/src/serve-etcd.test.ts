import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve } from "./harness/xdskit/xdskit.js";

const named = (name: string) => cluster({ name, source: configSource("ads-delta"), serviceName: name });

test("A server whose revisions are in etcd", { timeout: 120_000 }, async (t) => {
  const program = peer("etcd", t);
  if (program === undefined) return;
  const etcd = await EtcdCluster.start(program);
  t.after(() => etcd.stop());
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, { "a.yaml": [named("a")] });
  const args = ["--store", `etcd://${etcd.endpoints.join(",")}/scene`];
  const start = () => serve(scene, folder.path, { args });
  let server = await start();
  const get = async (path: string) => (await fetch(`http://${server.admin}${path}`)).text();
  const change = async (name: string) => {
    const upsert = [{ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name }];
    return (await changeByApi(server, { upsert })).status;
  };

  await scene.step("what was good last, and what the API wrote, is served after a start with errors", async () => {
    assert.equal(await change("written"), 200);
    await server.process.stop();
    await folder.putText("a.yaml", '"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nnam: a');
    server = await start();
    assert.match(await get("/readyz"), /^degraded: /);
    assert.match(await get("/api/v1/layers/api/resources"), /"written"/);
    await folder.put({ "a.yaml": [named("a")] });
    await eventually("the folder is served again", async () => (await get("/readyz")) === "ready\n");
  });

  await scene.step("it goes on while etcd is away, and its history has every change afterwards", async () => {
    const [one, two] = etcd.members;
    await one?.kill();
    await two?.kill();
    await folder.put({ "a.yaml": [named("a"), named("b")] });
    await eventually("the change is served", async () => /"cluster": 2/.test(await get("/api/v1/sources")));
    assert.equal(await change("lost"), 503);
    await one?.start();
    await two?.start();
    await eventually(
      "the revision is written",
      async () => assert.match(await get("/api/v1/revisions?layer=folder&limit=1"), /"upserted": ?1,/) ?? true,
      { withinMs: 30_000 },
    );
    assert.doesNotMatch(await get("/api/v1/layers/api/resources"), /"lost"/);
  });
});
