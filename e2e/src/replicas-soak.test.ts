import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Backend, startBalancer } from "./harness/balancer.js";
import { createConfigFolder } from "./harness/config-folder.js";
import { startEnvoy } from "./harness/envoy.js";
import { EtcdCluster } from "./harness/etcd.js";
import {
  brokenPromises,
  brokenReads,
  brokenWatches,
  type Listed,
  type Read,
  type WrittenAt,
} from "./harness/history-checker.js";
import { startHttpBackend } from "./harness/http-backend.js";
import { startLoad } from "./harness/load.js";
import { peer } from "./harness/peers.js";
import { freePort } from "./harness/ports.js";
import { randomFrom } from "./harness/random.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/resources.js";
import { type RevisionWatcher, watchRevisions } from "./harness/revision-watcher.js";
import { createScene } from "./harness/scene.js";
import { eventually } from "./harness/wait.js";
import { startServe, xdskitCommand } from "./harness/xdskit.js";

/** Simulated proxies beside the real ones. */
const nodes = 300;
/** Played by `npm run test:long` and `npm run soak`. CI, with an EFFORT of 3, plays `replicas-faults.test.ts`. */
const isLong = Number(process.env.EFFORT ?? 1) > 3;
/** `SEED=7` plays the faults in the order of a run before. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1_000_000));
/** `npm run soak -- --minutes 60`: all faults again and again, each time in another order. */
const soakMs = Number(process.env.SOAK_MINUTES ?? 0) * 60_000;
/** What is ended or stopped stays so for as long, in milliseconds: changes go on meanwhile. */
const pauseMs = 2_000;
/** So soon nobody may hold an old version once all is well again, in milliseconds. */
const healedMs = 10_000;

interface Summary {
  readonly nodes: number;
  readonly states: { readonly synced: number };
  readonly silent: readonly object[];
}

const skip = isLong ? false : "needs some minutes: npm run soak -- --minutes 5";

