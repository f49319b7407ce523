import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { contentLines, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder, type Files, type ResourceText } from "./harness/basics/config-folder.js";
import { peer, pythonWith, root } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  apiListener,
  cluster,
  configSource,
  httpListener,
  loadAssignment,
  routeConfiguration,
  typeUrl,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { writeGrpcBootstrap } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { type ClientStatus, clientStatus, statusText } from "./harness/xdskit/status.js";
import { serve } from "./harness/xdskit/xdskit.js";

const execute = promisify(execFile);

/** `cluster synced 0`, of each type. */
const brief = ({ types }: ClientStatus) => types.map(({ type, state, behind }) => `${type} ${state} ${behind}`);

/** Waits until that client is in these states. */
function becomes(server: string, id: string, expected: readonly string[]): Promise<ClientStatus> {
  return eventually(
    `${id}: ${expected.join(", ")}`,
    async () => {
      const found = (await clientStatus(server)).find((client) => client.id === id);
      if (found === undefined) throw new Error(`no ${id}`);
      assert.deepEqual(brief(found), expected);
      return found;
    },
    // Each look starts a command.
    { withinMs: 40_000, everyMs: 1_000 },
  );
}

for (const variant of ["ads-sotw", "ads-delta", "per-type-delta"] as const) {
  test(`status of an Envoy's resources and rejections, ${variant}`, { timeout: 120_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const files = (isRejected: boolean): Files => ({
      "clusters.yaml": [cluster({ name: "one", source })],
      "endpoints.yaml": [loadAssignment("one", [1])],
      "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, isRejected })],
      "routes.yaml": [routeConfiguration("routes", "one")],
    });
    const folder = await createConfigFolder(scene.directory, files(false));
    const server = await serve(scene, folder.path);
    await startEnvoy(scene, { path, server: server.grpc, variant, id: "edge-1" });
    const synced = ["cluster synced 0", "endpoint synced 0", "listener synced 0", "route synced 0"];

    await scene.step("everything is synced", async () => {
      const client = await becomes(server.grpc, "edge-1", synced);
      assert.match(client.userAgent, /^envoy 1\./);
      for (const { acknowledged, type } of client.types) assert.match(acknowledged ?? "", /^[0-9a-f]{16}$/, type);
    });

    await scene.step("a rejected listener, with Envoy's reason", async () => {
      await folder.put(files(true));
      const rejected = ["cluster synced 0", "endpoint synced 0", "listener rejected 1", "route synced 0"];
      const client = await becomes(server.grpc, "edge-1", rejected);
      const listener = client.types.find(({ type }) => type === "listener");
      assert.match(listener?.error?.details ?? "", /ingress/);
      assert.notEqual(listener?.rejected, listener?.acknowledged);
      assert.deepEqual(
        listener?.resources.map(({ name, state }) => [name, state]),
        [["ingress", "rejected"]],
      );
      assert.match(await statusText(server.grpc, "edge-1"), / {4}ingress: rejected \d+s ago: .*ingress/);
      assert.match(
        await statusText(server.grpc, "--type", "lds"),
        /^1 node: 1 rejected, .*\n.*\nedge-1 +rejected .* listener: .*\n$/,
      );
    });

    await scene.step("the fix is taken", async () => {
      await folder.put(files(false));
      await becomes(server.grpc, "edge-1", synced);
    });
  });
}

for (const language of ["go", "java"] as const) {
  test(`a gRPC client and the server report the same status, ${language}`, {
    timeout: 120_000,
  }, async (t) => {
    const csds = peer(`${language}-grpc-csds`, t);
    if (csds === undefined) return;
    const scene = await createScene(t);
    const source = configSource("ads-sotw");
    const red = await startGrpcBackend(scene, "red");
    const files = (clusterText: ResourceText): Files => ({
      "clusters.yaml": [clusterText],
      "endpoints.yaml": [loadAssignment("one", [red.port])],
      "listeners.yaml": [apiListener({ name: "greeter", routeName: "routes", source })],
      "routes.yaml": [routeConfiguration("routes", "one")],
    });
    const folder = await createConfigFolder(scene.directory, files(cluster({ name: "one", source })));
    const server = await serve(scene, folder.path);
    const bootstrap = await writeGrpcBootstrap(scene, `${language}-1`, server.grpc, "v3");
    const client = scene.start({
      name: `${language} client`,
      command: csds,
      args: ["xds:///greeter"],
      env: { GRPC_XDS_BOOTSTRAP: bootstrap },
    });
    const [, address = ""] = await client.line(/^listening on (\S+)$/);
    const both = async (...expected: readonly string[]) => [
      await becomes(server.grpc, `${language}-1`, expected),
      await becomes(address, `${language}-1`, expected),
    ];
    const versions = (status: ClientStatus | undefined) =>
      status?.types.map(({ type, acknowledged }) => [type, acknowledged]);

    await scene.step("everything is synced, at the same versions", async () => {
      const [told, own] = await both(...["cluster", "endpoint", "listener", "route"].map((type) => `${type} synced 0`));
      assert.deepEqual(versions(own), versions(told));
      assert.equal(own?.scope, "xds:///greeter");
      // It knows no matchers of nodes: what is asked for is chosen by the command.
      assert.match(
        await statusText(address, "--node", `${language}-*`, "--type", "cds"),
        new RegExp(`^${language}-1 \\(xds:///greeter\\) +synced`, "m"),
      );
      assert.match(await statusText(address, "--node", "other-*"), /^no node/);
    });

    await scene.step("a rejected cluster is shown with its reason on both sides", async () => {
      await folder.put(files(cluster({ name: "one", source, lbPolicy: "MAGLEV" })));
      const expected = ["cluster rejected 1", "endpoint synced 0", "listener synced 0", "route synced 0"];
      for (const status of await both(...expected)) {
        assert.match(status.types[0]?.error?.details ?? "", /MAGLEV/i);
        assert.notEqual(status.types[0]?.rejected, status.types[0]?.acknowledged);
      }
    });
  });
}

