import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createConfigFolder, type Files } from "../basics/config-folder.js";
import type { Network } from "../basics/network.js";
import { here, type Place } from "../basics/place.js";
import { freePort } from "../basics/ports.js";
import type { Process } from "../basics/process.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "../basics/resources.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { startEnvoy } from "../peers/envoy.js";
import { EtcdCluster } from "../peers/etcd.js";
import { type Backend, startBalancer } from "../traffic/balancer.js";
import { startHttpBackend } from "../traffic/http-backend.js";
import { type Load, startLoad } from "../traffic/load.js";
import { MovingRoutes } from "../traffic/moving-routes.js";
import { startServe, xdskitCommand } from "../xdskit/xdskit.js";
import { MeshServer, type Started } from "./mesh-server.js";
import { RecordedHistory } from "./recorded-history.js";
import { rolloutRecords } from "./rollout-records.js";
import { Rollouts, stagedContent, stagedGroup, stagedIds, stagedLayer, stagedSettings } from "./staged.js";
import { StagedNodes } from "./staged-nodes.js";
import { Writer } from "./writer.js";

/** The parts of a mesh that tests choose. */
export interface MeshOptions {
  readonly scene: Scene;
  /** The programs of Envoy and etcd. */
  readonly programs: { readonly envoy: string; readonly etcd: string };
  /** Those of the two Envoys. The load goes to both: each connection to one of them. */
  readonly variants: readonly ["ads-delta", "ads-delta" | "ads-sotw"];
  /** Simulated proxies beside the real ones. */
  readonly nodes: number;
  /** How many further nodes get their changes by rollouts. */
  readonly staged: number;
  /** The longest time that they stay, in minutes. */
  readonly minutes?: number;
  readonly started?: Started;
  /** Further settings of the servers. */
  readonly settings?: string;
  /** Places of the servers and members can be cut off. Default: all is on loopback. */
  readonly network?: Network | undefined;
}

interface Summary {
  readonly states: Readonly<Record<"synced" | "held-back" | "pending" | "stale" | "rejected", number>>;
  readonly silent: readonly object[];
}

/** Three servers on three members of etcd, with real Envoys under load and simulated nodes behind a balancer. */
export interface Mesh {
  readonly etcd: EtcdCluster;
  readonly servers: readonly MeshServer[];
  readonly load: Load;
  readonly routes: MovingRoutes;
  /** That of the routes. */
  readonly writer: Writer;
  readonly rollouts: Rollouts;
  /** The simulated proxies: `xdskit bench --json`. */
  readonly bench: Process;
  /** Waits until every server says that all nodes are synced, and that no other server is silent. */
  isWhole(what: string, withinMs: number): Promise<unknown>;
  /** Reads what is new in the histories, at every server. To be called before there is more than a server keeps. */
  readHistory(): Promise<void>;
  /**
   * To be called when nothing is written any more: requests must meet the newest routes, every server must have every
   * write in one line of history, and rollouts must have gone step by step.
   */
  checkHistory(etcdctl: string): Promise<void>;
}

const prefix = "/faults";

/** Resolves once all nodes are synced. */
export async function startMesh(parts: MeshOptions): Promise<Mesh> {
  const { scene, programs, variants, nodes, staged, minutes = 10 } = parts;
  const port = await freePort();
  const backends = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")] as const;
  const { etcd, servers } = await startServers(parts, filesOf(port, backends[0].port));
  const behind = servers.map((server): Backend => ({ address: server.grpc, isHealthy: () => server.isHealthy() }));
  const balancer = await startBalancer(scene, behind);

  const writer = new Writer("api", servers);
  const routes = new MovingRoutes({
    source: configSource("ads-delta"),
    backends,
    change: (body) => writer.write(body),
  });
  await routes.write();
  for (const [index, variant] of variants.entries()) {
    const envoy = { path: programs.envoy, server: balancer, variant, id: `edge-${index + 1}` };
    await startEnvoy(scene, { ...envoy, onlyStart: index > 0 });
  }
  const load = startLoad(scene, port);
  await load.reaches(routes.backend.name);
  const { command, args } = xdskitCommand();
  const howMany = ["--nodes", `${nodes}`, "--duration", `${minutes}m`];
  const options = ["bench", "--server", balancer, "--ads", "--json", ...howMany];
  const bench = scene.start({ name: "xdskit bench", command, args: [...args, ...options] });
  const steps = new Writer(stagedLayer, servers);
  const rollouts = new Rollouts(new StagedNodes(scene, balancer, stagedIds(staged)), steps, servers);
  await rollouts.areDone();

  const histories = [writer, steps].map((one) => ({ writer: one, recorded: new RecordedHistory(one.layer) }));
  const mesh: Mesh = {
    etcd,
    servers,
    load,
    routes,
    writer,
    rollouts,
    bench,
    isWhole: (what, withinMs) => isWhole(mesh, nodes + staged + 2, what, withinMs),
    async readHistory() {
      for (const { recorded } of histories) await Promise.all(servers.map((server) => recorded.read(server)));
    },
    async checkHistory(etcdctl) {
      await load.reaches(routes.backend.name);
      await eventually("all histories are read", () => mesh.readHistory().then(() => true), { withinMs: 30_000 });
      for (const { writer, recorded } of histories) {
        assert.deepEqual(recorded.broken(writer.acknowledged), []);
        const heads = await Promise.all(servers.map(async (server) => (await server.head(writer.layer))?.id));
        const last = writer.acknowledged.at(-1)?.revision;
        assert.deepEqual(
          heads,
          servers.map(() => last),
        );
      }
      assert.deepEqual(rollouts.broken(await rolloutRecords(scene, etcdctl, etcd, prefix)), []);
    },
  };
  // On a busy machine hundreds of nodes take their time to start.
  await mesh.isWhole("all are synced", 180_000);
  return mesh;
}

