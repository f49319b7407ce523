import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { Changes } from "./harness/mesh/changes.js";
import { startMesh } from "./harness/mesh/mesh.js";
import type { MeshServer } from "./harness/mesh/mesh-server.js";

/** Simulated proxies beside the real ones, and as many more whose changes come by rollouts. */
const [nodes, staged] = [60, 12];
const all = nodes + staged + 2;

interface Streams {
  readonly nodes: readonly { readonly streams: readonly { readonly replica: string }[] }[];
}

/** How many clients are at each server. */
async function spread(server: MeshServer): Promise<readonly number[]> {
  const { nodes } = await server.ask<Streams>("nodes");
  const counts = new Map<string, number>();
  for (const { replica } of nodes.flatMap(({ streams }) => streams))
    counts.set(replica, (counts.get(replica) ?? 0) + 1);
  return [...counts.values()];
}

const title = "A rolling upgrade of all servers under traffic";
/** Played by `npm run test:long`: a request fails now and then, see docs/replicas.md. */
if (isLong) test(title, { timeout: 400_000 }, upgrade);
else test(title, { skip: "needs some minutes: EFFORT=10 node scripts/test.mjs e2e/src/replicas-upgrade.test.ts" });

async function upgrade(t: TestContext): Promise<void> {
  const [envoy, etcdProgram, etcdctl] = [peer("envoy", t), peer("etcd", t), peer("etcdctl", t)];
  if (envoy === undefined || etcdProgram === undefined || etcdctl === undefined) return;
  const scene = await createScene(t);
  const programs = { envoy, etcd: etcdProgram };
  const settings = "keepalive: { max_age_grace: 1s }\n";
  const mesh = await startMesh({ scene, programs, settings, variants: ["ads-delta", "ads-sotw"], nodes, staged });
  const { load, servers, writer, rollouts, bench } = mesh;
  const changes = new Changes(mesh);

  for (const server of servers)
    await scene.step(`${server.name} is stopped and started again, and no request fails`, async () => {
      await server.stop();
      await server.start();
      assert.deepEqual(load.failures(), []);
    });

  await scene.step("clients are spread over all of them again", async () => {
    const [server = assert.fail()] = servers;
    await eventually(
      "each server has a part of its share",
      async () => {
        const counts = await spread(server);
        const share = all / servers.length;
        // Of the clients that are asked to go, the balancer brings only a third to the server that has too few: the
        // first wave does not bring all.
        if (counts.length === servers.length && counts.every((count) => count > 0.3 * share)) return true;
        throw new Error(counts.join(", "));
      },
      { withinMs: 100_000, everyMs: 500 },
    );
    t.diagnostic(`clients at each server: ${(await spread(server)).join(", ")}`);
    await changes.pause();
    await mesh.isWhole("all are synced", 10_000);
    changes.goOn();
    assert.deepEqual(load.failures(), []);
  });

  await scene.step("nothing was sent to clients that have it, and no write or step was lost", async () => {
    await changes.stop();
    await mesh.checkHistory(etcdctl);
    await bench.stop("SIGINT");
    const report = JSON.parse(bench.stdout.join("\n")) as {
      readonly received: { readonly again: number };
      readonly streams: { readonly opened: number; readonly failed: number };
    };
    t.diagnostic(`${report.streams.opened} streams of ${nodes} simulated nodes, ${report.received.again} sent again`);
    // Each was at a server that ended, and some were asked to go to another one.
    assert.ok(report.streams.opened >= 2 * nodes, `${report.streams.opened} streams`);
    assert.equal(report.received.again, 0);
    t.diagnostic(`${writer.acknowledged.length} writes, ${rollouts.completed} rollouts`);
    t.diagnostic(`${load.answered()} requests, ${load.failed()} failed`);
    await load.stop();
    assert.deepEqual(load.failures(), []);
  });
}
