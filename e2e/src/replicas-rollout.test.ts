import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openEtcdStore } from "@xdskit/store-etcd";
import { type ConfigFolder, createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource } from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { EtcdCluster } from "./harness/peers/etcd.js";
import { type Observer, observe } from "./harness/peers/raw-client.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

interface Shown {
  readonly id: number;
  readonly group: string;
  readonly state: string;
  readonly reason: string;
  readonly step: number;
  readonly nodes: { readonly reached: number; readonly held: number };
}

const source = configSource("ads-sotw");
const files = (content: number) => ({
  "a.yaml": [cluster({ name: "a", source, serviceName: "a", connectTimeout: `${content}s` })],
});

async function rolloutAt(server: XdskitServer): Promise<Shown | undefined> {
  const response = await fetch(`http://${server.admin}/api/v1/rollouts`, { signal: AbortSignal.timeout(5_000) });
  const { rollouts } = (await response.json()) as { rollouts: readonly Shown[] };
  return rollouts[0];
}

async function lead(server: XdskitServer, action: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://${server.admin}/api/v1/rollouts/all/${action}`, { method: "POST" });
  return { status: response.status, text: await response.text() };
}

/** Waits until each of these servers has said this of the rollout. */
async function are(servers: readonly XdskitServer[], state: string, step?: number): Promise<Shown> {
  const [first = assert.fail()] = await Promise.all(
    servers.map((server) =>
      eventually(
        `${state} ${step ?? ""}`,
        async () => {
          const found = await rolloutAt(server);
          if (found?.state === state && (step === undefined || found.step === step)) return found;
          throw new Error(JSON.stringify(found));
        },
        { withinMs: 60_000 },
      ),
    ),
  );
  return first;
}

