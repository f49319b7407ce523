import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startMesh } from "./harness/mesh.js";
import { peer } from "./harness/peers.js";
import { createScene } from "./harness/scene.js";
import { eventually } from "./harness/wait.js";

/** Simulated proxies beside the real ones. EFFORT of 3 and more plays more. */
const nodes = Number(process.env.EFFORT ?? 1) > 3 ? 300 : 100;
/** What is ended or stopped stays so for as long, in milliseconds: changes go on meanwhile. */
const pauseMs = 2_000;
/** So soon nobody may hold an old version once all is well again, in milliseconds. */
const healedMs = 10_000;

test("Envoys, replicas and etcd while each of them is killed and stopped in turn", { timeout: 400_000 }, async (t) => {
  const [envoy, etcdProgram] = [peer("envoy", t), peer("etcd", t)];
  if (envoy === undefined || etcdProgram === undefined) return;
  const scene = await createScene(t);
  const programs = { envoy, etcd: etcdProgram };
  const mesh = await startMesh({ scene, programs, variants: ["ads-delta", "ads-delta"], nodes });
  const { etcd, servers, load, routes } = mesh;
  const { acknowledged } = routes;

  const writing = { isOn: true, isPaused: false, isIdle: false };
  const writer = (async () => {
    while (writing.isOn) {
      writing.isIdle = writing.isPaused;
      if (!writing.isPaused) await routes.write();
      await sleep(writing.isPaused ? 20 : 500);
    }
  })();
  /** Changes stop meanwhile: while they go on, somebody is always behind for a moment. */
  const heals = async (what: string) => {
    writing.isPaused = true;
    const since = Date.now();
    await mesh.isWhole(`all are well after ${what}`, healedMs);
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
    await eventually("all have the last change", async () => writing.isIdle && (await haveLast()), {
      withinMs: healedMs,
    });
    await mesh.isWhole("all are synced", healedMs);
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
    await mesh.checkHistory();
    t.diagnostic(`${acknowledged.length} writes, ${load.answered()} requests, ${load.failed()} failed`);
    await load.stop();
    assert.deepEqual(load.failures(), []);
  });
});