test("Envoys, replicas and etcd with faults in random order", { skip, timeout: 600_000 + 2 * soakMs }, async (t) => {
  t.diagnostic(`SEED=${seed}, ${nodes} simulated nodes`);
  const [envoy, etcdProgram] = [peer("envoy", t), peer("etcd", t)];
  if (envoy === undefined || etcdProgram === undefined) return;
  const scene = await createScene(t);
  const etcd = await EtcdCluster.start(etcdProgram);
  scene.onEnd(() => etcd.stop());
  const source = configSource("ads-delta");
  const port = await freePort();
  const red = await startHttpBackend(scene, "red");
  const green = await startHttpBackend(scene, "green");
  const folder = await createConfigFolder(scene.directory, {
    "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    "start.yaml": [
      cluster({ name: "start", source, serviceName: "start" }),
      loadAssignment("start", [red.port]),
      routeConfiguration("start-routes", "start"),
    ],
  });
  const store = `etcd://${etcd.endpoints.join(",")}/faults`;

  const watchers: RevisionWatcher[] = [];

  class Server {
    readonly grpc: string;
    readonly admin: string;
    readonly name: string;
    #process: ReturnType<typeof startServe> | undefined;

    constructor(name: string, grpc: number, admin: number) {
      this.name = name;
      this.grpc = `127.0.0.1:${grpc}`;
      this.admin = `127.0.0.1:${admin}`;
    }

    async start(): Promise<void> {
      const args = ["--admin", this.admin, "--rest", "off", "--store", store, "--replica", "127.0.0.1:0"];
      this.#process = startServe(scene, folder.path, { grpc: this.grpc, args });
      await this.#process.line(/^ready$/, 60_000);
      watchers.push(await watchRevisions(scene, this.admin, `${this.name}, watch ${watchers.length}`));
    }

    /** As an upgrade does. */
    async stop(): Promise<void> {
      await this.#process?.stop("SIGTERM", 20_000);
    }

    signal(signal: NodeJS.Signals): void {
      if (this.#process !== undefined) process.kill(this.#process.pid, signal);
    }

    async ask<T>(path: string, body?: object): Promise<T> {
      const response = await fetch(`http://${this.admin}/api/v1/${path}`, {
        signal: AbortSignal.timeout(3_000),
        ...(body === undefined
          ? {}
          : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return JSON.parse(text) as T;
    }

    async isHealthy(): Promise<boolean> {
      const response = await fetch(`http://${this.admin}/livez`, { signal: AbortSignal.timeout(500) });
      return response.ok;
    }
  }

  const servers: Server[] = [];
  for (let number = 0; number < 3; number += 1)
    servers.push(new Server(`replica ${number}`, await freePort(), await freePort()));
  await Promise.all(servers.map((server) => server.start()));
  const backends = servers.map((server): Backend => ({ address: server.grpc, isHealthy: () => server.isHealthy() }));
  const balancer = await startBalancer(scene, backends);

  const acknowledged: WrittenAt[] = [];
  const reads: Read[] = [];
  let moment = 0;
  /** Moves the routes to a cluster of its own and removes the one before, at any server that takes it. */
  const write = async (): Promise<void> => {
    moment += 1;
    const backend = moment % 2 === 0 ? red.port : green.port;
    const body = {
      upsert: [
        cluster({ name: `c${moment}`, source, serviceName: `s${moment}` }),
        loadAssignment(`s${moment}`, [backend]),
        routeConfiguration("routes", `c${moment}`),
      ],
      delete: [
        { type: "cluster", name: `c${moment - 1}` },
        { type: "endpoint", name: `s${moment - 1}` },
      ],
      message: `${moment}`,
    };
    for (let tries = 0; tries < 60; tries += 1) {
      const server = servers[(moment + tries) % servers.length];
      const began = performance.now();
      try {
        const { revision } =
          (await server?.ask<{ revision: { id: string; number: number } }>("layers/api/changes", body)) ??
          assert.fail();
        const { id, number } = revision;
        acknowledged.push({ server: server?.name ?? "", revision: id, number, began, ended: performance.now() });
        return;
      } catch {
        await sleep(200);
      }
    }
    assert.fail("no server takes a write");
  };
  await write();
  const playing = { isOn: true };
  for (const id of ["edge-1", "edge-2"]) {
    await startEnvoy(scene, {
      path: envoy,
      server: balancer,
      variant: id === "edge-1" ? "ads-delta" : "ads-sotw",
      id,
      onlyStart: id !== "edge-1",
    });
  }
  const load = startLoad(scene, port);
  await load.reaches(moment % 2 === 0 ? "red" : "green");
  const { command, args } = xdskitCommand();
  scene.start({
    name: "xdskit bench",
    command,
    args: [...args, "bench", "--server", balancer, "--ads", "--nodes", `${nodes}`, "--duration", "10m"],
  });
  const isWhole = async () => {
    const all = await Promise.all(servers.map((server) => server.ask<Summary>("fleet/summary")));
    return (
      all.every(({ states, silent }) => states.synced === nodes + 2 && silent.length === 0) ||
      `${JSON.stringify(all.map(({ nodes, states }) => ({ nodes, states })))}`
    );
  };
  await eventually("all are synced", async () => (await isWhole()) === true, { withinMs: 60_000 });

  const writer = (async () => {
    while (playing.isOn) {
      await write();
      // Each connection may come to the other Envoy.
      load.reconnect();
      await sleep(500);
    }
  })();
  const read = async (server: Server, isHealed: boolean): Promise<void> => {
    const began = performance.now();
    const { layers } = await server.ask<{ layers: { name: string; head: { number: number } | null }[] }>("layers");
    const number = layers.find(({ name }) => name === "api")?.head?.number ?? 0;
    reads.push({ server: server.name, number, began, ended: performance.now(), isHealed });
  };
  const reader = (async () => {
    while (playing.isOn) {
      await Promise.all(servers.map((server) => read(server, false).catch(() => undefined)));
      await sleep(100);
    }
  })();
  const heals = async (what: string) => {
    // While changes go on, somebody is always behind for a moment.
    await eventually(`all are well after ${what}`, async () => (await isWhole()) === true, { withinMs: healedMs });
    for (const server of servers) await read(server, true);
    assert.deepEqual(load.failures(), [], what);
  };

  const pause = () => sleep(pauseMs);
  const faults: { readonly what: string; readonly play: () => Promise<void> }[] = [];
  for (const server of servers) {
    const { name } = server;
    const add = (what: string, play: () => Promise<void>) => faults.push({ what: `${name} is ${what}`, play });
    add("killed, and comes back", async () => {
      server.signal("SIGKILL");
      await pause();
      await server.start();
    });
    add("stopped for a while", async () => {
      server.signal("SIGSTOP");
      await pause();
      server.signal("SIGCONT");
    });
    add("upgraded: it ends as it is told to, and comes back", async () => {
      await server.stop();
      await server.start();
    });
    add("stopped and then killed: its clients come to others with what is old", async () => {
      server.signal("SIGSTOP");
      await pause();
      server.signal("SIGKILL");
      await server.start();
    });
  }
  for (const member of etcd.members) {
    const name = `member ${member.name} of etcd`;
    faults.push({
      what: `${name} is killed, and comes back`,
      play: async () => {
        await member.kill();
        await pause();
        await member.start();
      },
    });
    faults.push({
      what: `${name} is stopped for a while`,
      play: async () => {
        member.signal("SIGSTOP");
        await pause();
        member.signal("SIGCONT");
      },
    });
  }
  const random = randomFrom(seed);
  const end = performance.now() + soakMs;
  let played = 0;
  do {
    for (const { what, play } of shuffled(faults, random)) {
      await scene.step(what, async () => {
        // At any moment of a change.
        await sleep(random(1_000));
        await play();
        await heals(what);
      });
      played += 1;
    }
    t.diagnostic(
      `${played} faults, ${acknowledged.length} writes, ${load.answered()} requests, ${load.failed()} failed`,
    );
  } while (performance.now() < end);

  await scene.step("every acknowledged write is in one line of history, at every replica", async () => {
    playing.isOn = false;
    await Promise.all([writer, reader]);
    await load.reaches(moment % 2 === 0 ? "red" : "green");
    for (const server of servers) {
      const { revisions } = await server.ask<{ revisions: Listed[] }>("revisions?layer=api&limit=1000");
      assert.ok(revisions.length >= acknowledged.length);
      assert.deepEqual(brokenPromises(acknowledged, revisions), []);
    }
    assert.deepEqual(brokenReads(acknowledged, reads, healedMs), []);
    const watches = watchers.map(({ watcher, numbers }) => ({ watcher, numbers }));
    assert.deepEqual(brokenWatches(watches), []);
    const told = watches.reduce((sum, { numbers }) => sum + numbers.length, 0);
    assert.ok(told > acknowledged.length, "watchers were told of less than there was");
    t.diagnostic(`${reads.length} reads, ${told} events at ${watches.length} watchers`);
    await load.stop();
    assert.deepEqual(load.failures(), []);
  });
});

function shuffled<Item>(items: readonly Item[], random: (below: number) => number): readonly Item[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0] as Item);
}
