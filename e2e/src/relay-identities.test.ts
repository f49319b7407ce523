import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { relay } from "./harness/xdskit/relay.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

const mesh = createAuthority("of the mesh");
const workload = (name: string, path: string) => mesh.issue(name, "IP:127.0.0.1", `URI:spiffe://mesh.example/${path}`);

const shop = `  - { when: { spiffe: "spiffe://mesh.example/ns/shop/sa/{sa}" }, node: { id: "{sa}.shop" } }\n`;
const ofReplicas = `tls: { cert: server.pem, key: server.key, client_ca: mesh.pem }
replicas: { spiffe: "spiffe://mesh.example/xdskit" }
identities:
  - { when: { spiffe: "spiffe://mesh.example/relay" }, node: { id: relay-1 } }
${shop}`;
const ofRelay = `tls: { cert: relay.pem, key: relay.key, client_ca: mesh.pem }\nidentities:\n${shop}`;

test("clients behind a relay of three replicas, each judged where it calls", { timeout: 120_000 }, async (t) => {
  const program = peer("etcd", t);
  if (program === undefined) return;
  const scene = await createScene(t);
  const etcd = await EtcdCluster.start(program);
  t.after(() => etcd.stop());
  const { put, putPair } = movedFiles(scene.directory);
  await putPair("server", workload("server", "xdskit"));
  const asRelay = await putPair("relay", workload("relay", "relay"));
  const asShop = await putPair("shop", workload("shop", "ns/shop/sa/cart"));
  const asBank = await putPair("bank", workload("bank", "ns/bank/sa/pay"));
  const ca = ["--tls-ca", await put("mesh.pem", mesh.certificate)];
  const [replicas, edge] = [await put("replicas.yaml", ofReplicas), await put("relay.yaml", ofRelay)];
  const named = (name: string) => cluster({ name, source: configSource("ads-sotw"), serviceName: name });
  const folder = await createConfigFolder(scene.directory, { "a.yaml": [named("first")] });
  const store = `etcd://${etcd.endpoints.join(",")}/identities`;
  const shared = ["--store", store, "--replica", "127.0.0.1:0", "--settings", replicas];
  const start = () => serve(scene, folder.path, { args: shared });
  const [one, two, three] = [await start(), await start(), await start()];
  const origins = [one, two, three].flatMap(({ grpc }) => ["--server", grpc]);
  const before = await relay(scene, ...origins, "--node-id", "relay-1", ...ca, ...asRelay, "--settings", edge);
  const get = (server: XdskitServer, id: string, shown: readonly string[], ...what: readonly string[]) =>
    runXdskit(
      scene,
      "get",
      ...(what.length === 0 ? ["cluster"] : what),
      "--server",
      server.grpc,
      "--node-id",
      id,
      ...ca,
      ...shown,
      "--timeout",
      "10s",
    );

  await scene.step("a client gets what the replicas have, and each server answers for all", async () => {
    const found = await get(before, "cart.shop", asShop);
    assert.match(found.out, /first/, found.err);
    for (const server of [one, two, three])
      await eventually("the relay is told", async () => {
        const answer = await fetch(`http://${server.admin}/api/v1/nodes`);
        const { nodes, silent } = (await answer.json()) as { nodes: { id: string }[]; silent?: object[] };
        return nodes.some(({ id }) => id === "relay-1") && (silent ?? []).length === 0;
      });
  });
  await scene.step("beyond this machine no server starts that does not say who the others are", async () => {
    const open = await put("open.yaml", ofReplicas.replace(/^replicas: .*\n/m, ""));
    const own = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0", "--replica", "0.0.0.0:0"];
    const { status, err } = await runXdskit(scene, "serve", folder.path, "--store", store, "--settings", open, ...own);
    assert.equal(status, 2, err);
    assert.match(err, /replica listens beyond this machine without replicas: .*Write into the settings replicas: \{/);
  });
  await scene.step("nobody is another's node, neither at the relay nor behind it", async () => {
    for (const [server, id, shown] of [
      [before, "pay.shop", asShop],
      [before, "pay.bank", asBank],
      [before, "relay-1", asRelay],
      [two, "relay-1", asShop],
      [two, "cart.shop", asRelay],
    ] as const) {
      const { status, out } = await get(server, id, shown);
      assert.notEqual(status, 0, `${id}: ${out}`);
      assert.doesNotMatch(out, /first/);
    }
  });
  await scene.step("with a replica gone, the relay proves itself to another one", async () => {
    await one.process.stop();
    const endpoints = { "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"), cluster_name: "first" };
    await changeByApi(two, { upsert: [endpoints] });
    // Another one is asked for what the relay lacks.
    await eventually("what nobody asked for before is behind the relay", async () =>
      (await get(before, "cart.shop", asShop, "endpoint", "first")).out.includes("first"),
    );
  });
});
