import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { metric } from "./harness/basics/metrics.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import type { Network } from "./harness/basics/network.js";
import { testInOwnNetwork } from "./harness/basics/own-network.js";
import { peer } from "./harness/basics/peers.js";
import type { Scene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { PodsOfService } from "./harness/mesh/pods.js";
import {
  answeredBy,
  assertNoneFailed,
  type GrpcClient,
  type GrpcClientName,
  grpcClientCommand,
  startGrpcClient,
} from "./harness/peers/grpc-client.js";
import { apiserverPrograms, KubeApiserver, type KubernetesObject } from "./harness/peers/kube-apiserver.js";
import { eventsOf, rightsIn, routeCrdsIn } from "./harness/peers/kube-objects.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve } from "./harness/xdskit/xdskit.js";

const execute = promisify(execFile);

/** Each calls the Service by another of its names. */
const targets: Readonly<Partial<Record<GrpcClientName, string>>> = {
  go: "cart.shop:8080",
  java: "cart.shop.svc:grpc",
  python: "cart.shop.svc.cluster.local:8080",
  "grpc-js": "cart.shop",
};

const eventToPublish = "xdskit_event_to_publish_seconds_count";

/** Of the clients. */
const inZoneA = ["--locality", "/a"];

testInOwnNetwork({
  title: "gRPC's clients call Services of Kubernetes while pods come, go and drain, and the API server does too",
  timeout: 480_000,
  file: import.meta.url,
  run,
});

async function run(t: TestContext, scene: Scene, network: Network | undefined): Promise<void> {
  const programs = apiserverPrograms(t);
  const [crds, judge] = [peer("kube-gateway-api", t) ?? "", peer("kube-route-judge", t) ?? ""];
  if (Object.values({ ...programs, crds, judge }).includes("") || network === undefined) return;
  const api = await KubeApiserver.start(scene, programs);
  await api.put(...routeCrdsIn(crds));
  await api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await api.put(...rightsIn("services.yaml"), ...rightsIn("routes.yaml"));
  const cart = new PodsOfService(api, scene, network, "cart");
  await cart.add("one", "a");
  await cart.add("two", "b");
  await api.put(cart.service);
  await cart.write();

  const ofCluster = ["--kubernetes", "--kubeconfig", api.kubeconfig("xdskit")];
  const serving = await serve(scene, undefined, { args: [...ofCluster, "--write-events", "--gateway-api"] });
  const { grpc, admin, process: server } = serving;
  const xdskit = (...args: readonly string[]) => runXdskit(scene, ...args, "--server", grpc);
  const clients: GrpcClient[] = [];
  for (const [name, target] of Object.entries(targets) as [GrpcClientName, string][]) {
    const command = grpcClientCommand(name, t);
    if (command !== undefined)
      clients.push(await startGrpcClient(scene, { name, command, server: grpc, target, bootstrapArgs: inZoneA }));
  }
  /** Resolves once each client is answered by all of these, and by nobody else. */
  const answered = (...names: readonly string[]) => answeredBy(clients, names, { withinMs: 30_000 });
  const noneFailed = () => assertNoneFailed(clients);
  const source = async () => {
    const { sources } = (await (await fetch(`http://${admin}/api/v1/sources`)).json()) as {
      readonly sources: readonly Readonly<Record<"name" | "state" | "asOf" | "lastApplied", string>>[];
    };
    return sources.find(({ name }) => name === "kubernetes") ?? assert.fail("no such source");
  };

  const begun = await scene.step("each client calls all pods, by another name of the Service", async () => {
    await answered("one", "two");
    noneFailed();
  });
  if (!begun) return;

  await scene.step("what leaves the content as it was changes nothing for clients", async () => {
    const { lastApplied } = await source();
    cart.pods.reverse();
    await cart.write();
    await api.put({ ...cart.service, metadata: { ...cart.service.metadata, labels: { new: "label" } } });
    await quiet(1_000);
    assert.equal((await source()).lastApplied, lastApplied);
    // What was there at the start, and this, was no event that changed something.
    assert.equal(await metric(admin, eventToPublish), 0);
  });

  await scene.step("pods are replaced one after the other, and move to other zones", async () => {
    for (let round = 0; round < 6; round += 1) {
      const [old] = cart.pods;
      assert.ok(old);
      const fresh = await cart.add(`round-${round}`, "abc".charAt(round % 3));
      fresh.state = "starting";
      await cart.write();
      fresh.state = "ready";
      await cart.write();
      await eventually("a new pod is called", () => clients.every((one) => one.lastBackends(20).includes(fresh.name)), {
        withinMs: 30_000,
      });
      old.state = "leaving";
      await cart.write();
      await answered(...cart.pods.filter(({ state }) => state === "ready").map(({ name }) => name));
      cart.drop(old);
      await cart.write();
      old.backend.stop();
    }
    for (const pod of cart.pods) pod.zone = "d";
    await cart.write();
    await answered(...cart.pods.map(({ name }) => name));
    assert.ok((await metric(admin, eventToPublish)) > 6);
    noneFailed();
  });

  await scene.step("pods that end answer while there is no other one", async () => {
    for (const pod of cart.pods) pod.state = "leaving";
    await cart.write();
    await quiet(500);
    await answered(...cart.pods.map(({ name }) => name));
    for (const pod of cart.pods) pod.state = "ready";
    await cart.write();
    noneFailed();
  });

  const annotated = (annotations: object) => ({
    ...cart.service,
    metadata: { ...cart.service.metadata, annotations },
  });

  await scene.step(
    "pods of the client's zone are called first if hints or the Service want that, and others if there is none",
    async () => {
      const near = await cart.add("near", "a");
      const far = cart.pods.filter((pod) => pod !== near).map(({ name }) => name);
      await cart.write();
      await answered(near.name, ...far);
      for (const pod of cart.pods) pod.hint = pod === near ? "a" : "b";
      await cart.write();
      await answered(near.name);
      for (const pod of cart.pods) pod.hint = undefined;
      await cart.write();
      await answered(near.name, ...far);
      const wish = {
        ...cart.service,
        spec: { ...(cart.service.spec as object), trafficDistribution: "PreferSameZone" },
      };
      await api.put(wish);
      await answered(near.name);
      assert.match((await xdskit("status")).out, / 0 rejected, /);
      near.state = "leaving";
      await cart.write();
      await answered(...far);
      near.state = "ready";
      await cart.write();
      await answered(near.name);
      // The same by annotation.
      await api.ask("PUT", "/api/v1/namespaces/shop/services/cart", await withoutWish(api));
      await answered(near.name, ...far);
      await api.put(annotated({ "xdskit.github.io/locality-failover": "zone" }));
      await answered(near.name);
      await api.put({
        ...cart.service,
        spec: { ...(cart.service.spec as object), trafficDistribution: "PreferSameNode" },
      });
      cart.drop(near);
      await cart.write();
      await answered(...far);
      near.backend.stop();
      // Without the field, as kubectl edit would write it.
      await api.ask("PUT", "/api/v1/namespaces/shop/services/cart", await withoutWish(api));
      noneFailed();
    },
  );

  await scene.step("policies by annotation are taken by each client, and a wrong one is told", async () => {
    const policy = {
      "lb-policy": "ring_hash",
      timeout: "20s",
      retries: "2",
      "retry-backoff": "25ms,250ms",
      "max-requests": "100",
    };
    const own = Object.entries(policy).map(([name, value]) => [`xdskit.github.io/${name}`, value]);
    await api.put(annotated({ ...Object.fromEntries(own), "xdskit.github.io/retry": "1" }));
    await eventually("the policy", async () => {
      const { out } = await xdskit("get", "--type", "cluster", "--output", "jsonl", "cart.shop:8080");
      return out.includes("RING_HASH");
    });
    await quiet(1_000);
    await answered(...cart.pods.map(({ name }) => name));
    assert.match((await xdskit("status")).out, / 0 rejected, /);
    const problems = await (await fetch(`http://${admin}/api/v1/problems`)).text();
    assert.match(problems, /xdskit\.github\.io\/retry: there is no such annotation/);
    assert.match(problems, /Service shop\/cart/);
    assert.doesNotMatch(problems, /no Event can be written/);
    const [event] = await eventually("an Event", () => eventsOf(api, "shop"), { withinMs: 10_000 });
    assert.match(event?.message ?? "", /^xdskit\.github\.io\/retry: there is no such annotation/);
    assert.deepEqual([event?.reason, event?.type], ["WrongAnnotation", "Warning"]);
    // As kubectl describe looks for it.
    const { uid } = JSON.parse((await api.ask("GET", "/api/v1/namespaces/shop/services/cart")).body).metadata;
    assert.deepEqual([event?.involvedObject.kind, event?.involvedObject.uid], ["Service", uid]);
    await api.put(annotated({}));
    noneFailed();
  });

  await routeSteps(scene, api, {
    network,
    cart,
    answered,
    noneFailed,
    judge,
    /** A client more, whose calls have a header. */
    async marked(header) {
      const command = grpcClientCommand("grpc-js", t) ?? assert.fail("no client");
      const own = { name: "grpc-js", command, server: grpc, target: "cart.shop:8080", id: "marked", header } as const;
      return await startGrpcClient(scene, own);
    },
  });

  await scene.step(
    "a Service without pods has an empty load assignment, and a name that is not there is answered at once",
    async () => {
      const began = performance.now();
      const { status } = await xdskit("get", "--type", "listener", "nothing.shop:80");
      assert.equal(status, 1);
      assert.ok(performance.now() - began < 10_000);
      const other = new PodsOfService(api, scene, network, "other");
      await api.put(other.service);
      await eventually("an empty load assignment", async () => {
        const { out } = await xdskit("get", "--type", "endpoint", "--output", "jsonl", "other.shop:8080");
        const found = out.split("\n").find((line) => line.includes('"upsert"'));
        assert.ok(found, out);
        const { "@type": _, ...content } = JSON.parse(found).resource;
        assert.deepEqual(content, { clusterName: "other.shop:8080" });
        return true;
      });
      await api.remove(other.service);
      await eventually("it is gone", async () => {
        return (await xdskit("get", "--type", "endpoint", "other.shop:8080")).status === 1;
      });
      noneFailed();
    },
  );

  await scene.step("the API server is killed: clients go on, and the status says of when the picture is", async () => {
    await api.kill();
    await eventually("it is missed", async () => (await source()).state === "away", { withinMs: 30_000 });
    assert.equal(await metric(admin, "xdskit_source_away", { source: "kubernetes" }), 1);
    const { asOf } = await source();
    assert.match((await xdskit("status")).out, /kubernetes .*does not answer: ECONNREFUSED; what is served is of 20/);
    await quiet(1_000);
    assert.equal((await source()).asOf, asOf);
    await answered(...cart.pods.map(({ name }) => name));
    noneFailed();
  });

  await scene.step("it is back, has forgotten the past, and what changed meanwhile is found", async () => {
    const [old, ...others] = cart.pods;
    assert.ok(old);
    // The server comes to it only after the change.
    process.kill(server.pid, "SIGSTOP");
    await api.start();
    cart.drop(old);
    await cart.write();
    process.kill(server.pid, "SIGCONT");
    await eventually("it is connected", async () => (await source()).state === "connected", { withinMs: 40_000 });
    assert.doesNotMatch((await xdskit("status")).out, /kubernetes/);
    assert.equal(await metric(admin, "xdskit_source_away", { source: "kubernetes" }), 0);
    await answered(...others.map(({ name }) => name));
    noneFailed();
  });

  await scene.step("it stops and says nothing for some time, and goes on", async () => {
    api.signal("SIGSTOP");
    await answered(...cart.pods.map(({ name }) => name));
    api.signal("SIGCONT");
    const late = await cart.add("late", "a");
    await cart.write();
    await answered(...cart.pods.map(({ name }) => name));
    assert.ok(cart.pods.includes(late));
    noneFailed();
  });

  await scene.step("a pod proves by its token which namespace and account it has, and is no other node", async () => {
    const { put, putPair } = movedFiles(scene.directory);
    const authority = createAuthority("of servers");
    await putPair("server", authority.issue("server", "IP:127.0.0.1"));
    await put("keys.json", (await api.ask("GET", "/openid/v1/jwks")).body);
    const settings = ["--settings", await put("xdskit.yaml", provedByToken)];
    const issued = authority.issue("cart", "DNS:cart");
    await api.put(...rightsIn("secrets.yaml"), {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/tls",
      metadata: { name: "cart-tls", namespace: "shop", labels: { serve: "true" } },
      stringData: { "tls.crt": issued.certificate, "tls.key": issued.key },
    });
    const { grpc: address } = await serve(scene, undefined, {
      args: [...ofCluster, ...settings, "--state", "off", "--namespace", "shop", "--tls-secrets", "serve=true"],
    });
    await api.put({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "web", namespace: "shop" } });
    const ca = await put("servers.pem", authority.certificate);
    const name = "cart.shop:8080";
    const asking = async (audience: string, node: string) => {
      const token = await put("token", await api.token("shop", "web", audience));
      const proof = ["--tls-ca", ca, "--token-file", token, "--node-id", node];
      return await runXdskit(scene, "get", "--server", address, ...proof, "--type", "endpoint", "-o", "name", name);
    };
    assert.match((await asking("xdskit", "web.shop.1")).out, /endpoint\/cart\.shop:8080/);
    for (const refused of [await asking("xdskit", "web.bank.1"), await asking("another", "web.shop.1")])
      assert.match(refused.err, /PERMISSION_DENIED/i);
    const token = await put("token", await api.token("shop", "web", "xdskit"));
    const bootstrapArgs = ["--tls-ca", ca, "--token-file", token];
    const secret = ["--node-id", "web.shop.1", "--type", "secret", "-o", "name", "shop/cart-tls"];
    const held = await runXdskit(scene, "get", "--server", address, ...bootstrapArgs, ...secret);
    assert.match(held.out, /secret\/shop\/cart-tls/, held.err);
    const command = grpcClientCommand("go", t);
    if (command === undefined) return;
    const client = await startGrpcClient(scene, {
      name: "go",
      command,
      server: address,
      target: "cart.shop",
      id: "web.shop.2",
      bootstrapArgs,
    });
    await eventually("an answer", () => client.ok() > 0, { withinMs: 30_000 });
    assert.deepEqual(client.failures(), []);
  });
}

