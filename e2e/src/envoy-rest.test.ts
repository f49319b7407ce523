import assert from "node:assert/strict";
import { test } from "node:test";
import { testEnvoy } from "./envoy-suite.js";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, httpListener, loadAssignment, restSource, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

testEnvoy("rest");

test("Envoy's polls are answered by the change, not by the next poll, when both sides wait long", {
  timeout: 300_000,
}, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  // After an answer Envoy does not poll for 5 to 10 s: what comes sooner came to a poll that was there before.
  const source = restSource({ refreshDelay: "5s", requestTimeout: "120s" });
  const red = await startHttpBackend(scene, "red");
  const green = await startHttpBackend(scene, "green");
  const port = await freePort();
  const files = (changes: Partial<Files>): Files => ({
    "clusters.yaml": [cluster({ name: "a", source })],
    "endpoints.yaml": [loadAssignment("a", [red.port])],
    "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
    "routes.yaml": [routeConfiguration("routes", "a")],
    ...(changes as Files),
  });
  const folder = await createConfigFolder(scene.directory, files({}));
  const server = await serve(scene, folder.path, { args: ["--rest-hold", "100s"] });
  const { admin } = await startEnvoy(scene, {
    path,
    server: server.rest,
    variant: "rest",
    bootstrap: { dynamic_resources: { cds_config: source, lds_config: source } },
  });

  const parked = async (type: string): Promise<unknown> =>
    eventually(
      `a parked poll for ${type}`,
      async () => (await metric(server.admin, "xdskit_polls_parked", { type })) === 1,
      { withinMs: 60_000 },
    );
  /** Changes something; resolves to how many polls Envoy began before it took effect. */
  const pollsUntil = async (attempts: string, changes: Partial<Files>, effect: () => Promise<boolean>) => {
    const before = await admin.stat(attempts);
    await folder.put(files(changes));
    await eventually("the change in effect", effect, { withinMs: 60_000, everyMs: 20 });
    return (await admin.stat(attempts)) - before;
  };

  await scene.step("an endpoint", async () => {
    await parked("endpoint");
    const changes = { "endpoints.yaml": [loadAssignment("a", [green.port])] };
    const polls = await pollsUntil("cluster.a.update_attempt", changes, async () => (await get(port)).body === "green");
    assert.equal(polls, 0);
  });

  await scene.step("a listener, and a cluster that is new", async () => {
    await parked("listener");
    await parked("cluster");
    const second = await freePort();
    const changes = {
      "clusters.yaml": [cluster({ name: "a", source }), cluster({ name: "b", source })],
      "endpoints.yaml": [loadAssignment("a", [green.port]), loadAssignment("b", [red.port])],
      "listeners.yaml": [
        httpListener({ name: "ingress", port, routeName: "routes", source }),
        httpListener({ name: "second", port: second, routeName: "routes", source }),
      ],
    };
    const listening = async () => (await get(second)).body === "green";
    assert.equal(await pollsUntil("listener_manager.lds.update_attempt", changes, listening), 0);
    await eventually("the new cluster", async () => (await admin.activeClusters()).has("b"));
  });

  await scene.step("and none was given up", async () => {
    const failures = await admin.stats("update_failure$");
    assert.deepEqual(
      [...failures].filter(([, count]) => count > 0),
      [],
    );
  });
});

test("Envoy's boot over REST does not wait for what does not exist", { timeout: 120_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = restSource({});
  const red = await startHttpBackend(scene, "red");
  const port = await freePort();
  const files = (assignments: readonly string[]): Files => ({
    "clusters.yaml": [cluster({ name: "a", source }), cluster({ name: "missing", source })],
    "endpoints.yaml": assignments.map((name) => loadAssignment(name, [red.port])),
    "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
    "routes.yaml": [routeConfiguration("routes", "missing")],
  });
  const folder = await createConfigFolder(scene.directory, files(["a"]));
  const server = await serve(scene, folder.path);
  // Over gRPC it would be 15 s.
  const { admin } = await startEnvoy(scene, { path, server: server.rest, variant: "rest", withinMs: 14_000 });
  assert.equal((await admin.endpoints()).get("missing")?.length, 0);
  await folder.put(files(["a", "missing"]));
  await eventually("an answer from what came later", async () => (await get(port)).body === "red");
});
