import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Client, credentials } from "@grpc/grpc-js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import type { Network } from "./harness/basics/network.js";
import { testInOwnNetwork } from "./harness/basics/own-network.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, httpListener, listener } from "./harness/basics/resources.js";
import type { Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { PodsOfService } from "./harness/mesh/pods.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { grpcClientCommand, startGrpcClient } from "./harness/peers/grpc-client.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";
import { rightsIn, routeCrdsIn } from "./harness/peers/kube-objects.js";
import { serve } from "./harness/xdskit/xdskit.js";

testInOwnNetwork({
  title: "Envoys beside gRPC's clients get the clusters of Services, and no listener that is not for them",
  timeout: 240_000,
  file: import.meta.url,
  run,
});

const withinMs = 30_000;

async function run(t: TestContext, scene: Scene, network: Network | undefined): Promise<void> {
  const programs = apiserverPrograms(t);
  const path = peer("envoy", t) ?? "";
  const command = grpcClientCommand("go", t);
  const crds = peer("kube-gateway-api", t) ?? "";
  if (Object.values({ ...programs, path, crds }).includes("") || command === undefined || network === undefined) return;
  const api = await KubeApiserver.start(scene, programs);
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...rightsIn("services.yaml"));
  await api.put(...routeCrdsIn(crds), ...rightsIn("routes.yaml"));
  const [cart, more] = ["cart", "more"].map((name) => new PodsOfService(api, scene, network, name));
  assert.ok(cart && more);
  const one = await cart.add("one", "a");
  await api.put(cart.service);
  await cart.write();

  const port = await freePort();
  const own = (body: string) =>
    listener({ name: "own", port, routes: { route_config: { name: "r", virtual_hosts: [answering("all", body)] } } });
  const called = await freePort();
  const toPods = httpListener({
    name: "to-pods",
    port: called,
    routeName: "cart.shop:8080",
    source: configSource("ads-delta"),
  });
  const folder = await createConfigFolder(scene.directory, {
    "listeners.yaml": [own("hello")],
    "pods.yaml": [toPods],
  });
  const args = ["--kubernetes", "--kubeconfig", api.kubeconfig("xdskit"), "--gateway-api"];
  const { grpc } = await serve(scene, folder.path, { args });
  const client = await startGrpcClient(scene, { name: "go", command, server: grpc, target: "cart.shop:8080" });
  const answer = async () => (await fetch(`http://127.0.0.1:${port}`)).text();

  for (const variant of ["ads-delta", "ads-sotw"] as const) {
    const envoy = await startEnvoy(scene, { path, variant, server: grpc, id: variant });
    const endpointsOf = async (name: string) => (await envoy.admin.endpoints()).get(name);
    await scene.step(`${variant}: an Envoy gets its listener, and the clusters of Services`, async () => {
      assert.deepEqual([...(await envoy.admin.activeListeners()).keys()].sort(), ["own", "to-pods"]);
      assert.deepEqual(await endpointsOf("cart.shop:8080"), [`${one.address}:9000`]);
      assert.equal(await answer(), "hello");
    });
    await scene.step(
      `${variant}: a call of gRPC through it is answered by a pod, with the header of a route`,
      async () => {
        await eventually("an answer", () => answerTo(called), { withinMs });
        await api.put(routeWith(variant));
        await eventually("the route's header", async () => (await answerTo(called)) === variant, { withinMs });
      },
    );
    await scene.step(`${variant}: a Service comes, a listener changes, and a Service goes`, async () => {
      await api.put(more.service);
      await eventually("its cluster", async () => (await endpointsOf("more.shop:8080")) !== undefined, { withinMs });
      await folder.put({ "listeners.yaml": [own(variant)] });
      await eventually("the new listener", async () => (await answer()) === variant, { withinMs });
      await api.remove(more.service);
      await eventually("no cluster", async () => (await endpointsOf("more.shop:8080")) === undefined, { withinMs });
      await folder.put({ "listeners.yaml": [own("hello")] });
      await eventually("the first listener", async () => (await answer()) === "hello", { withinMs });
    });
    await scene.step(`${variant}: Envoy logs no warning about listeners`, async () => {
      const { stdout, stderr } = envoy.process;
      assert.deepEqual(
        [...stdout, ...stderr].filter((line) => /ApiListener|api_listener/i.test(line)),
        [],
      );
      assert.deepEqual([client.lastBackends(5), client.failures()], [Array(5).fill("one"), []]);
    });
    await envoy.process.stop();
  }
}

/** Each answer gets this header. */
const routeWith = (value: string): KubernetesObject => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "GRPCRoute",
  metadata: { name: "cart", namespace: "shop" },
  spec: {
    parentRefs: [{ group: "", kind: "Service", name: "cart" }],
    rules: [
      {
        filters: [{ type: "ResponseHeaderModifier", responseHeaderModifier: { set: [{ name: "x-route", value }] } }],
        backendRefs: [{ name: "cart", port: 8080 }],
      },
    ],
  },
});

/** The header of an answer of gRPC there, or "none". */
async function answerTo(port: number): Promise<string> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const bytes = (value: Buffer): Buffer => value;
  let header = "none";
  try {
    return await new Promise((resolve, reject) => {
      client
        .makeUnaryRequest("/xdskit.e2e.Echo/Name", bytes, bytes, Buffer.alloc(0), (error) =>
          error ? reject(error) : resolve(header),
        )
        .on("metadata", (metadata) => {
          header = `${metadata.get("x-route")[0] ?? header}`;
        });
    });
  } finally {
    client.close();
  }
}
