import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Network } from "./harness/basics/network.js";
import { testInOwnNetwork } from "./harness/basics/own-network.js";
import { peer } from "./harness/basics/peers.js";
import { randomFrom } from "./harness/basics/random.js";
import type { Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { Changes } from "./harness/mesh/changes.js";
import { faultsOf } from "./harness/mesh/faults.js";
import { brokenReads, brokenWatches, type Read, type Watched } from "./harness/mesh/history-checker.js";
import { startMesh } from "./harness/mesh/mesh.js";
import type { MeshServer } from "./harness/mesh/mesh-server.js";
import { watchRevisions } from "./harness/mesh/revision-watcher.js";

/** Simulated proxies beside the real ones, and as many more whose changes come by rollouts. */
const [nodes, staged] = [300, 12];
/** `npm run soak -- --minutes 60`: all faults again and again, each time in another order. */
const minutes = Number(process.env.SOAK_MINUTES ?? 0);
/** `SEED=7` plays the faults in the order of a run before. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1_000_000));
/** What is ended, stopped or cut off stays so for as long, in milliseconds: changes go on meanwhile. */
const lastsMs = 2_000;
/** The time after which nobody may hold an old version once all is well again, in milliseconds. */
const healedMs = 10_000;

const title = "Envoys, replicas and etcd with faults in random order";
// CI plays the faults of `replicas-faults.test.ts`, each of them once.
if (minutes > 0)
  testInOwnNetwork({ title, timeout: (30 + 2 * minutes) * 60_000, file: import.meta.url, isOptional: true, run: soak });
else test(title, { skip: "needs some minutes: npm run soak -- --minutes 5" });

async function soak(t: TestContext, scene: Scene, network: Network | undefined): Promise<void> {
  const [envoy, etcdProgram, etcdctl] = [peer("envoy", t), peer("etcd", t), peer("etcdctl", t)];
  if (envoy === undefined || etcdProgram === undefined || etcdctl === undefined) return;
  const watches: Watched[] = [];
  const mesh = await startMesh({
    scene,
    network,
    nodes,
    staged,
    minutes: 30 + 2 * minutes,
    programs: { envoy, etcd: etcdProgram },
    variants: ["ads-delta", "ads-sotw"],
    started: async ({ name, admin }) =>
      watches.push(await watchRevisions(scene, admin, `${name}, watch ${watches.length}`)),
  });
  const { servers, load, writer, rollouts } = mesh;
  const changes = new Changes(mesh);
  const reader = new Reader(servers);
  const slowest = { ms: 0, what: "" };
  const heals = async (what: string, failed: number) => {
    // Revisions are read from etcd: a server may have to find out first which member answers.
    const reading = async () => {
      for (const server of servers) await reader.read(server, true);
      await mesh.readHistory();
      return true;
    };
    const read = () => eventually("all histories are read", reading, { withinMs: 30_000 });
    const ms = await changes.mustHeal(what, healedMs, failed, read);
    if (ms > slowest.ms) Object.assign(slowest, { ms, what });
  };

  const faults = faultsOf(mesh, lastsMs);
  t.diagnostic(`SEED=${seed}, ${nodes} simulated nodes, ${faults.length} faults`);
  const random = randomFrom(seed);
  const end = Date.now() + minutes * 60_000;
  let played = 0;
  const say = () => {
    const told = `${played} faults, ${writer.acknowledged.length} writes, ${rollouts.completed} rollouts`;
    const asked = `${load.answered()} requests, ${load.failed()} failed`;
    console.log(`# ${told}, ${asked}; slowest to heal: ${slowest.ms} ms after ${slowest.what}`);
  };
  while (Date.now() < end) {
    for (const { what, play } of shuffled(faults, random)) {
      if (Date.now() >= end) break;
      const failed = load.failed();
      await scene.step(what, async () => {
        // At any moment of a change.
        await play(() => sleep(random(1_000)));
        await heals(what, failed);
      });
      played += 1;
    }
    say();
  }

  await scene.step("every acknowledged write is in one line of history, at every replica", async () => {
    await changes.stop();
    await reader.stop();
    await mesh.checkHistory(etcdctl);
    assert.deepEqual(brokenReads(writer.acknowledged, reader.reads, healedMs), []);
    assert.deepEqual(brokenWatches(watches), []);
    const told = watches.reduce((sum, { numbers }) => sum + numbers.length, 0);
    assert.ok(told > writer.acknowledged.length, "watchers were told of less than there was");
    t.diagnostic(`${reader.reads.length} reads, ${told} events at ${watches.length} watchers`);
    await load.stop();
    say();
    assert.deepEqual(load.failures(), []);
  });
}

/** Asks all servers for their newest revision, again and again. */
class Reader {
  readonly reads: Read[] = [];
  readonly #reading = { isOn: true };
  readonly #done: Promise<void>;

  constructor(servers: readonly MeshServer[]) {
    this.#done = this.#go(servers);
  }

  async read(server: MeshServer, isHealed: boolean): Promise<void> {
    const began = performance.now();
    const number = (await server.head("api"))?.number ?? 0;
    this.reads.push({ server: server.name, number, began, ended: performance.now(), isHealed });
  }

  async stop(): Promise<void> {
    this.#reading.isOn = false;
    await this.#done;
  }

  async #go(servers: readonly MeshServer[]): Promise<void> {
    while (this.#reading.isOn) {
      await Promise.all(servers.map((server) => this.read(server, false).catch(() => undefined)));
      await sleep(200);
    }
  }
}

function shuffled<Item>(items: readonly Item[], random: (below: number) => number): readonly Item[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0] as Item);
}