/** What the steps with routes need. */
interface RouteScene {
  readonly network: Network;
  /** The program that checks statuses. */
  readonly judge: string;
  readonly cart: PodsOfService;
  /** Resolves once each client is answered by all of these, and by nobody else. */
  answered(...names: readonly string[]): Promise<unknown>;
  noneFailed(): void;
  marked(header: string): Promise<GrpcClient>;
}

async function routeSteps(scene: Scene, api: KubeApiserver, all: RouteScene): Promise<void> {
  const { cart, answered, noneFailed } = all;
  const canary = new PodsOfService(api, scene, all.network, "canary");
  const ofCart = () => cart.pods.map(({ name }) => name);
  const routed = (rules: readonly object[], kind = "GRPCRoute") => routeOf(kind, rules);
  const to = (name: string, weight: number) => ({ name, port: 8080, weight });
  const shares = (ofCanary: number) => ({ backendRefs: [to("cart", 100 - ofCanary), to("canary", ofCanary)] });

  await scene.step("a GRPCRoute splits calls, and no call fails while its weights change", async () => {
    await api.put(routed([{ backendRefs: [to("cart", 1), to("later", 0)] }]));
    const [, { reason } = { reason: "" }] = await conditionsOf(api, routed([]), "BackendNotFound");
    assert.equal(reason, "BackendNotFound");
    await canary.add("canary", "a");
    // From its start: a call of Java's client may never end if this comes or goes while it is open.
    const annotations = { "xdskit.github.io/eject-failing": "90%" };
    await api.put({ ...canary.service, metadata: { ...canary.service.metadata, annotations } } as KubernetesObject);
    await canary.write();
    await api.put(routed([shares(50)]));
    await answered(...ofCart(), "canary");
    const [accepted, resolved] = await conditionsOf(api, routed([]), "ResolvedRefs");
    assert.deepEqual([accepted?.type, accepted?.status, resolved?.status], ["Accepted", "True", "True"]);
    for (let share = 0; share <= 100; share += 10) {
      await api.put(routed([shares(share)]));
      await quiet(100);
    }
    await answered("canary");
    noneFailed();
  });

  await scene.step("calls go by method and header, and what other controllers say in the status stays", async () => {
    const other = { controllerName: "mesh.example/m", parentRef: { name: "other" }, conditions: [aCondition] };
    const read = await api.get<RouteRead>(routed([]));
    await api.putStatus({ ...read, status: { parents: [...read.status.parents, other] } } as KubernetesObject);
    const beta = { headers: [{ name: "X-Tier", value: "beta" }] };
    const rules = [
      { matches: [{ method: { service: "xdskit.e2e.Other" } }], backendRefs: [to("nobody", 1)] },
      { matches: [{ method: { service: "xdskit.e2e.Echo" }, ...beta }], backendRefs: [to("canary", 1)] },
      { matches: [{ method: { service: "xdskit.e2e.Echo", method: "Name" } }], backendRefs: [to("cart", 1)] },
    ];
    await api.put(routed(rules));
    await answered(...ofCart());
    // The longer name of a method came before the header.
    await api.put(routed([...rules.slice(0, 2), { backendRefs: [to("cart", 1)] }]));
    const marked = await all.marked("x-tier=beta");
    await eventually("an answer", () => marked.ok() >= 10, { withinMs: 30_000 });
    assert.deepEqual(new Set(marked.lastBackends(10)), new Set(["canary"]));
    await answered(...ofCart());
    assert.deepEqual(marked.failures(), []);
    await marked.process.stop();
    const { status } = await api.get<RouteRead>(routed([]));
    assert.deepEqual(status.parents.map(({ controllerName }) => controllerName).sort(), [
      ...["mesh.example/m", "xdskit.github.io/xdskit"],
    ]);
    noneFailed();
  });

  await scene.step(
    "the status has the words of clients that reject a route, which change nothing for them",
    async () => {
      // Only some of gRPC's clients know this expression.
      const odd = {
        matches: [{ headers: [{ type: "RegularExpression", name: "x-odd", value: "\\C" }] }],
        ...shares(100),
      };
      await api.put(routed([odd, { backendRefs: [to("cart", 1)] }]));
      const conditions = await conditionsOf(api, routed([]), "RejectedByClient");
      const { message = "" } = conditions.find(({ reason }) => reason === "RejectedByClient") ?? {};
      assert.match(message, /^the client client-\S+ rejected what was made of it: .*C/);
      await answered(...ofCart());
      await api.put(routed([shares(100)]));
      await answered("canary");
      assert.equal((await conditionsOf(api, routed([]), "ResolvedRefs")).length, 2);
      noneFailed();
    },
  );

  await scene.step("an HTTPRoute gives way to a GRPCRoute, and counts without one, until it is gone, too", async () => {
    const http = [
      { matches: [{ path: { type: "PathPrefix", value: "/xdskit.e2e.Echo" } }], backendRefs: [to("cart", 1)] },
    ];
    await api.put(routed(http, "HTTPRoute"));
    const [refused] = await conditionsOf(api, routed([], "HTTPRoute"), "Conflicted");
    assert.deepEqual([refused?.type, refused?.status], ["Accepted", "False"]);
    await answered("canary");
    await api.remove(routed([]));
    await answered(...ofCart());
    await conditionsOf(api, routed([], "HTTPRoute"), "Accepted");
    await api.put(routed([{ ...http[0], backendRefs: [to("canary", 1)] }], "HTTPRoute"));
    await answered("canary");
    await api.remove(routed([], "HTTPRoute"));
    await answered(...ofCart());
    noneFailed();
  });

  await scene.step("the status is what the conformance tests of the Gateway API want", async () => {
    const env = { ...process.env, KUBECONFIG: api.kubeconfig("admin") };
    // It has the reason of a failure on its standard output.
    const judged = await execute(all.judge, ["-test.v"], { env, maxBuffer: 2 ** 26, timeout: 120_000 }).catch(
      (error: { readonly stdout: string }) => error,
    );
    const failed = judged.stdout.split("\n").filter((line) => /^ +--- (?!PASS)|Error:|^panic/.test(line));
    assert.deepEqual([failed, /^PASS$/m.test(judged.stdout)], [[], true], judged.stdout.slice(-4_000));
    noneFailed();
  });
}

