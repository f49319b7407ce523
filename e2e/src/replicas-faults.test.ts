import { test } from "node:test";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { Changes } from "./harness/mesh/changes.js";
import { faultsOf } from "./harness/mesh/faults.js";
import { startMesh } from "./harness/mesh/mesh.js";

/** Simulated proxies beside the real ones, and as many more whose changes come by rollouts. */
const [nodes, staged] = [100, 12];
/** What is ended or stopped stays so for as long, in milliseconds: changes go on meanwhile. */
const lastsMs = 1_500;
/** The time after which nobody may hold an old version once all is well again, in milliseconds. */
const healedMs = 10_000;

test("Envoys, replicas and etcd while each of them is killed and stopped in turn", { timeout: 400_000 }, async (t) => {
  const [envoy, etcdProgram, etcdctl] = [peer("envoy", t), peer("etcd", t), peer("etcdctl", t)];
  if (envoy === undefined || etcdProgram === undefined || etcdctl === undefined) return;
  const scene = await createScene(t);
  const programs = { envoy, etcd: etcdProgram };
  const mesh = await startMesh({ scene, programs, variants: ["ads-delta", "ads-sotw"], nodes, staged });
  const changes = new Changes(mesh);

  // An upgrade has a test of its own, and the soak has all of them, in any order.
  const left = isLong ? /upgraded/ : /upgraded|replica [^1] is stopped and then killed/;
  for (const { what, play } of faultsOf(mesh, lastsMs).filter((fault) => !left.test(fault.what)))
    await scene.step(what, async () => {
      await play(async () => {});
      console.log(`# all are well ${await changes.mustHeal(what, healedMs)} ms after ${what}`);
    });

  await scene.step("every write is in one line of history, and no step of a rollout was doubled", () =>
    changes.mustEndWell(t, etcdctl),
  );
});
