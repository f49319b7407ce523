import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { stringify } from "yaml";
import { mustFit, openDashboard, startBrowser } from "./dashboard/browser.js";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  apiListener,
  cluster,
  configSource,
  httpListener,
  loadAssignment,
  routeConfiguration,
} from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { grpcClientCommand, grpcClients, startGrpcClient } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** A load assignment of one endpoint in each zone. */
const zones = (name: string, ports: Readonly<Record<string, number>>): ResourceText => {
  const { endpoints: _, ...assignment } = loadAssignment(name, []);
  return {
    ...assignment,
    "@type": String(assignment["@type"]),
    endpoints: Object.entries(ports).map(([zone, port]) => ({
      locality: { region: "here", zone },
      lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } }],
    })),
  };
};

/** Answers everything with one status, and counts. */
async function startStatusBackend(scene: Scene, status: number) {
  let served = 0;
  const server = createServer((_, response) => {
    served += 1;
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scene.onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, served: () => served };
}

for (const variant of ["ads-delta", "per-type-sotw"] as const) {
  test(`Envoy reports its load, ${variant}`, { timeout: 120_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const [good, bad] = [await startStatusBackend(scene, 200), await startStatusBackend(scene, 500)];
    const port = await freePort();
    const folder = await createConfigFolder(scene.directory, {
      "clusters.yaml": [cluster({ name: "web", source }), cluster({ name: "idle", source })],
      "endpoints.yaml": [zones("web", { a: good.port, b: bad.port }), loadAssignment("idle", [good.port])],
      "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
      "routes.yaml": [routeConfiguration("routes", "web")],
    });
    await folder.putText("xdskit.yaml", stringify({ load_reports: { interval: "500ms" } }));
    const server = await serve(scene, folder.path);
    const count = (zone: string, result: string) =>
      metric(server.admin, "xdskit_load_requests_total", { cluster: "web", zone, result });
    await startEnvoy(scene, { path, server: server.grpc, variant, bootstrapArgs: ["--load-reports"] });

    await scene.step("is asked for all its clusters, and reports", async () => {
      // Of a cluster that is new to it, Envoy does not report what was before the next period.
      const before = await metric(server.admin, "xdskit_load_reports_total", { api: "v3" });
      await eventually(
        "three reports",
        async () => (await metric(server.admin, "xdskit_load_reports_total", { api: "v3" })) >= before + 3,
      );
    });
    await scene.step("counts every request, by locality and result", async () => {
      const statuses: (number | undefined)[] = [];
      for (let request = 0; request < 60; request++) statuses.push((await get(port)).status);
      assert.equal(good.served() + bad.served(), 60, String(statuses));
      assert.ok(good.served() > 0 && bad.served() > 0);
      await eventually("all of them", async () => (await count("a", "success")) + (await count("b", "error")) >= 60);
      assert.deepEqual(
        [
          await count("a", "success"),
          await count("a", "error"),
          await count("b", "success"),
          await count("b", "error"),
        ],
        [good.served(), 0, 0, bad.served()],
      );
      assert.equal(await metric(server.admin, "xdskit_load_requests_issued_total", { cluster: "web" }), 60);
      assert.equal(await metric(server.admin, "xdskit_load_requests_total", { cluster: "idle" }), 0);
      await eventually(
        "nothing under way",
        async () => (await metric(server.admin, "xdskit_load_requests_in_progress", { cluster: "web" })) === 0,
      );
    });
    if (variant === "ads-delta")
      await scene.step("shows the last report on the page of the node", async () => {
        const browser = await startBrowser(scene, t);
        if (browser === undefined) return;
        const { page, goTo, faults } = await openDashboard(browser, server.admin);
        const answer = await fetch(`http://${server.admin}/api/v1/fleet/nodes`);
        const { nodes } = (await answer.json()) as { readonly nodes: readonly { readonly id: string }[] };
        await goTo(`node/${encodeURIComponent(nodes[0]?.id ?? "")}`);
        await page.getByRole("heading", { name: "Load that it reports" }).waitFor();
        await page.getByRole("row", { name: /^web/ }).waitFor();
        await page.setViewportSize({ width: 360, height: 740 });
        await mustFit({ page, goTo, faults }, "a node that reports its load");
        assert.deepEqual(faults, []);
      });
    await scene.step("counts what it drops, by category", async () => {
      const dropAll = { category: "throttle", drop_percentage: { numerator: 100, denominator: "HUNDRED" } };
      const policy = { drop_overloads: [dropAll] };
      await folder.put({ "endpoints.yaml": [{ ...zones("web", { a: good.port }), policy }] });
      await eventually("a drop", async () => (await get(port)).status === 503);
      const served = good.served();
      for (let request = 0; request < 9; request++) assert.equal((await get(port)).status, 503);
      assert.equal(good.served(), served);
      const drops = () => metric(server.admin, "xdskit_load_drops_total", { cluster: "web", category: "throttle" });
      await eventually("ten drops", async () => (await drops()) >= 10);
      assert.equal(await drops(), 10);
    });
  });
}

for (const name of grpcClients) {
  test(`gRPC's client reports its load, ${name}`, { timeout: 60_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const source = configSource("ads-sotw");
    const red = await startGrpcBackend(scene, "red");
    const folder = await createConfigFolder(scene.directory, {
      "all.yaml": [
        apiListener({ name: "greeter", routeName: "routes", source }),
        routeConfiguration("routes", "echo"),
        { ...cluster({ name: "echo", source }), lrs_server: { self: {} } } as ResourceText,
        loadAssignment("echo", [red.port]),
      ],
    });
    await folder.putText("xdskit.yaml", stringify({ load_reports: { interval: "1s" } }));
    const server = await serve(scene, folder.path);
    const client = await startGrpcClient(scene, { name, command, server: server.grpc, target: "greeter" });
    const labels = { cluster: "echo", region: "here", zone: "a" };
    await scene.step("counts its calls", async () => {
      const successes = await eventually(
        "20 calls",
        async () => {
          const count = await metric(server.admin, "xdskit_load_requests_total", { ...labels, result: "success" });
          return count >= 20 ? count : undefined;
        },
        { withinMs: 30_000 },
      );
      await eventually("the calls that were reported", () => client.ok() >= successes);
      assert.equal(await metric(server.admin, "xdskit_load_requests_total", { ...labels, result: "error" }), 0);
    });
  });
}
