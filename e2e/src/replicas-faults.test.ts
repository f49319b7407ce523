import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Backend, startBalancer } from "./harness/balancer.js";
import { createConfigFolder } from "./harness/config-folder.js";
import { startEnvoy } from "./harness/envoy.js";
import { EtcdCluster } from "./harness/etcd.js";
import { type Acknowledged, brokenPromises, type Listed } from "./harness/history-checker.js";
import { startHttpBackend } from "./harness/http-backend.js";
import { startLoad } from "./harness/load.js";
import { peer } from "./harness/peers.js";
import { freePort } from "./harness/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/resources.js";
import { createScene } from "./harness/scene.js";
import { eventually } from "./harness/wait.js";
import { startServe, xdskitCommand } from "./harness/xdskit.js";

/** Simulated proxies beside the real ones. EFFORT of 3 and more plays more. */
const nodes = Number(process.env.EFFORT ?? 1) > 3 ? 300 : 100;
/** What is ended or stopped stays so for as long, in milliseconds: changes go on meanwhile. */
const pauseMs = 2_000;
/** So soon nobody may hold an old version once all is well again, in milliseconds. */
const healedMs = 30_000;

interface Summary {
  readonly nodes: number;
  readonly states: { readonly synced: number };
  readonly silent: readonly object[];
}

test("Envoys, replicas and etcd while each of them is killed and stopped in turn", { timeout: 400_000 }, async (t) => {
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

  class Server {
    readonly grpc: string;
    readonly admin: string;
    #process: ReturnType<typeof startServe> | undefined;

    constructor(grpc: number, admin: number) {
      this.grpc = `127.0.0.1:${grpc}`;
      this.admin = `127.0.0.1:${admin}`;
    }

    async start(): Promise<void> {
      const args = ["--admin", this.admin, "--rest", "off", "--store", store, "--replica", "127.0.0.1:0"];
      this.#process = startServe(scene, folder.path, { grpc: this.grpc, args });
      await this.#process.line(/^ready$/, 60_000);
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
  for (let number = 0; number < 3; number += 1) servers.push(new Server(await freePort(), await freePort()));
  await Promise.all(servers.map((server) => server.start()));
  const backends = servers.map((server): Backend => ({ address: server.grpc, isHealthy: () => server.isHealthy() }));
  const balancer = await startBalancer(scene, backends);

  const acknowledged: Acknowledged[] = [];
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
        acknowledged.push({ revision: revision.id, number: revision.number, began, ended: performance.now() });
        return;
      } catch {
        await sleep(200);
      }
    }
    assert.fail("no server takes a write");
  };
  await write();
  const writing = { isOn: true, isPaused: false, isIdle: false };
  for (const id of ["edge-1", "edge-2"]) {
    await startEnvoy(scene, {
      path: envoy,
      server: balancer,
      variant: "ads-delta",
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
    return all.every(({ states, silent }) => states.synced === nodes + 2 && silent.length === 0) || JSON.stringify(all);
  };
  await eventually("all are synced", async () => (await isWhole()) === true, { withinMs: 60_000 });

  const writer = (async () => {
    while (writing.isOn) {
      writing.isIdle = writing.isPaused;
      if (!writing.isPaused) await write();
      await sleep(writing.isPaused ? 20 : 500);
    }
  })();
  /** Changes stop meanwhile: while they go on, somebody is always behind for a moment. */
  const heals = async (what: string) => {
    writing.isPaused = true;
    const since = Date.now();
    await eventually(
      `all are well after ${what}`,
      async () => {
        const whole = await isWhole();
        if (whole !== true) throw new Error(whole);
        return true;
      },
      { withinMs: healedMs },
    );
    console.log(`# all are well ${Date.now() - since} ms after ${what}`);
    writing.isPaused = false;
    assert.deepEqual(load.failures(), [], what);
  };

  const haveLast = async () => {
    const last = acknowledged.at(-1)?.revision;
    const all = await Promise.all(
      servers.map((server) => server.ask<{ layers: { name: string; head: { id: string } | null }[] }>("layers")),
    );
    return all.every(({ layers }) => layers.find(({ name }) => name === "api")?.head?.id === last);
  };
  /**
   * Whoever is cut off in the middle of a change, or comes to a server that has not heard of it yet, is given that
   * server's newest at once: faults come between changes.
   */
  const between = async (fault: () => unknown) => {
    writing.isPaused = true;
    await eventually(
      "all have the last change",
      async () => writing.isIdle && (await haveLast()) && (await isWhole()) === true,
      {
        withinMs: healedMs,
      },
    );
    await fault();
    writing.isPaused = false;
  };

  for (const [number, server] of servers.entries()) {
    await scene.step(`replica ${number} is killed, and comes back`, async () => {
      await between(() => server.signal("SIGKILL"));
      await sleep(pauseMs);
      await server.start();
      await heals("a replica was killed");
    });
    await scene.step(`replica ${number} is stopped for a while`, async () => {
      await between(() => server.signal("SIGSTOP"));
      await sleep(pauseMs);
      server.signal("SIGCONT");
      await heals("a replica was stopped");
    });
  }
  for (const [number, server] of servers.entries()) {
    await scene.step(
      `replica ${number} is stopped and then killed: its clients come to others with what is old`,
      async () => {
        await between(() => server.signal("SIGSTOP"));
        await sleep(pauseMs);
        server.signal("SIGKILL");
        await server.start();
        await heals("a replica was stopped and killed");
      },
    );
  }
  for (const member of etcd.members) {
    await scene.step(`member ${member.name} of etcd is killed, and comes back`, async () => {
      await member.kill();
      await sleep(pauseMs);
      await member.start();
      await heals("a member of etcd was killed");
    });
    await scene.step(`member ${member.name} of etcd is stopped for a while`, async () => {
      member.signal("SIGSTOP");
      await sleep(pauseMs);
      member.signal("SIGCONT");
      await heals("a member of etcd was stopped");
    });
  }

  await scene.step("every acknowledged write is in one line of history, at every replica", async () => {
    writing.isOn = false;
    await writer;
    await load.reaches(moment % 2 === 0 ? "red" : "green");
    for (const server of servers) {
      const { revisions } = await server.ask<{ revisions: Listed[] }>("revisions?layer=api&limit=1000");
      assert.ok(revisions.length >= acknowledged.length);
      assert.deepEqual(brokenPromises(acknowledged, revisions), []);
    }
    t.diagnostic(`${acknowledged.length} writes, ${load.answered()} requests, ${load.failed()} failed`);
    await load.stop();
    assert.deepEqual(load.failures(), []);
  });
});
