import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  certificateSecret,
  dnsCluster,
  edsCluster,
  extensionConfig,
  grpcListener,
  grpcServerListener,
  httpListener,
  loadAssignment,
  routeConfiguration,
  runtimeLayer,
  staticCluster,
  stdoutAccessLog,
} from "@xdskit/api/builders";
import { BufferSchema } from "@xdskit/api/envoy/extensions/filters/http/buffer/v3/buffer";
import { HttpFilterSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { createServer } from "@xdskit/server";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { grpcClientCommand, startGrpcClient, writeGrpcBootstrap } from "./harness/peers/grpc-client.js";
import { handshake } from "./harness/traffic/handshakes.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";

const ads = { resourceApiVersion: 2, configSourceSpecifier: { case: "ads", value: {} } } as const;
const rtds = { name: "flags", rtds_layer: { name: "flags", rtds_config: { ads: {}, resource_api_version: "V3" } } };

test("an Envoy runs what the builders make", { timeout: 240_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const [red, green] = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")];
  const [plain, secured] = [await freePort(), await freePort()];
  const authority = createAuthority("ca");
  const { certificate, key, serial } = authority.issue("web.example");
  const at = ({ port }: { readonly port: number }, address = "127.0.0.1") => ({ address, portValue: port });
  const buffer = create(HttpFilterSchema, {
    name: "buffer",
    configType: {
      case: "configDiscovery",
      value: { configSource: ads, typeUrls: ["type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer"] },
    },
  });
  const server = createServer();
  scene.onEnd(() => server.close({ timeoutMs: 500 }));
  server.config.set([
    runtimeLayer({ name: "flags", layer: { "my.flag": 7 } }),
    extensionConfig({ name: "buffer", schema: BufferSchema, message: { maxRequestBytes: 1024 } }),
    certificateSecret({
      name: "web",
      certificateChain: { inlineString: certificate },
      privateKey: { inlineString: key },
    }),
    edsCluster({ name: "red", serviceName: "reds" }),
    loadAssignment({ clusterName: "reds", endpoints: [at(red)] }),
    staticCluster({ name: "green", endpoints: [at(green)] }),
    dnsCluster({ name: "dns", endpoints: [at(green, "localhost")], dnsLookupFamily: 1 }),
    routeConfiguration({
      name: "web",
      routes: [
        { path: "/red", cluster: "red" },
        { prefix: "/dns", cluster: "dns" },
        { prefix: "/both", weightedClusters: { red: 50, green: 50 } },
        { cluster: "green" },
      ],
    }),
    httpListener({
      name: "plain",
      address: "127.0.0.1",
      portValue: plain,
      routeConfigName: "web",
      httpFilters: [buffer],
      httpConnectionManager: { accessLog: [stdoutAccessLog({ textFormat: "%REQ(:PATH)% %RESPONSE_CODE%\n" })] },
    }),
    httpListener({ name: "tls", address: "127.0.0.1", portValue: secured, routeConfigName: "web", tlsSecret: "web" }),
  ]);
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const bootstrap = { layered_runtime: { layers: [rtds] } };
  const envoy = await startEnvoy(scene, { path, server: grpc, variant: "ads-delta", bootstrap });

  const get = async (where: string) => (await fetch(`http://127.0.0.1:${plain}${where}`)).text();
  await eventually("all that the node must have", () => {
    const [node] = server.nodes();
    assert.equal(node?.state, "synced", JSON.stringify(node));
    return true;
  });
  assert.deepEqual([await get("/red"), await get("/dns"), await get("/")], ["red", "green", "green"]);
  const both = new Set<string>();
  await eventually("answers of both", async () => both.add(await get("/both")).size === 2);
  // Its request is answered with 200.
  assert.equal(await handshake({ port: secured, host: "web.example", trusted: authority.certificate }), serial);
  await eventually("a line of the access log", () => envoy.process.stdout.includes("/red 200"));
});

test("a client and a server of gRPC run what the builders make", { timeout: 240_000 }, async (t) => {
  const program = peer("go-grpc-server", t);
  const command = grpcClientCommand("go", t);
  if (program === undefined || command === undefined) return;
  const scene = await createScene(t);
  const portValue = await freePort();
  const server = createServer();
  scene.onEnd(() => server.close({ timeoutMs: 500 }));
  server.config.set([
    grpcServerListener({ address: "127.0.0.1", portValue }),
    grpcListener({ name: "greeter", routeConfigName: "routes" }),
    routeConfiguration({ name: "routes", routes: [{ prefix: "", cluster: "greeter" }] }),
    edsCluster({ name: "greeter" }),
    loadAssignment({ clusterName: "greeter", endpoints: [{ address: "127.0.0.1", portValue }] }),
  ]);
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const bootstrap = await writeGrpcBootstrap(scene, "server-red", grpc, "v3");
  const args = [`127.0.0.1:${portValue}`, "red"];
  const red = scene.start({ name: "server", command: program, args, env: { GRPC_XDS_BOOTSTRAP: bootstrap } });
  await red.line(/^mode \S+ serving$/i);
  const client = await startGrpcClient(scene, { name: "go", command, server: grpc, target: "greeter" });
  await eventually("answers", () => client.ok() > 10);
  assert.deepEqual([...new Set(client.lastBackends(10))], ["red"]);
});
