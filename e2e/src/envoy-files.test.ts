import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type Certificate, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder, type Files, type ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  answering,
  cluster,
  configSource,
  httpListener,
  listener,
  loadAssignment,
  routeConfiguration,
  typeUrl,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { handshake } from "./harness/traffic/handshakes.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get, startTraffic } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

test("an Envoy that reads files follows the served resources", { timeout: 300_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  // Resources say "ads", as for any other client.
  const source = configSource("ads-delta");
  const red = await startHttpBackend(scene, "red");
  const green = await startHttpBackend(scene, "green");
  const port = await freePort();
  const ingress = (serverName?: string): ResourceText =>
    httpListener({ name: "ingress", port, routeName: "routes", source, serverName });
  const files = (name: string, backend: number, serverName?: string): Files => ({
    "all.json": [
      cluster({ name, source }),
      // Its load assignment is not there.
      cluster({ name: "empty", source }),
      loadAssignment(name, [backend]),
      routeConfiguration("routes", name),
      ingress(serverName),
    ],
  });
  const folder = await createConfigFolder(scene.directory, files("a", red.port));
  const out = join(scene.directory, "out");
  const { process: server } = await serve(scene, folder.path, { args: ["--to-files", out] });
  const fromFile = (file: string) => ({
    path_config_source: { path: join(out, file) },
    resource_api_version: "V3",
  });
  const bootstrap = {
    static_resources: {},
    dynamic_resources: { cds_config: fromFile("cluster.json"), lds_config: fromFile("listener.json") },
  };
  const { admin } = await startEnvoy(scene, { path, server: "127.0.0.1:1", variant: "ads-delta", bootstrap });
  const traffic = startTraffic(scene, port);
  const answersFrom = (name: string): Promise<unknown> => {
    const seen = traffic.ok();
    return eventually(`answers from ${name}`, () => {
      const last = traffic.lastBackends(Math.min(10, traffic.ok() - seen));
      return last.length === 10 && last.every((backend) => backend === name);
    });
  };
  const rejected = async (): Promise<number> =>
    (await admin.stat("cluster_manager.cds.update_rejected")) +
    (await admin.stat("listener_manager.lds.update_rejected"));

  const booted = await scene.step("boots and serves traffic", async () => {
    await answersFrom("red");
    assert.deepEqual([...(await admin.activeClusters()).keys()].sort(), ["a", "empty"]);
    assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
  });
  if (!booted) return;

  await scene.step("takes a changed endpoint and a changed listener", async () => {
    await folder.swap(files("a", green.port));
    await answersFrom("green");
    await folder.swap(files("a", red.port, "changed"));
    await answersFrom("red");
    await eventually("the changed listener's answers", async () => (await get(port)).server === "changed");
  });

  await scene.step("takes a route to a new cluster while the old one goes, again and again", async () => {
    const before = traffic.failures().length;
    for (let round = 0; round < 5; round += 1) {
      await folder.swap(files(`green-${round}`, green.port));
      await answersFrom("green");
      await folder.swap(files(`red-${round}`, red.port));
      await answersFrom("red");
    }
    await eventually(
      "the old clusters being gone",
      async () => [...(await admin.activeClusters()).keys()].sort().join() === "empty,red-4",
    );
    await answersFrom("red");
    assert.deepEqual(traffic.failures().slice(before), []);
    assert.equal(await rejected(), 0);
  });

  await scene.step("goes on when the server is stopped", async () => {
    const before = traffic.failures().length;
    await server.stop("SIGTERM");
    await answersFrom("red");
    assert.deepEqual(traffic.failures().slice(before), []);
  });
  await traffic.stop();
});

test("secrets, extension configurations and runtime come from files, too", { timeout: 120_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = configSource("ads-sotw");
  const [port, tlsPort] = [await freePort(), await freePort()];
  const authority = createAuthority("servers");
  const host = "envoy.test";
  const headerMutation = typeUrl("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation");
  const routes = { route_config: { name: "inline", virtual_hosts: [answering("all", "hello")] } };
  const files = (value: string, { certificate, key }: Certificate): Files => ({
    "listeners.json": [
      listener({
        name: "plain",
        port,
        routes,
        filters: [{ name: "swapped", config_discovery: { config_source: source, type_urls: [headerMutation] } }],
      }),
      listener({
        name: "tls",
        port: tlsPort,
        routes,
        tls: { common_tls_context: { tls_certificate_sds_secret_configs: [{ name: "server/1", sds_config: source }] } },
      }),
    ],
    "others.json": [
      {
        "@type": typeUrl("envoy.config.core.v3.TypedExtensionConfig"),
        name: "swapped",
        typed_config: {
          "@type": headerMutation,
          mutations: {
            response_mutations: [
              { append: { header: { key: "x-filter", value }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" } },
            ],
          },
        },
      },
      {
        "@type": typeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
        name: "server/1",
        tls_certificate: { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } },
      },
      { "@type": typeUrl("envoy.service.runtime.v3.Runtime"), name: "runtime", layer: { "example.value": value } },
    ],
  });
  const first = authority.issue(host);
  const folder = await createConfigFolder(scene.directory, files("one", first));
  const out = join(scene.directory, "out");
  await serve(scene, folder.path, { args: ["--to-files", out] });
  const fromFile = (file: string) => ({ path_config_source: { path: join(out, file) }, resource_api_version: "V3" });
  const { admin } = await startEnvoy(scene, {
    path,
    server: "127.0.0.1:1",
    variant: "ads-sotw",
    bootstrap: {
      static_resources: {},
      dynamic_resources: { cds_config: fromFile("cluster.json"), lds_config: fromFile("listener.json") },
      layered_runtime: {
        layers: [{ name: "rtds", rtds_layer: { name: "runtime", rtds_config: fromFile("runtime/runtime.json") } }],
      },
    },
  });
  const shows = (value: string, { serial }: Certificate): Promise<unknown> =>
    eventually(`${value} everywhere`, async () => {
      const options = { port: tlsPort, host, trusted: authority.certificate };
      return (
        (await admin.runtime()).get("example.value") === value &&
        (await get(port)).headers["x-filter"] === value &&
        (await handshake(options)) === serial
      );
    });
  await scene.step("has them from the start", () => shows("one", first).then(() => undefined));
  await scene.step("takes their changes", async () => {
    const second = authority.issue(host);
    await folder.swap(files("two", second));
    await shows("two", second);
  });
});
