import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import type { Network } from "./harness/basics/network.js";
import { testInOwnNetwork } from "./harness/basics/own-network.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import type { Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { PodsOfService } from "./harness/mesh/pods.js";
import { type GrpcClientName, grpcClientCommand, startGrpcClient } from "./harness/peers/grpc-client.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";
import { rightsIn, routeCrdsIn } from "./harness/peers/kube-objects.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { startServe } from "./harness/xdskit/xdskit.js";

const clients: readonly GrpcClientName[] = ["go", "java", "python", "grpc-js"];

testInOwnNetwork({
  title: "gRPC's clients follow the policies of a Service, also those that come from wongnai/xds with their bootstrap",
  timeout: 240_000,
  file: import.meta.url,
  run,
});

async function run(t: TestContext, scene: Scene, network: Network | undefined): Promise<void> {
  const programs = apiserverPrograms(t);
  const commands = clients.map((name) => grpcClientCommand(name, t));
  const crds = peer("kube-gateway-api", t) ?? "";
  if (Object.values({ ...programs, crds }).includes("") || commands.includes(undefined) || network === undefined)
    return;
  const api = await KubeApiserver.start(scene, programs);
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...rightsIn("services.yaml"));
  await api.put(...routeCrdsIn(crds), ...rightsIn("routes.yaml"));
  const address = await network.address();
  const pod = await startPod(scene, `${address}:9000`);
  await api.put(service({}), slice(address));
  const port = await freePort();
  const server = startServe(scene, undefined, {
    grpc: `0.0.0.0:${port}`,
    args: ["--insecure", "--kubernetes", "--kubeconfig", api.kubeconfig("xdskit"), "--state", "off", "--gateway-api"],
  });
  await server.line(/^ready$/, 60_000);
  const bootstrap = join(scene.directory, "bootstrap.json");
  await writeFile(bootstrap, JSON.stringify(ofItsPage(`127.0.0.1:${port}`)));
  const calls = commands.map((command, index) => startCalls(scene, `${clients[index]}`, command ?? [], bootstrap));
  /** Resolves once the last calls of each client ended so. */
  const ended = (how: keyof typeof endings) =>
    Promise.all(
      calls.map(({ name, lines }) => {
        const isSo = (line: string) => endings[how].test(line);
        const seen = lines.length;
        return eventually(
          `${name}: ${how}, not ${lines.at(-1)}`,
          () => lines.length >= seen + 10 && lines.slice(-10).every(isSo),
          { withinMs: 30_000 },
        );
      }),
    );

  await scene.step("they reach the pod, which fails each call that is tried once", async () => {
    await ended("UNAVAILABLE");
  });

  await scene.step("with the annotations of wongnai/xds each call is tried again", async () => {
    await api.put(
      service({
        "xds.lmwn.com/retry-status": "cancelled,unavailable",
        "xds.lmwn.com/retry-count": "5",
        "xds.lmwn.com/retry-backoff": "5ms,50ms",
      }),
    );
    await ended("ok");
    assert.match((await runXdskit(scene, "status", "--server", `127.0.0.1:${port}`)).out, / 0 rejected, /);
  });

  await scene.step("ours win over them", async () => {
    await api.put(service({ "xds.lmwn.com/retry-status": "unavailable", "xdskit.github.io/retries": "0" }));
    await ended("UNAVAILABLE");
  });

  await scene.step("a call ends at the timeout, long before the deadline of the client", async () => {
    await api.put(service({ "xdskit.github.io/timeout": "300ms" }));
    pod.isSilent = true;
    await ended("DEADLINE_EXCEEDED");
  });

  await scene.step("an HTTPRoute says the same", async () => {
    await api.put(service({}), {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "cart", namespace: "shop" },
      spec: {
        parentRefs: [{ group: "", kind: "Service", name: "cart" }],
        rules: [{ timeouts: { request: "300ms" }, backendRefs: [{ name: "cart", port: 8080 }] }],
      },
    });
    await ended("DEADLINE_EXCEEDED");
  });

  await scene.step("calls with one value of a header go to one pod, and others to all", async () => {
    const users = new PodsOfService(api, scene, network, "users");
    for (const name of ["one", "two", "three"]) await users.add(name, "a");
    const annotations = { "xdskit.github.io/lb-policy": "ring_hash", "xdskit.github.io/hash-header": "x-user" };
    await api.put({ ...users.service, metadata: { ...users.service.metadata, annotations } });
    await users.write();
    const command = commands[clients.indexOf("grpc-js")] ?? assert.fail("no client");
    const called = async (id: string, header?: string) => {
      const of = { name: "grpc-js", server: `127.0.0.1:${port}`, target: "users.shop:8080", pauseMs: 5 } as const;
      const client = await startGrpcClient(scene, { ...of, command, id, ...(header === undefined ? {} : { header }) });
      await eventually("200 answers", () => client.ok() >= 200, { withinMs: 30_000 });
      assert.deepEqual(client.failures(), []);
      return new Set(client.lastBackends(200)).size;
    };
    assert.deepEqual([await called("any"), await called("anna", "x-user=anna")], [3, 1]);
  });
}

/** How the lines of clients begin, or what they have in them. */
const endings = { ok: /^ok /, UNAVAILABLE: /it was tried once/, DEADLINE_EXCEEDED: /deadline/i } as const;

/** A pod that answers only calls that are tried again, or none at all. */
async function startPod(scene: Scene, at: string) {
  const pod = { isSilent: false };
  const server = new Server();
  const bytes = (value: Buffer): Buffer => value;
  const answer = ({ metadata }: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
    if (pod.isSilent) return;
    if (metadata.get("grpc-previous-rpc-attempts").length > 0) done(null, Buffer.from([0x0a, 1, 0x61]));
    else done({ code: status.UNAVAILABLE, details: "it was tried once" });
  };
  server.register("/xdskit.e2e.Echo/Name", answer, bytes, bytes, "unary");
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(at, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  scene.onEnd(() => server.forceShutdown());
  return pod;
}

function startCalls(scene: Scene, name: string, [command = "", ...args]: readonly string[], bootstrap: string) {
  const lines: string[] = [];
  const client = scene.start({
    name: `${name} client`,
    command,
    args: [...args, "xds:///cart.shop:8080", "20"],
    env: { GRPC_XDS_BOOTSTRAP: bootstrap },
  });
  client.onLine((line) => lines.push(line));
  return { name, lines };
}

/** The bootstrap on the page of that project, with another address. */
const ofItsPage = (address: string) => ({
  xds_servers: [{ server_uri: address, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] }],
  node: { id: "anything", locality: { zone: "k8s" } },
});

const service = (annotations: object): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "cart", namespace: "shop", annotations },
  spec: { ports: [{ name: "grpc", port: 8080, targetPort: 9000 }] },
});

const slice = (address: string): KubernetesObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  addressType: "IPv4",
  metadata: { name: "cart-1", namespace: "shop", labels: { "kubernetes.io/service-name": "cart" } },
  ports: [{ name: "grpc", port: 9000 }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
});
