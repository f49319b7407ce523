import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type Files, type ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  apiListener,
  cluster,
  configSource,
  httpListener,
  inboundRoutes,
  loadAssignment,
  routeConfiguration,
  typeUrl,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import {
  answeredBy,
  type GrpcClient,
  type GrpcClientName,
  grpcClientCommand,
  grpcClients,
  serverListenerName,
  startGrpcClient,
  writeGrpcBootstrap,
} from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { serve } from "./harness/xdskit/xdskit.js";

const source = configSource("ads-sotw");
const greeter = apiListener({ name: "greeter", routeName: "routes", source });

/** A resource as control planes for gRPC send it: without what only Envoy needs. */
const bare = (resource: ResourceText): ResourceText =>
  JSON.parse(
    JSON.stringify(resource, (key, value) => {
      if (key === "virtual_hosts") return value.map(({ name: _, ...host }: ResourceText) => host);
      return key === "stat_prefix" ? undefined : value;
    }),
  );

/**
 * Routes with one more, which no call takes: a service is asked for its cluster (RLS). Only python's client has that
 * built in.
 */
const withLookup = (client: GrpcClientName, routes: ResourceText): ResourceText => {
  if (client !== "python") return routes;
  const lookup = {
    grpc_keybuilders: [{ names: [{ service: "nobody.Asks" }] }],
    lookup_service: "127.0.0.1:1",
    cache_size_bytes: 1000,
  };
  const typed_config = { "@type": typeUrl("grpc.lookup.v1.RouteLookupClusterSpecifier"), route_lookup_config: lookup };
  const looked = { match: { prefix: "/nobody.Asks/" }, route: { cluster_specifier_plugin: "lookup" } };
  const [host, ...hosts] = routes.virtual_hosts as readonly { readonly routes: readonly object[] }[];
  return {
    ...routes,
    cluster_specifier_plugins: [{ extension: { name: "lookup", typed_config } }],
    virtual_hosts: [{ ...host, routes: [looked, ...(host?.routes ?? [])] }, ...hosts],
  };
};

const answersFrom = (client: GrpcClient, ...names: string[]) => answeredBy([client], names);

for (const name of grpcClients) {
  test(`gRPC client, ${name}`, { timeout: 240_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const red = await startGrpcBackend(scene, "red");
    const green = await startGrpcBackend(scene, "green");
    const blue = await startGrpcBackend(scene, "blue");
    const files = (
      clusters: readonly (readonly [name: string, ports: readonly number[]])[],
      routed: string,
    ): Files => ({
      "clusters.yaml": clusters.map(([name]) => cluster({ name, source })),
      "endpoints.yaml": clusters.map(([name, ports]) => loadAssignment(name, ports)),
      "listeners.yaml": [greeter],
      "routes.yaml": [bare(withLookup(name, routeConfiguration("routes", routed)))],
    });
    const one = ["one", [red.port, green.port]] as const;

    const folder = await createConfigFolder(scene.directory, files([one], "one"));
    let server = await serve(scene, folder.path);
    const client = await startGrpcClient(scene, { name, command, server: server.grpc, target: "greeter" });

    const resolved = await scene.step("resolves and calls", async () => {
      await answersFrom(client, "red", "green");
      assert.deepEqual(client.failures(), []);
    });
    if (!resolved) return;

    await scene.step("follows a moved route", async () => {
      await folder.put(files([one, ["two", [blue.port]]], "two"));
      await answersFrom(client, "blue");
      assert.deepEqual(client.failures(), []);
    });

    await scene.step("sees an endpoint come and one leave", async () => {
      await folder.put(files([one, ["two", [blue.port, red.port]]], "two"));
      await answersFrom(client, "blue", "red");
      await folder.put(files([one, ["two", [red.port]]], "two"));
      await answersFrom(client, "red");
      // Whoever still called it would notice now.
      blue.stop();
      await answersFrom(client, "red");
      assert.deepEqual(client.failures(), []);
    });

    await scene.step("follows a route whose old cluster goes in the same change", async () => {
      await folder.swap(files([["three", [green.port]]], "three"));
      await answersFrom(client, "green");
      await quiet(1_000);
      await answersFrom(client, "green");
      assert.deepEqual(client.failures(), []);
    });

    await scene.step("survives a restart of the server", async () => {
      const failed = client.failures().length;
      await server.process.stop("SIGKILL");
      server = await serve(scene, folder.path, { grpc: server.grpc });
      await folder.put(files([["three", [green.port, red.port]]], "three"));
      await eventually("answers from red", () => client.lastBackends(4).includes("red"), { withinMs: 40_000 });
      await answersFrom(client, "green", "red");
      assert.deepEqual(client.failures().slice(failed), []);
    });
  });
}

test("xDS-enabled gRPC server, go", { timeout: 240_000 }, async (t) => {
  const program = peer("go-grpc-server", t);
  const command = grpcClientCommand("go", t);
  if (program === undefined || command === undefined) return;
  const scene = await createScene(t);
  const [first, second] = [await freePort(), await freePort()];
  const listener = (port: number, routeName: string): ResourceText =>
    bare(httpListener({ name: serverListenerName(`127.0.0.1:${port}`), port, routeName, source }));
  const files = (ports: readonly number[], routeName: string): Files => ({
    "servers.yaml": [listener(first, routeName), listener(second, routeName), bare(inboundRoutes(routeName))],
    "clients.yaml": [
      greeter,
      routeConfiguration("routes", "servers"),
      cluster({ name: "servers", source }),
      loadAssignment("servers", ports),
    ],
  });
  const folder = await createConfigFolder(scene.directory, files([first, second], "inbound"));
  const server = await serve(scene, folder.path);
  const startServer = async (name: string, port: number): Promise<void> => {
    const bootstrap = await writeGrpcBootstrap(scene, `server-${name}`, server.grpc, "v3");
    const started = scene.start({
      name: `server ${name}`,
      command: program,
      args: [`127.0.0.1:${port}`, name],
      env: { GRPC_XDS_BOOTSTRAP: bootstrap },
    });
    await started.line(/^mode \S+ serving$/i);
  };

  await scene.step("gets its listener and serves", async () => {
    await startServer("red", first);
    await startServer("green", second);
  });
  const client = await startGrpcClient(scene, { name: "go", command, server: server.grpc, target: "greeter" });

  await scene.step("is called by a client of the same management server", async () => {
    await answersFrom(client, "red", "green");
    assert.deepEqual(client.failures(), []);
  });

  await scene.step("takes other routes without a failed call", async () => {
    await folder.swap(files([first, second], "inbound-2"));
    await quiet(1_000);
    await answersFrom(client, "red", "green");
    assert.deepEqual(client.failures(), []);
  });

  await scene.step("is left by its client before it goes", async () => {
    await folder.put(files([second], "inbound-2"));
    await answersFrom(client, "green");
    assert.deepEqual(client.failures(), []);
  });
});