/**
 * Servers ask clients to go to others, so some are on their way at most moments: each node must have been synced once
 * since every server had the last write, and every server must answer for all.
 */
async function isWhole(
  { servers, writer }: Pick<Mesh, "servers" | "writer">,
  size: number,
  what: string,
  withinMs: number,
): Promise<void> {
  const synced = new Set<string>();
  const newest = writer.acknowledged.at(-1)?.revision;
  let isNewest = false;
  const look = async () => {
    // The nodes of a server that is behind are synced with what is old.
    if (!isNewest) {
      const heads = await Promise.all(servers.map(async (server) => (await server.head(writer.layer))?.id));
      assert.deepEqual(
        heads,
        servers.map(() => newest),
      );
      isNewest = true;
    }
    const all = await Promise.all(servers.map((server) => server.ask<Summary>("fleet/summary")));
    const isHeard = all.every(({ silent }) => silent.length === 0);
    // While a rollout is under way, nodes have all that they may have.
    if (isHeard && all.every(({ states }) => states.synced + states["held-back"] === size)) return true;
    for (const { id, state } of await nodesAt(servers)) if (state === "synced" || state === "held-back") synced.add(id);
    if (isHeard && synced.size === size) return true;
    throw new Error(`${synced.size} of ${size} were synced; ${JSON.stringify(all.map(told))}`);
  };
  await eventually(what, look, { withinMs });
}

const told = ({ states, silent }: Summary) => ({ states, silent });

interface ListedNode {
  readonly id: string;
  readonly state: string;
}

/** As the first of them tells it that answers. */
async function nodesAt(servers: readonly MeshServer[]): Promise<readonly ListedNode[]> {
  const found = await Promise.any(servers.map((server) => server.ask<{ nodes: ListedNode[] }>("nodes?limit=1000")));
  return found.nodes;
}

function filesOf(port: number, backend: number): Files {
  const source = configSource("ads-delta");
  return {
    "mesh/listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    "mesh/start.yaml": [
      cluster({ name: "start", source, serviceName: "start" }),
      loadAssignment("start", [backend]),
      routeConfiguration("start-routes", "start"),
    ],
    [`${stagedGroup}/cluster.yaml`]: [stagedContent(1)],
  };
}

async function startServers(parts: MeshOptions, files: Files) {
  const { scene, programs, started, network } = parts;
  const place = async (): Promise<Place> => (await network?.place()) ?? here;
  const etcd = await EtcdCluster.start(programs.etcd, { places: [await place(), await place(), await place()] });
  scene.onEnd(() => etcd.stop());
  const folder = await createConfigFolder(scene.directory, files);
  const file = `${scene.directory}/settings.yaml`;
  await writeFile(file, stagedSettings + (parts.settings ?? ""));
  const store = `etcd://${etcd.endpoints.join(",")}${prefix}`;
  const run = ({ place, grpc, admin }: MeshServer) => {
    const own = ["--admin", admin, "--rest", "off", "--replica", `${place.host}:0`];
    // A network of its own is reached by nobody else.
    const args = [...own, "--store", store, "--settings", file, ...(network === undefined ? [] : ["--insecure"])];
    return startServe(scene, folder.path, { place, grpc, args });
  };
  const servers: MeshServer[] = [];
  for (let number = 0; number < 3; number += 1) {
    const ports = { grpc: await freePort(), admin: await freePort() };
    servers.push(new MeshServer({ name: `replica ${number}`, place: await place(), ports, run, started }));
  }
  await Promise.all(servers.map((server) => server.start()));
  return { etcd, servers };
}