/** Nodes that acknowledge what they get. One whose server ends comes to another. */
class Nodes {
  readonly #scene: Scene;
  readonly #all = new Map<string, Observer>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  connect(server: XdskitServer, ...ids: readonly string[]): void {
    for (const id of ids) this.#all.set(id, observe(this.#scene, server.grpc, id));
  }

  /** Those that have the content of before again, after they had this one. */
  wentBack(had: ReadonlySet<string>, before: number): readonly string[] {
    return this.having(before).filter((id) => had.has(id));
  }

  having(content: number): readonly string[] {
    return [...this.#all].filter(([, each]) => each.clusters() === `a=${content}`).map(([id]) => id);
  }

  async allHave(content: number): Promise<void> {
    await eventually(
      `all have ${content}`,
      () => {
        if (this.having(content).length === this.#all.size) return true;
        throw new Error(JSON.stringify([...this.#all].map(([id, each]) => `${id} ${each.clusters()}`)));
      },
      { withinMs: 60_000 },
    );
  }
}

async function settingsIn(scene: Scene, rollout: string): Promise<string> {
  const path = join(scene.directory, "settings.yaml");
  // Nodes of this test do not come back when they are asked to go to another server.
  await writeFile(path, `rollout: ${rollout}\nrebalance: off\n`);
  return path;
}

/** Starts one more server of the store with each call. */
function serversOf(scene: Scene, etcd: EtcdCluster, folder: ConfigFolder, settings: string) {
  const store = `etcd://${etcd.endpoints.join(",")}/rollouts`;
  const args = ["--store", store, "--replica", "127.0.0.1:0", "--settings", settings];
  return () => serve(scene, folder.path, { args, withinMs: 60_000 });
}

const ids = (prefix: string) => Array.from({ length: 4 }, (_, index) => `${prefix}-${index}`);

describe("a rollout with workers", () => {
  it("reaches one node of all, and promote and halt reach all workers", { timeout: 240_000 }, async (t) => {
    const scene = await createScene(t);
    const folder = await createConfigFolder(scene.directory, files(1));
    const settings = await settingsIn(scene, "{ steps: [{ count: 1 }], soak: 1h }");
    const args = ["--workers", "2", "--state", "off", "--settings", settings];
    const server = await serve(scene, folder.path, { args, withinMs: 60_000 });
    const nodes = new Nodes(scene);
    nodes.connect(server, ...ids("node"));
    await nodes.allHave(1);
    for (const content of [2, 3]) {
      await folder.put(files(content));
      const { nodes: counted } = await are([server, server, server, server], "soaking");
      assert.deepEqual(counted, { reached: 1, pending: 0, rejected: 0, held: 3 });
      await quiet(500);
      assert.equal(nodes.having(content).length, 1);
      assert.equal((await lead(server, "halt")).status, 200);
      await are([server, server, server, server], "halted");
      const done = await lead(server, "promote");
      assert.equal(done.status, 200, done.text);
      await nodes.allHave(content);
      await are([server, server, server, server], "completed");
    }
  });
});

describe("a rollout of servers on one etcd", () => {
  it("goes on step by step when its leader is killed and another server is stopped", {
    timeout: 300_000,
  }, async (t) => {
    const program = peer("etcd", t);
    if (program === undefined) return;
    const scene = await createScene(t);
    const etcd = await EtcdCluster.start(program);
    t.after(() => etcd.stop());
    const folder = await createConfigFolder(scene.directory, files(1));
    // A busy machine must see each step.
    const settings = await settingsIn(scene, "{ steps: [{ count: 1 }, { count: 4 }, { percent: 60 }], soak: 10s }");
    const start = serversOf(scene, etcd, folder, settings);
    const servers = await Promise.all([start(), start(), start()]);
    const nodes = new Nodes(scene);
    for (const [index, server] of servers.entries()) nodes.connect(server, ...ids(`at-${index}`));
    await nodes.allHave(1);

    const { seen, back } = await rolloutSteps(folder, nodes, servers, async () => {
      const leader = await leaderOf(etcd, servers);
      const others = servers.filter((each) => each !== leader.server);
      await scene.step("its leader is killed at the first step", async () => {
        process.kill(leader.server.process.pid, "SIGKILL");
        nodes.connect(others[0] ?? assert.fail(), ...ids(`at-${leader.index}`));
        await are(others, "soaking", 2);
      });
      const [, stopped = assert.fail()] = others;
      await scene.step("another server is stopped at the second step", async () => {
        process.kill(stopped.process.pid, "SIGSTOP");
        await quiet(9_000);
        process.kill(stopped.process.pid, "SIGCONT");
        await are(others, "completed");
      });
      await nodes.allHave(2);
    });
    // A node that has it keeps it, and never more nodes have it than the steps say.
    assert.ok(seen.includes(1), `${seen}`);
    assert.deepEqual(back, []);
    assert.ok(seen.filter((count) => count > 1 && count < 4).length <= 2, `${seen}`);
  });

  it("is rolled back for all, also for a server that starts later", { timeout: 240_000 }, async (t) => {
    const program = peer("etcd", t);
    if (program === undefined) return;
    const scene = await createScene(t);
    const etcd = await EtcdCluster.start(program);
    t.after(() => etcd.stop());
    const folder = await createConfigFolder(scene.directory, files(1));
    const settings = await settingsIn(scene, "{ steps: [{ count: 2 }], soak: 1h }");
    const start = serversOf(scene, etcd, folder, settings);
    const servers = await Promise.all([start(), start()]);
    const [one = assert.fail(), two = assert.fail()] = servers;
    const nodes = new Nodes(scene);
    for (const [index, server] of servers.entries()) nodes.connect(server, ...ids(`at-${index}`));
    await nodes.allHave(1);
    await folder.put(files(2));
    const { id } = await are(servers, "soaking");
    const late = await start();
    nodes.connect(late, "late");
    await eventually("the late one has what was before", () => nodes.having(1).includes("late"));
    assert.equal(nodes.having(2).length, 2);
    assert.equal((await lead(two, `roll-back?id=${id + 1}`)).status, 409);
    assert.equal((await lead(two, `roll-back?id=${id}`)).status, 200);
    await are([one, two, late], "rolled-back");
    await nodes.allHave(1);
    const latest = await start();
    nodes.connect(latest, "latest");
    await nodes.allHave(1);
    await folder.put(files(3));
    await are([one, two, late, latest], "soaking");
    assert.equal(nodes.having(3).length, 2);
    assert.equal((await lead(latest, "promote")).status, 200);
    await nodes.allHave(3);
  });
});

/** How many nodes had the new content until then, each time that there were more; and the nodes that lost it. */
async function rolloutSteps(
  folder: ConfigFolder,
  nodes: Nodes,
  servers: readonly XdskitServer[],
  run: () => Promise<void>,
): Promise<{ readonly seen: readonly number[]; readonly back: readonly string[] }> {
  const seen: number[] = [];
  const had = new Set<string>();
  const back = new Set<string>();
  const timer = setInterval(() => {
    for (const id of nodes.wentBack(had, 1)) back.add(id);
    // One that comes to another server has nothing for a moment.
    for (const id of nodes.having(2)) had.add(id);
    if (had.size > (seen.at(-1) ?? 0)) seen.push(had.size);
  }, 10);
  try {
    await folder.put(files(2));
    await are(servers, "soaking", 1);
    await run();
  } finally {
    clearInterval(timer);
  }
  return { seen, back: [...back] };
}

/** Which of them leads, as the store says. */
async function leaderOf(etcd: EtcdCluster, servers: readonly XdskitServer[]) {
  const store = await openEtcdStore({ endpoints: etcd.endpoints, prefix: "/rollouts" });
  try {
    return await eventually("one of them leads", async () => {
      const [leader] = await store.shared.list("rollouts/leader");
      const index = servers.findIndex(({ process: { pid } }) => leader?.value.endsWith(`:${pid}`));
      const server = servers[index];
      return server !== undefined && { server, index };
    });
  } finally {
    await store.close();
  }
}
