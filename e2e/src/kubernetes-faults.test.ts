import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { isLong } from "./harness/basics/effort.js";
import type { Network } from "./harness/basics/network.js";
import { testInOwnNetwork } from "./harness/basics/own-network.js";
import { peer } from "./harness/basics/peers.js";
import { here } from "./harness/basics/place.js";
import { freePort } from "./harness/basics/ports.js";
import type { Scene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { MeshServer } from "./harness/mesh/mesh-server.js";
import { PodsOfService } from "./harness/mesh/pods.js";
import {
  answeredBy,
  assertNoneFailed,
  type GrpcClient,
  type GrpcClientName,
  grpcClientCommand,
  grpcClients,
  startGrpcClient,
} from "./harness/peers/grpc-client.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";
import { eventsOf, rightsIn } from "./harness/peers/kube-objects.js";
import { startBalancer } from "./harness/traffic/balancer.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { startServe } from "./harness/xdskit/xdskit.js";

const execute = promisify(execFile);

testInOwnNetwork({
  title: "no call of a gRPC client fails while two servers of a Kubernetes cluster, and its API server, come and go",
  timeout: 300_000,
  file: import.meta.url,
  run,
});

const withinMs = 45_000;

/** Those with A61. */
const withFamilies: readonly GrpcClientName[] = ["go", "java", "python", "grpc-js"];
/** Java's has A61 only with it. */
const env = { GRPC_EXPERIMENTAL_XDS_DUALSTACK_ENDPOINTS: "true" };

async function run(t: TestContext, scene: Scene, network: Network | undefined): Promise<void> {
  const programs = apiserverPrograms(t);
  const etcdctl = peer("etcdctl", t) ?? "";
  const commands = ([...grpcClients, "tonic"] as const).map((name) => [name, grpcClientCommand(name, t)] as const);
  const isMissing = commands.some(([name, command]) => command === undefined && name !== "tonic");
  if (Object.values({ ...programs, etcdctl }).includes("") || isMissing || network === undefined) return;
  const api = await KubeApiserver.start(scene, programs);
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...rightsIn("services.yaml"));
  const cart = new PodsOfService(api, scene, network, "cart");
  await cart.add("one", "a");
  await cart.add("two", "b");
  await api.put(cart.service);
  await cart.write();

  const first = await startServer(scene, "first", api.kubeconfig("xdskit"));
  const second = await startServer(scene, "second", api.kubeconfig("xdskit", "certificate"));
  const servers = [first, second];
  const signalAll = (signal: NodeJS.Signals) => servers.map((one) => one.signal(signal));
  // As the Service of both would.
  const balanced = await startBalancer(
    scene,
    servers.map((one) => ({ address: one.grpc, isHealthy: () => one.isHealthy() })),
  );
  /** Each calls the target, but those of which it is known that they cannot. */
  const startClients = (target: string, cannot: readonly GrpcClientName[] = []) =>
    Promise.all(
      commands.flatMap(([name, command]) => {
        if (command === undefined || cannot.includes(name)) return [];
        const id = `${target.replace(/\W.*/, "")}-${name}`;
        return startGrpcClient(scene, { name, command, server: balanced, target, id, maxOwnFaults: 0, env });
      }),
    );
  const clients: GrpcClient[] = [];
  /** Each is answered by all pods, and no call of any has failed. */
  const areServed = async () => {
    const now = cart.pods.map(({ name }) => name);
    await answeredBy(clients, now, { withinMs });
    assertNoneFailed(clients);
  };
  /** A pod comes, and another one goes. */
  const replacePod = async (name: string) => {
    const [old] = cart.pods;
    assert.ok(old);
    await cart.add(name, "a");
    cart.drop(old);
    await cart.write();
  };

  const begun = await scene.step("all clients call at once", async () => {
    clients.push(...(await startClients("cart.shop:8080")));
    await areServed();
  });
  if (!begun) return;

  await scene.step("pods come, drain, go, and move to other zones", async () => {
    for (const zone of ["b", "c"]) {
      const [old] = cart.pods;
      assert.ok(old);
      await cart.add(`in-${zone}`, zone);
      old.state = "leaving";
      await cart.write();
      const others = cart.pods.filter((pod) => pod !== old);
      await answeredBy(
        clients,
        others.map(({ name }) => name),
        { withinMs },
      );
      cart.drop(old);
      await cart.write();
      old.backend.stop();
    }
    for (const pod of cart.pods) pod.zone = "d";
    await cart.write();
    await areServed();
  });

  await scene.step("a headless Service, one of another domain, and pods of IPv6 and of both families", async () => {
    const headless = new PodsOfService(api, scene, network, "headless");
    headless.pods.push(...cart.pods);
    await api.put({ ...headless.service, spec: { clusterIP: "None", ports: [{ name: "grpc", port: 8080 }] } });
    await headless.write();
    const outside = { type: "ExternalName", externalName: "localhost", ports: [{ port: 9100 }] };
    await api.put({ ...cart.service, metadata: { name: "outside", namespace: "shop" }, spec: outside });
    await startGrpcBackend(scene, "outside", "127.0.0.1:9100");
    const [six, silent] = [await network.address("IPv6"), await network.address()];
    await startGrpcBackend(scene, "six", `[${six}]:9000`);
    await api.put(...inFamilies("six", { IPv6: six }), ...inFamilies("both", { IPv4: silent, IPv6: six }));
    const pods = cart.pods.map(({ name }) => name);
    const called = await Promise.all([
      startClients("headless.shop").then((these) => ({ these, names: pods })),
      startClients("outside.shop:9100", ["go-v2", "tonic"]).then((these) => ({ these, names: ["outside"] })),
      startClients("six.shop", withFamilies).then((these) => ({ these, names: ["six"] })),
      // Nobody listens at its first address.
      startClients("both.shop", ["go-v2", "tonic"]).then((these) => ({ these, names: ["six"] })),
    ]);
    for (const { these, names } of called) {
      await answeredBy(these, names, { withinMs });
      assertNoneFailed(these);
    }
    await Promise.all(called.flatMap(({ these }) => these.map((client) => client.process.stop())));
  });

  await scene.step("etcd is compacted while nobody watches, and the API server has another certificate", async () => {
    const { metadata } = JSON.parse((await api.ask("GET", "/api/v1/services")).body);
    const before = api.authority;
    signalAll("SIGSTOP");
    await api.kill();
    await api.start();
    await replacePod("later");
    const etcd = ["--endpoints", api.etcdEndpoint];
    const { stdout } = await execute(etcdctl, [...etcd, "endpoint", "status", "-w", "json"]);
    await execute(etcdctl, [...etcd, "compact", `${JSON.parse(stdout)[0].Status.header.revision}`]);
    // It still remembers what it has seen.
    await api.kill();
    await rm(join(api.directory, "certificates"), { recursive: true });
    await api.start();
    const from = `watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
    assert.match((await api.ask("GET", `/api/v1/services?${from}`)).body, /"code":410/);
    assert.notEqual(api.authority, before);
    signalAll("SIGCONT");
    await areServed();
  });

  const endings = [
    { one: first, signal: "SIGTERM" },
    { one: second, signal: "SIGKILL" },
  ] as const;
  await scene.step("both servers end while a pod is replaced, one by SIGTERM and one by SIGKILL", async () => {
    await Promise.all(endings.map(({ one, signal }) => one.stop(signal)));
    await replacePod("without-both");
    await quiet(500);
    await Promise.all(servers.map((one) => one.start()));
    await areServed();
  });

  await scene.step("one server ends, and then the other one: the clients of each come to the other", async () => {
    for (const { one, signal } of endings) {
      await one.stop(signal);
      await replacePod(`without-${one.name}`);
      await areServed();
      await one.start();
    }
  });

  await scene.step("both servers write one Event", async () => {
    const annotations = { "xdskit.github.io/retry": "1" };
    await api.put({ ...cart.service, metadata: { ...cart.service.metadata, annotations } } as KubernetesObject);
    const isFound = async (one: MeshServer) =>
      /xdskit\.github\.io\/retry/.test(JSON.stringify(await one.ask("problems")));
    for (const one of servers) await eventually("the fault", () => isFound(one));
    await quiet(500);
    const events = ((await eventsOf(api, "shop")) ?? []).filter(({ reason }) => reason === "WrongAnnotation");
    assert.equal(events.length, 1, JSON.stringify(events));
    await areServed();
  });

  if (!isLong) return;
  await scene.step("the API server says nothing for longer than a watch waits", async () => {
    const state = async () => {
      const { sources } = await first.ask<{ sources: { name: string; state: string }[] }>("sources");
      return sources.find(({ name }) => name === "kubernetes")?.state;
    };
    api.signal("SIGSTOP");
    await eventually("it is missed", async () => (await state()) === "away", { withinMs: 60_000 });
    api.signal("SIGCONT");
    await replacePod("late");
    await areServed();
    assert.equal(await state(), "connected");
  });
}

/** A Service with one pod, which has an address in each of these families. */
function inFamilies(name: string, addresses: Readonly<Record<string, string>>): readonly KubernetesObject[] {
  const [namespace, ports] = ["shop", [{ name: "grpc", port: 9000 }]];
  const labels = { "kubernetes.io/service-name": name };
  const targetRef = { kind: "Pod", namespace, name, uid: `uid-of-${name}` };
  return [
    { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { ports } },
    ...Object.entries(addresses).map(([addressType, address]) => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      addressType,
      ports,
      metadata: { name: `${name}-${addressType.toLowerCase()}`, namespace, labels },
      endpoints: [{ addresses: [address], conditions: { ready: true }, targetRef }],
    })),
  ];
}

/** A server of the cluster, once it serves. */
async function startServer(scene: Scene, name: string, kubeconfig: string): Promise<MeshServer> {
  const args = ["--kubernetes", "--kubeconfig", kubeconfig, "--write-events"];
  const server = new MeshServer({
    name,
    place: here,
    started: undefined,
    ports: { grpc: await freePort(), admin: await freePort() },
    run: ({ grpc, admin }) => startServe(scene, undefined, { grpc, args: [...args, "--admin", admin] }),
  });
  await server.start();
  return server;
}
