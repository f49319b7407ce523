import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isLong } from "./harness/basics/effort.js";
import type { Network } from "./harness/basics/network.js";
import { testInOwnNetwork } from "./harness/basics/own-network.js";
import { peer } from "./harness/basics/peers.js";
import type { Scene } from "./harness/basics/scene.js";
import { Changes } from "./harness/mesh/changes.js";
import { cutOff } from "./harness/mesh/faults.js";
import { startMesh } from "./harness/mesh/mesh.js";

/** Simulated proxies beside the real ones, and as many more whose changes come by rollouts. */
const [nodes, staged] = [50, 12];
/** A server that says nothing to etcd for 6 s is gone for the others. */
const lastsMs = { server: 8_000, member: 3_000 };
/** The time after which nobody may hold an old version once all is well again, in milliseconds. */
const healedMs = 10_000;

const title = "Envoys, replicas and etcd while the link of each of them goes down in turn";
/** Played by `npm run test:long`: it takes minutes. */
if (isLong) testInOwnNetwork({ title, timeout: 600_000, file: import.meta.url, run: whileLinksGoDown });
else test(title, { skip: "needs some minutes: EFFORT=10 node scripts/test.mjs e2e/src/replicas-cut-off.test.ts" });

async function whileLinksGoDown(t: TestContext, scene: Scene, network: Network | undefined): Promise<void> {
  const [envoy, etcdProgram, etcdctl] = [peer("envoy", t), peer("etcd", t), peer("etcdctl", t)];
  if (envoy === undefined || etcdProgram === undefined || etcdctl === undefined) return;
  const programs = { envoy, etcd: etcdProgram };
  const mesh = await startMesh({ scene, network, programs, variants: ["ads-delta", "ads-sotw"], nodes, staged });
  const { servers, etcd } = mesh;
  const changes = new Changes(mesh);
  const faults = [
    ...servers.flatMap(({ name, place, admin }) => cutOff(name, place, admin, lastsMs.server)),
    ...etcd.members.flatMap(({ name, place, endpoint }) =>
      cutOff(`member ${name} of etcd`, place, endpoint, lastsMs.member),
    ),
  ];
  assert.equal(faults.length, 6);
  for (const { what, play } of faults)
    await scene.step(what, async () => {
      await play(async () => {});
      console.log(`# all are well ${await changes.mustHeal(what, healedMs)} ms after ${what}`);
    });

  await scene.step("every write is in one line of history, and no step of a rollout was doubled", () =>
    changes.mustEndWell(t, etcdctl),
  );
}
