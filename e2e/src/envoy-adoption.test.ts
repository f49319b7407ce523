import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stringify } from "yaml";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

/** An Envoy that has all of it from its bootstrap: a listener without a name sends everything to one backend. */
function staticResources(port: number, backend: number): object {
  const { "@type": _, ...assignment } = loadAssignment("web", [backend]);
  const { "@type": __, ...routes } = routeConfiguration("inline", "web");
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "ingress",
    http_filters: [
      {
        name: "envoy.filters.http.router",
        typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
    route_config: routes,
  };
  return {
    secrets: [{ name: "token", generic_secret: { secret: { inline_string: "verysecret" } } }],
    clusters: [{ name: "web", type: "STATIC", connect_timeout: "1s", load_assignment: assignment }],
    listeners: [
      {
        address: { socket_address: { address: "127.0.0.1", port_value: port } },
        filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
      },
    ],
  };
}

const noServer = { server: "127.0.0.1:1", variant: "ads-delta" } as const;

async function serveFile(scene: Scene, name: string, text: string): Promise<XdskitServer> {
  const directory = join(scene.directory, `served-${name}`);
  await mkdir(directory);
  await writeFile(join(directory, name), text);
  return serve(scene, directory);
}

async function answersRed(port: number): Promise<void> {
  await eventually("an answer from red", async () => (await get(port)).body === "red", { withinMs: 40_000 });
}

test("the resources of an Envoy's bootstrap, and of its dump, are served to another Envoy", {
  timeout: 300_000,
}, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const red = await startHttpBackend(scene, "red");
  const port = await freePort();
  const resources = { static_resources: staticResources(port, red.port) };
  let dump = "";

  await scene.step("an Envoy runs on the bootstrap alone", async () => {
    const bootstrap = { ...resources, dynamic_resources: undefined };
    const first = await startEnvoy(scene, { path, ...noServer, bootstrap });
    await answersRed(port);
    dump = await first.admin.configDump();
    await first.process.stop();
  });

  await scene.step("another Envoy gets the same from a server of that file", async () => {
    const bootstrap = stringify({ admin: {}, node: { id: "first" }, ...resources });
    const server = await serveFile(scene, "envoy.yaml", bootstrap);
    const second = await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta" });
    await answersRed(port);
    assert.deepEqual([...(await second.admin.activeListeners()).keys()], [`127.0.0.1_${port}`]);
    const said = "an Envoy bootstrap: 1 secret, 1 cluster, 1 listener; left out: admin, node";
    assert.ok(server.process.stderr.some((line) => line.includes(said)));
    await second.process.stop();
    await server.process.stop();
  });

  await scene.step("a server of the first Envoy's dump serves it, without the hidden secret", async () => {
    assert.ok(dump.includes("[redacted]"));
    const server = await serveFile(scene, "dump.json", dump);
    const second = await startEnvoy(scene, { path, server: server.grpc, variant: "ads-sotw" });
    await answersRed(port);
    assert.deepEqual([...(await second.admin.activeClusters()).keys()], ["web"]);
    const log = server.process.stderr.join("\n");
    assert.match(log, /dump\.json: an Envoy config dump: 1 cluster, 1 listener; left out: /);
    assert.match(log, /warn .*secret "token".*XDSKIT_SECRET_LEFT_OUT/);
    assert.ok(!log.includes("verysecret"));
  });
});

test("the dump of an Envoy that has everything over xDS is served to another", { timeout: 300_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = configSource("ads-delta");
  const red = await startHttpBackend(scene, "red");
  const port = await freePort();
  const folder = await createConfigFolder(scene.directory, {
    "clusters.yaml": [cluster({ name: "a", source }), cluster({ name: "b", source, serviceName: "service-b" })],
    "endpoints.yaml": [loadAssignment("a", [red.port]), loadAssignment("service-b", [red.port])],
    "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
    "routes.yaml": [routeConfiguration("routes", "b")],
  });
  let dump = "";

  await scene.step("an Envoy gets the secret from files", async () => {
    const server = await serve(scene, folder.path);
    const first = await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta" });
    await answersRed(port);
    dump = await first.admin.configDump();
    await first.process.stop();
    await server.process.stop();
  });

  await scene.step("another Envoy gets it from the dump", async () => {
    const server = await serveFile(scene, "dump.json", dump);
    const second = await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta" });
    await answersRed(port);
    assert.deepEqual([...(await second.admin.activeClusters()).keys()].sort(), ["a", "b"]);
    assert.deepEqual([...(await second.admin.routes()).keys()], ["routes"]);
    assert.equal(await second.admin.stat("cluster_manager.cds.update_rejected"), 0);
    assert.equal(await second.admin.stat("listener_manager.lds.update_rejected"), 0);
    const said = "dump.json: an Envoy config dump: 2 clusters, 2 endpoints, 1 listener, 1 route; left out: ";
    assert.ok(
      server.process.stderr.some((line) => line.includes(said)),
      server.process.stderr.join("\n"),
    );
  });
});
