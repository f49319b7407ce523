import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type XdsClient } from "@xdskit/client";
import { peer } from "./harness/basics/peers.js";
import { cluster, configSource, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startGoControlPlane } from "./harness/peers/go-control-plane.js";
import { relay } from "./harness/xdskit/relay.js";

const routes = ["r0", "r1"];
const source = configSource("ads-delta");

/** All that go-control-plane has where the routes go to these clusters. */
const world = (targets: readonly string[]) => [
  ...[...new Set(targets)].flatMap((name) => [cluster({ name, source }), loadAssignment(name, [1])]),
  ...targets.map((target, at) => routeConfiguration(`r${at}`, target)),
];

/**
 * What a client sees of the clusters and of the routes' targets. `broken` lists the moments at which a route named a
 * cluster that the client did not have.
 */
function judge(client: XdsClient) {
  let clusters: readonly string[] = [];
  const targets = new Map<string, string>();
  const broken: string[] = [];
  const check = () => {
    for (const [name, target] of targets) if (!clusters.includes(target)) broken.push(`${name} → ${target}`);
  };
  client.watchCollection("cluster", "*", {
    onChanged({ resources }) {
      clusters = [...resources.keys()].sort();
      check();
    },
  });
  for (const name of routes) {
    client.watch("route", name, {
      onChanged(received) {
        const [target] = received.resource().references;
        targets.set(name, target?.name ?? "");
        check();
      },
    });
  }
  return { broken, seen: () => `${clusters} ${routes.map((name) => targets.get(name))}` };
}

for (const variant of ["sotw", "delta"] as const) {
  test(`behind a relay of go-control-plane with a stream for each type no route names a missing cluster, ${variant}`, {
    timeout: 60_000,
  }, async (t) => {
    const command = peer("go-control-plane-server", t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const origin = await startGoControlPlane(scene, command, { cache: "snapshot", ads: false });
    await origin.set("0", world(["c0", "c0"]));
    const { grpc } = await relay(scene, "--server", origin.address, "--per-type", "--variant", variant);
    const client = createClient({ servers: [grpc], node: { id: "edge" } });
    scene.onEnd(() => client.close());
    const { broken, seen } = judge(client);
    await eventually("the routes", () => seen() === "c0 c0,c0");
    // At its start a client may hear of either first.
    broken.length = 0;
    for (let move = 1; move <= 20; move++) {
      // Every third move is of one route alone, so that the old cluster stays.
      const targets = move % 3 === 0 ? [`c${move}`, `c${move - 1}`] : [`c${move}`, `c${move}`];
      await origin.set(String(move), world(targets));
      const expected = `${[...new Set(targets)].sort()} ${targets}`;
      await eventually(`move ${move}: ${expected}; is ${seen()}`, () => seen() === expected, { everyMs: 10 });
    }
    assert.deepEqual(broken, []);
  });
}
