import assert from "node:assert/strict";
import { type Backend, startBalancer } from "./balancer.js";
import { createConfigFolder } from "./config-folder.js";
import { startEnvoy } from "./envoy.js";
import { EtcdCluster } from "./etcd.js";
import { brokenPromises, type Listed } from "./history-checker.js";
import { startHttpBackend } from "./http-backend.js";
import { type Load, startLoad } from "./load.js";
import { MeshServer, type Started } from "./mesh-server.js";
import { MovingRoutes } from "./moving-routes.js";
import { freePort } from "./ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./resources.js";
import type { Scene } from "./scene.js";
import { eventually } from "./wait.js";
import { startServe, xdskitCommand } from "./xdskit.js";

/** The parts of a mesh that tests choose. */
export interface MeshOptions {
  readonly scene: Scene;
  /** The programs of Envoy and etcd. */
  readonly programs: { readonly envoy: string; readonly etcd: string };
  /** Those of the two Envoys. The load goes to the first one. */
  readonly variants: readonly ["ads-delta", "ads-delta" | "ads-sotw"];
  /** Simulated proxies beside the real ones. */
  readonly nodes: number;
  readonly started?: Started;
}

interface Summary {
  readonly states: { readonly synced: number };
  readonly silent: readonly object[];
}

/** Three servers on three members of etcd, with real Envoys under load and simulated nodes behind a balancer. */
export interface Mesh {
  readonly etcd: EtcdCluster;
  readonly servers: readonly MeshServer[];
  readonly load: Load;
  readonly routes: MovingRoutes;
  /** Waits until every server says that all nodes are synced, and that no other server is silent. */
  isWhole(what: string, withinMs: number): Promise<unknown>;
  /** Waits until requests meet the newest routes: then every server must have every write in one line of history. */
  checkHistory(): Promise<void>;
}

/** Resolves once all nodes are synced. */
export async function startMesh({ scene, programs, variants, nodes, started }: MeshOptions): Promise<Mesh> {
  const etcd = await EtcdCluster.start(programs.etcd);
  scene.onEnd(() => etcd.stop());
  const port = await freePort();
  const backends = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")] as const;
  const source = configSource("ads-delta");
  const folder = await createConfigFolder(scene.directory, {
    "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    "start.yaml": [
      cluster({ name: "start", source, serviceName: "start" }),
      loadAssignment("start", [backends[0].port]),
      routeConfiguration("start-routes", "start"),
    ],
  });
  const store = `etcd://${etcd.endpoints.join(",")}/faults`;
  const run = ({ grpc, admin }: MeshServer) => {
    const args = ["--admin", admin, "--rest", "off", "--store", store, "--replica", "127.0.0.1:0"];
    return startServe(scene, folder.path, { grpc, args });
  };
  const servers: MeshServer[] = [];
  for (let number = 0; number < 3; number += 1)
    servers.push(new MeshServer(`replica ${number}`, [await freePort(), await freePort()], run, started));
  await Promise.all(servers.map((server) => server.start()));
  const behind = servers.map((server): Backend => ({ address: server.grpc, isHealthy: () => server.isHealthy() }));
  const balancer = await startBalancer(scene, behind);

  const routes = new MovingRoutes(servers, backends);
  await routes.write();
  for (const [index, variant] of variants.entries()) {
    const envoy = { path: programs.envoy, server: balancer, variant, id: `edge-${index + 1}` };
    await startEnvoy(scene, { ...envoy, onlyStart: index > 0 });
  }
  const load = startLoad(scene, port);
  await load.reaches(routes.backend.name);
  const { command, args } = xdskitCommand();
  const bench = ["bench", "--server", balancer, "--ads", "--nodes", `${nodes}`, "--duration", "10m"];
  scene.start({ name: "xdskit bench", command, args: [...args, ...bench] });

  const isOne = ({ states, silent }: Summary) => states.synced === nodes + 2 && silent.length === 0;
  const mesh: Mesh = {
    ...{ etcd, servers, load, routes },
    async isWhole(what, withinMs) {
      const look = async () => {
        const all = await Promise.all(servers.map((server) => server.ask<Summary>("fleet/summary")));
        if (!all.every(isOne)) throw new Error(JSON.stringify(all));
        return true;
      };
      await eventually(what, look, { withinMs });
    },
    async checkHistory() {
      await load.reaches(routes.backend.name);
      for (const server of servers) {
        const { revisions } = await server.ask<{ revisions: Listed[] }>("revisions?layer=api&limit=1000");
        assert.ok(revisions.length >= routes.acknowledged.length);
        assert.deepEqual(brokenPromises(routes.acknowledged, revisions), []);
      }
    },
  };
  await mesh.isWhole("all are synced", 60_000);
  return mesh;
}