test("a server without the service, and one that is away, are reported", { timeout: 60_000 }, async (t) => {
  const scene = await createScene(t);
  const backend = await startGrpcBackend(scene, "red");
  const without = await refusal(`127.0.0.1:${backend.port}`);
  assert.deepEqual(without.code, 1);
  assert.match(without.stderr, /does not serve client status \(CSDS\)/);
  const nowhere = await refusal(`127.0.0.1:${await freePort()}`);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /nobody answers at 127\.0\.0\.1:\d+.*ECONNREFUSED/);
});

async function refusal(server: string): Promise<{ readonly code: unknown; readonly stderr: string }> {
  return await statusText(server).then(
    (text) => assert.fail(text),
    (error: { code: unknown; stderr: string }) => error,
  );
}

test("Python's client reads the status by reflection alone, and sees no secrets", { timeout: 120_000 }, async (t) => {
  const envoy = peer("envoy", t);
  const python = pythonWith("grpc_reflection", t);
  if (envoy === undefined || python === undefined) return;
  const scene = await createScene(t);
  const { certificate, key } = createAuthority("authority").issue("localhost");
  const tlsCertificate = { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } };
  const source = configSource("ads-delta");
  const [inline, named] = [await freePort(), await freePort()];
  const listener = (name: string, port: number, tls: Record<string, unknown>) =>
    httpListener({ name, port, routeName: "routes", source, tls: { common_tls_context: tls } });
  const folder = await createConfigFolder(scene.directory, {
    "all.yaml": [
      {
        "@type": typeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
        name: "server",
        tls_certificate: tlsCertificate,
      },
      listener("inline", inline, { tls_certificates: [tlsCertificate] }),
      listener("named", named, { tls_certificate_sds_secret_configs: [{ name: "server", sds_config: source }] }),
      cluster({ name: "one", source }),
      loadAssignment("one", [1]),
      routeConfiguration("routes", "one"),
    ],
  });
  const server = await serve(scene, folder.path);
  await startEnvoy(scene, { path: envoy, server: server.grpc, variant: "ads-delta", id: "edge-1" });
  await becomes(
    server.grpc,
    "edge-1",
    ["secret", "cluster", "endpoint", "listener", "route"].map((type) => `${type} synced 0`),
  );
  const asked = async (request: object) => await askByPython(python, server.grpc, request);
  const text = await asked({ nodeMatchers: [{ nodeId: { prefix: "edge-" } }] });
  const { config } = JSON.parse(text) as { config: { node: { id: string }; genericXdsConfigs: Generic[] }[] };
  assert.deepEqual(
    config.map(({ node, genericXdsConfigs }) => [node.id, genericXdsConfigs.length]),
    [["edge-1", 6]],
  );
  for (const { configStatus, clientStatus } of config[0]?.genericXdsConfigs ?? []) {
    assert.deepEqual([configStatus, clientStatus], ["SYNCED", "ACKED"]);
  }
  for (const line of contentLines(key)) assert.ok(!text.includes(line), "a line of the key");
  assert.equal(text.split(JSON.stringify(certificate).slice(1, -1)).length - 1, 2);
  assert.equal(text.split('"inlineString": "[redacted]"').length - 1, 2);
  const bare = await asked({ excludeResourceContents: true });
  assert.ok(!bare.includes("xdsConfig") && bare.includes('"name": "inline"'), bare);
});

interface Generic {
  readonly configStatus: string;
  readonly clientStatus: string;
}

async function askByPython(python: string, server: string, request: object): Promise<string> {
  const script = join(root, "e2e/peers/python/client_status.py");
  const { stdout } = await execute(python, [script, server, JSON.stringify(request)], {
    timeout: 50_000,
    maxBuffer: 10_000_000,
  });
  return stdout;
}
