import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { brokenReads, brokenWatches, type Read, type Watched } from "./harness/history-checker.js";
import { startMesh } from "./harness/mesh.js";
import type { MeshServer } from "./harness/mesh-server.js";
import { peer } from "./harness/peers.js";
import { randomFrom } from "./harness/random.js";
import { watchRevisions } from "./harness/revision-watcher.js";
import { createScene } from "./harness/scene.js";

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

const skip = isLong ? false : "needs some minutes: npm run soak -- --minutes 5";

test("Envoys, replicas and etcd with faults in random order", { skip, timeout: 600_000 + 2 * soakMs }, async (t) => {
  t.diagnostic(`SEED=${seed}, ${nodes} simulated nodes`);
  const [envoy, etcdProgram] = [peer("envoy", t), peer("etcd", t)];
  if (envoy === undefined || etcdProgram === undefined) return;
  const scene = await createScene(t);
  const watches: Watched[] = [];
  const mesh = await startMesh({
    scene,
    programs: { envoy, etcd: etcdProgram },
    variants: ["ads-delta", "ads-sotw"],
    nodes,
    started: async ({ name, admin }) =>
      watches.push(await watchRevisions(scene, admin, `${name}, watch ${watches.length}`)),
  });
  const { etcd, servers, load, routes } = mesh;
  const { acknowledged } = routes;
  const reads: Read[] = [];
  const playing = { isOn: true };
  const writer = (async () => {
    while (playing.isOn) {
      await routes.write();
      // Each connection may come to the other Envoy.
      load.reconnect();
      await sleep(500);
    }
  })();
  const read = async (server: MeshServer, isHealed: boolean): Promise<void> => {
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
    await mesh.isWhole(`all are well after ${what}`, healedMs);
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
    await mesh.checkHistory();
    assert.deepEqual(brokenReads(acknowledged, reads, healedMs), []);
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