const aCondition = {
  type: "Accepted",
  status: "True",
  reason: "Accepted",
  message: "",
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

interface RouteRead extends KubernetesObject {
  readonly metadata: KubernetesObject["metadata"] & { readonly generation: number };
  readonly status: { readonly parents: readonly ParentRead[] };
}

interface ParentRead {
  readonly controllerName: string;
  readonly conditions: readonly (typeof aCondition)[];
}

function routeOf(kind: string, rules: readonly object[]): KubernetesObject {
  const parentRefs = [{ group: "", kind: "Service", name: "cart", port: 8080 }];
  const metadata = { name: "cart", namespace: "shop" };
  return { apiVersion: "gateway.networking.k8s.io/v1", kind, metadata, spec: { parentRefs, rules } };
}

/** Our conditions of a route, once one has this reason, and all are about the route as it is. */
async function conditionsOf(
  api: KubeApiserver,
  route: KubernetesObject,
  reason: string,
): Promise<ParentRead["conditions"]> {
  return await eventually(
    `${reason} in the status`,
    async () => {
      const { metadata, status } = await api.get<RouteRead>(route);
      const own = status?.parents?.find(({ controllerName }) => controllerName === "xdskit.github.io/xdskit");
      const isDone =
        own?.conditions.some((one) => one.reason === reason) === true &&
        own.conditions.every(({ observedGeneration }) => observedGeneration === metadata.generation);
      return isDone ? own.conditions : undefined;
    },
    { withinMs: 15_000 },
  );
}

/** The Service as it is, without a wish about zones. */
async function withoutWish(api: KubeApiserver): Promise<object> {
  const service = JSON.parse((await api.ask("GET", "/api/v1/namespaces/shop/services/cart")).body);
  return { ...service, spec: { ...service.spec, trafficDistribution: undefined } };
}

/** As docs/kubernetes.md has it. */
const provedByToken = `
tls: { cert: server.pem, key: server.key }
identities:
  - when:
      jwt:
        issuer: https://kubernetes.default.svc
        audience: xdskit
        jwks: keys.json
        claims: { sub: "system:serviceaccount:{ns}:{sa}" }
    node: { id: "{sa}.{ns}.*" }
    secrets: true
`;
