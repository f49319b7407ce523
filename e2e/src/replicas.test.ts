import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource } from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { clusterType, endpointType, request } from "./harness/basics/wire.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { cds, createRawClient, eds } from "./harness/peers/raw-client.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly streams: readonly { readonly replica: string }[];
}

async function ask<T>(server: XdskitServer, path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(`http://${server.admin}${path}`, init);
  assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
  return (await response.json()) as T;
}

function send(method: string, body: object): RequestInit {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Nodes with a stream of their own each, on connections of their own. */
function connect(scene: Scene, server: XdskitServer, ids: readonly string[]): void {
  for (const id of ids) {
    const stream = createRawClient(scene, server.grpc).open(cds);
    stream.send(request({ type: clusterType, node: id }));
  }
}

const files = () => ({ "a.yaml": [cluster({ name: "a", source: configSource("ads-sotw"), serviceName: "a" })] });
const names = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe("the workers of one server", () => {
  it("speak with one voice of nodes, metrics and what was written", { timeout: 120_000 }, async (t) => {
    const scene = await createScene(t);
    const folder = await createConfigFolder(scene.directory, files());
    const server = await serve(scene, folder.path, { args: ["--workers", "2", "--state", "off"] });
    const ids = names(10, "node");
    connect(scene, server, ids);
    for (let round = 0; round < 4; round += 1) {
      const { nodes } = await eventually("all nodes are told", async () => {
        const found = await ask<{ nodes: Listed[] }>(server, "/api/v1/nodes");
        return found.nodes.length === ids.length && found;
      });
      assert.deepEqual(
        new Set(nodes.flatMap(({ streams }) => streams.map(({ replica }) => replica))),
        new Set(["worker 1", "worker 2"]),
      );
      const pages: string[] = [];
      for (let after: string | undefined = ""; after !== undefined; ) {
        const query: string = after === "" ? "limit=3" : `limit=3&after=${after}`;
        const page: { nodes: Listed[]; next?: string } = await ask(server, `/api/v1/nodes?${query}`);
        pages.push(...page.nodes.map(({ id }) => id));
        after = page.next;
      }
      assert.deepEqual(pages, ids);
      assert.equal((await ask<Listed>(server, "/api/v1/nodes/node-7")).id, "node-7");
    }
    const text = await (await fetch(`http://${server.admin}/metrics`)).text();
    const counts = [...text.matchAll(/^xdskit_nodes\{worker="\d"\} (\d+)$/gm)].map(([, count]) => Number(count));
    assert.equal(counts.length, 2);
    assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), ids.length);

    // Each request may come to another process.
    for (let number = 0; number < 6; number += 1) {
      const upsert = [cluster({ name: `w${number}`, source: configSource("ads-sotw"), serviceName: "a" })];
      const { revision } = await ask<{ revision: { id: string } }>(
        server,
        "/api/v1/layers/api/changes",
        send("POST", { upsert }),
      );
      await eventually("it arrives at all", async () => {
        const { counts } = await ask<{ counts: { acknowledged: number; pending: number } }>(
          server,
          `/api/v1/revisions/${revision.id}/arrival`,
        );
        // Raw streams acknowledge nothing.
        return counts.acknowledged === 0 && counts.pending === ids.length;
      });
    }
    const { revisions } = await ask<{ revisions: object[] }>(server, "/api/v1/revisions?layer=api");
    assert.equal(revisions.length, 6);
  });
});

describe("servers on one etcd", () => {
  it("answer for each other, follow each other's changes, and know who is gone", { timeout: 120_000 }, async (t) => {
    const program = peer("etcd", t);
    if (program === undefined) return;
    const scene = await createScene(t);
    const etcd = await EtcdCluster.start(program);
    t.after(() => etcd.stop());
    const folder = await createConfigFolder(scene.directory, files());
    const store = `etcd://${etcd.endpoints.join(",")}/replicas`;
    const start = () => serve(scene, folder.path, { args: ["--store", store, "--replica", "127.0.0.1:0"] });
    const [one, two, three] = [await start(), await start(), await start()];
    const replicas = [one, two, three];
    for (const [index, server] of replicas.entries()) connect(scene, server, names(4, `r${index}`));
    // One node with a stream of one type at each of two servers.
    connect(scene, one, ["both"]);
    const second = createRawClient(scene, two.grpc).open(eds);
    second.send(request({ type: endpointType, node: "both" }));
    for (const server of replicas)
      await eventually("all nodes are told", async () => {
        const { nodes } = await ask<{ nodes: Listed[] }>(server, "/api/v1/nodes");
        return nodes.length === 13 && nodes.find(({ id }) => id === "both")?.streams.length === 2;
      });

    const upsert = [cluster({ name: "written", source: configSource("ads-sotw"), serviceName: "a" })];
    const changed = performance.now();
    await ask(two, "/api/v1/layers/api/changes", send("POST", { upsert }));
    for (const server of replicas)
      await eventually("it is served", async () => {
        const found = await fetch(`http://${server.admin}/api/v1/layers/api/resources/cluster/written`);
        return found.ok;
      });
    assert.ok(performance.now() - changed < 5_000);

    const summary = () => ask<{ nodes: number; silent: object[] }>(one, "/api/v1/fleet/summary");
    await eventually("the summary has all", async () => (await summary()).nodes === 13);
    process.kill(three.process.pid, "SIGKILL");
    await eventually(
      "the dead server's nodes are gone",
      async () => {
        const { nodes, silent } = await summary();
        return nodes === 9 && silent.length === 0;
      },
      { withinMs: 20_000 },
    );
  });

  it("go on while etcd is away, refuse to write, and say so", { timeout: 120_000 }, async (t) => {
    const program = peer("etcd", t);
    if (program === undefined) return;
    const scene = await createScene(t);
    const etcd = await EtcdCluster.start(program);
    t.after(() => etcd.stop());
    const folder = await createConfigFolder(scene.directory, files());
    const store = `etcd://${etcd.endpoints.join(",")}/replicas`;
    const server = await serve(scene, folder.path, { args: ["--store", store, "--replica", "127.0.0.1:0"] });
    const readyz = async () => {
      const response = await fetch(`http://${server.admin}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    assert.deepEqual(await readyz(), { status: 200, text: "ready\n" });
    await Promise.all(etcd.members.map((member) => member.kill()));
    await eventually("it says that the store is away", async () => (await readyz()).text.includes("store away since"), {
      withinMs: 30_000,
    });
    assert.equal((await readyz()).status, 200);
    const upsert = [cluster({ name: "written", source: configSource("ads-sotw"), serviceName: "a" })];
    const asked = performance.now();
    const refused = await fetch(`http://${server.admin}/api/v1/layers/api/changes`, send("POST", { upsert }));
    assert.equal(refused.status, 503);
    assert.ok(performance.now() - asked < 2_000);
    connect(scene, server, ["served"]);
    await eventually(
      "who comes is served",
      async () => (await ask<Listed>(server, "/api/v1/nodes/served")).id === "served",
    );
    await Promise.all(etcd.members.map((member) => member.start()));
    await eventually("the store is back", async () => (await readyz()).text === "ready\n", { withinMs: 30_000 });
    await eventually("it can be written", async () => {
      const response = await fetch(`http://${server.admin}/api/v1/layers/api/changes`, send("POST", { upsert }));
      return response.ok;
    });
  });
});
