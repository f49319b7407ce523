import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { LayerUpdate } from "@xdskit/server";
import { waitFor, within } from "../../server/src/testing/basics/wait-for.js";
import { RecordingSink } from "../../server/src/testing/recording-sink.js";
import type { KubernetesConnection } from "./connection/connection.js";
import { createKubernetesSource, type KubernetesSourceOptions, kubernetesLayer } from "./kubernetes-source.js";
import { type Asked, spokenServer } from "./testing/spoken-server.js";

const all = {
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } },
};
const event = (type: string, object: unknown) => ({ type, object });
const service = (name: string, spec: unknown = { ports: [{ port: 80 }] }) => ({
  metadata: { namespace: "shop", name },
  spec,
});
const slice = (name: string, of: string, ...addresses: readonly string[]) => ({
  metadata: { namespace: "shop", name, labels: { "kubernetes.io/service-name": of } },
  addressType: "IPv4",
  ports: [{ port: 9000 }],
  endpoints: addresses.map((address) => ({ addresses: [address] })),
});

/** A source whose two watches the test answers. */
async function watched(t: TestContext, options: Partial<KubernetesSourceOptions> = {}, sink = new RecordingSink()) {
  const server = await spokenServer(t);
  const source = createKubernetesSource({ connection: server.connection, ...options });
  t.after(() => source.close());
  const started = source.start(sink);
  started.catch(() => {});
  const asked = [await server.asked(), await server.asked()];
  const of = (ending: string) => asked.find(({ path }) => path.endsWith(ending)) ?? assert.fail(ending);
  return { server, source, sink, started, services: of("/services"), slices: of("/endpointslices") };
}

const ofCart = ["cluster", "endpoint", "route"].map((type) => `${type} cart.shop:80`);
const held = (sink: RecordingSink) => sink.resources(kubernetesLayer).filter((key) => !key.startsWith("listener"));

function said(watch: Asked, ...events: readonly object[]): void {
  for (const each of events) watch.say(each);
}

describe("a source of Kubernetes", () => {
  it("applies nothing before it has read all, and then all of it in one step", async (t) => {
    const { source, sink, started, services, slices } = await watched(t);
    said(services, event("ADDED", service("cart")), all);
    said(slices, event("ADDED", slice("cart-1", "cart", "10.0.0.1")));
    await delay(200);
    assert.equal(sink.applied.length, 0);
    assert.equal(source.status().state, "pending");
    slices.say(all);
    await within("the start", started);
    assert.equal(sink.applied.length, 1);
    assert.equal(sink.applied[0]?.[0]?.kind, "replace");
    assert.deepEqual(held(sink), ofCart);
    assert.deepEqual(sink.errors, []);
    const { state, asOf, services: count } = source.status();
    assert.deepEqual([state, count, (asOf?.getTime() ?? 0) > Date.now() - 60_000], ["connected", 1, true]);
    const [cluster] = sink.applied[0]?.[0]?.upsert ?? [];
    assert.ok(cluster);
    assert.deepEqual(source.whereIs?.(kubernetesLayer, cluster), { file: "Service shop/cart" });
    assert.equal(source.whereIs?.("other", cluster), undefined);
  });

  it("makes one change of a burst of slices, and none of what is equal", async (t) => {
    const { sink, started, services, slices } = await watched(t, { settleMs: 300 });
    said(services, event("ADDED", service("cart")), event("ADDED", service("other")), all);
    said(slices, all);
    await within("the start", started);
    said(slices, ...[1, 2, 3].map((n) => event("ADDED", slice(`cart-${n}`, "cart", `10.0.0.${n}`))));
    await sink.untilApplied(2);
    assert.deepEqual(
      sink.applied[1]?.[0]?.upsert.map(({ name }) => name),
      ["cart.shop:80"],
    );
    // The same pods in other slices.
    said(slices, event("MODIFIED", slice("cart-1", "cart", "10.0.0.2", "10.0.0.1")));
    said(slices, event("DELETED", slice("cart-2", "cart", "10.0.0.2")));
    await delay(500);
    assert.equal(sink.applied.length, 2);
    const begun = performance.now();
    said(services, event("DELETED", service("cart")));
    await sink.untilApplied(3);
    // Not from what changed nothing.
    assert.ok((sink.delays[1] ?? Number.NaN) <= performance.now() - begun);
    assert.equal(held(sink).filter((key) => key.includes("cart")).length, 0);
    assert.equal(held(sink).length, 3);
  });

  it("brings a change at once after a quiet time, and what comes soon after it together", async (t) => {
    const settleMs = 2_000;
    const { sink, started, services, slices } = await watched(t, { settleMs });
    said(services, event("ADDED", service("cart")), all);
    said(slices, all);
    await within("the start", started);
    await delay(settleMs);
    const begun = performance.now();
    said(slices, event("ADDED", slice("cart-1", "cart", "10.0.0.1")));
    await sink.untilApplied(2);
    const elapsed = performance.now() - begun;
    assert.ok(elapsed < settleMs / 2, "a lone change waits");
    assert.equal(sink.delays.length, 1);
    assert.ok((sink.delays[0] ?? Number.NaN) <= elapsed);
    for (const n of [2, 3]) {
      said(slices, event("ADDED", slice(`cart-${n}`, "cart", `10.0.0.${n}`)));
      await delay(50);
    }
    assert.equal(sink.applied.length, 2);
    await sink.untilApplied(3);
    await delay(50);
    assert.equal(sink.applied.length, 3);
    // Of the first of both.
    assert.equal(sink.delays.length, 2);
    assert.ok((sink.delays[1] ?? 0) > settleMs / 2);
  });

  it("watches each namespace that it is given, with the labels of Services", async (t) => {
    const server = await spokenServer(t);
    const source = createKubernetesSource({
      connection: server.connection,
      namespaces: ["a", "b"],
      selector: "tier in (front,back)",
    });
    t.after(() => source.close());
    source.start(new RecordingSink()).catch(() => {});
    const asked = [await server.asked(), await server.asked(), await server.asked(), await server.asked()];
    assert.deepEqual(asked.map(({ path, query }) => `${path} ${query.get("labelSelector")}`).sort(), [
      "/api/v1/namespaces/a/services tier in (front,back)",
      "/api/v1/namespaces/b/services tier in (front,back)",
      "/apis/discovery.k8s.io/v1/namespaces/a/endpointslices kubernetes.io/service-name",
      "/apis/discovery.k8s.io/v1/namespaces/b/endpointslices kubernetes.io/service-name",
    ]);
  });

  it("serves all others if an object is none that an API server writes", async (t) => {
    const { sink, started, services, slices } = await watched(t);
    const odd = [5, null, "x", [], { ports: 5 }, { ports: [5] }, { ports: [null] }, { ports: [{ port: "x" }] }];
    said(
      services,
      ...odd.map((spec, n) => event("ADDED", service(`odd-${n}`, spec))),
      event("ADDED", service("cart")),
      all,
    );
    const endpoints = [5, null, [5], [null], [{ addresses: 5 }], [{ addresses: [5] }], [{ addresses: ["x"], zone: 5 }]];
    said(
      slices,
      ...endpoints.map((each, n) => event("ADDED", { ...slice(`odd-${n}`, "cart"), endpoints: each })),
      event("ADDED", slice("cart-1", "cart", "10.0.0.1")),
      all,
    );
    await within("the start", started);
    assert.ok(ofCart.every((key) => sink.resource(key, kubernetesLayer) !== undefined || key.startsWith("endpoint")));
    said(services, event("ADDED", service("next")));
    await sink.until("the next Service", () => sink.resource("cluster next.shop:80", kubernetesLayer) !== undefined);
  });

  it("brings everything after a change that was refused", async (t) => {
    let isRefusing = false;
    class Refusing extends RecordingSink {
      override apply(updates: readonly LayerUpdate[]): void {
        if (isRefusing) throw new Error("refused");
        super.apply(updates);
      }
    }
    const { sink, started, source, services, slices } = await watched(t, {}, new Refusing());
    said(services, event("ADDED", service("cart")), all);
    said(slices, all);
    await within("the start", started);
    isRefusing = true;
    said(services, event("ADDED", service("second")));
    await waitFor("a refusal", () => source.status().lastError?.message === "refused");
    isRefusing = false;
    said(services, event("ADDED", service("third")));
    await sink.untilApplied(2);
    assert.equal(sink.applied[1]?.[0]?.kind, "replace");
    assert.equal(held(sink).length, 9);
  });

  it("rejects its start if the server refuses what it has, or it is closed before", async (t) => {
    class Refusing extends RecordingSink {
      override apply(): void {
        throw new Error("refused");
      }
    }
    const first = await watched(t, {}, new Refusing());
    for (const watch of [first.services, first.slices]) said(watch, all);
    await assert.rejects(within("the start", first.started), /refused/);
    const second = await watched(t);
    await second.source.close();
    await assert.rejects(second.started, /closed/);
  });

  it("ends its watches when it is closed, says so once, and applies nothing afterwards", async (t) => {
    let ended = 0;
    class Counting extends RecordingSink {
      ended(): void {
        ended += 1;
      }
    }
    const { source, sink, started, services, slices } = await watched(t, {}, new Counting());
    for (const watch of [services, slices]) said(watch, all);
    await within("the start", started);
    said(services, event("ADDED", service("cart")));
    await Promise.all([source.close(), source.close()]);
    await waitFor("the end of the watches", () => services.isClosed && slices.isClosed);
    await delay(200);
    assert.equal(ended, 1);
    assert.ok(sink.applied.length <= 2);
  });

  it("says since when it is not told what is new, and goes on", async (t) => {
    const { server, source, sink, started, services, slices } = await watched(t);
    for (const watch of [services, slices]) said(watch, all);
    await within("the start", started);
    services.end();
    (await server.asked()).end(500, { message: "broken" });
    await waitFor("an error", () => sink.errors.length > 0);
    assert.match(sink.errors[0] ?? "", /refuses: broken; what is served is of 20\d\d-\S+Z \[XDSKIT_KUBERNETES\]$/);
    assert.equal(source.status().state, "away");
    const again = await server.asked();
    assert.equal(again.query.get("resourceVersion"), "1");
    again.say(event("ADDED", service("cart")));
    await sink.until("the Service", () => held(sink).length === 3);
    assert.deepEqual(sink.errors, []);
    assert.equal(source.status().state, "connected");
  });

  it("closes at once, though nobody says yet what it is to prove", async () => {
    let asked = 0;
    const connection: KubernetesConnection = {
      server: new URL("https://127.0.0.1:1"),
      namespace: undefined,
      serverName: undefined,
      isChecked: true,
      from: "the test",
      refused() {},
      credentials() {
        asked++;
        return new Promise(() => {});
      },
    };
    const source = createKubernetesSource({ connection });
    source.start(new RecordingSink()).catch(() => {});
    await waitFor("both watches", () => asked === 2);
    await within("the end", source.close());
  });

  it("follows routes, and writes their status", async (t) => {
    const server = await spokenServer(t);
    const sink = new RecordingSink();
    const source = createKubernetesSource({ connection: server.connection, gatewayApi: true });
    t.after(() => source.close());
    const started = source.start(sink);
    const watches: Asked[] = [];
    for (let count = 0; count < 5; count += 1) watches.push(await server.asked());
    const of = (ending: string) => watches.find(({ path }) => path.endsWith(ending)) ?? assert.fail(ending);
    const v1 = "/apis/gateway.networking.k8s.io/v1";
    const routes = of(`${v1}/grpcroutes`);
    assert.ok([of(`${v1}/httproutes`), of(`${v1}beta1/referencegrants`)]);
    said(of("/services"), event("ADDED", service("cart")), event("ADDED", service("one")));
    const route = (version: string, backend: string, status: object = {}) => ({
      metadata: { namespace: "shop", name: "r", resourceVersion: version, generation: 1 },
      spec: {
        parentRefs: [{ group: "", kind: "Service", name: "cart" }],
        rules: [{ backendRefs: [{ name: backend, port: 80 }] }],
      },
      status,
    });
    said(routes, event("ADDED", route("5", "one")));
    for (const watch of watches) watch.say(all);
    await within("the start", started);
    const version = () => sink.resource("route cart.shop:80", kubernetesLayer) ?? assert.fail();
    assert.ok(version().references.some(({ name }) => name === "one.shop:80"));
    /** The conditions that are written next. */
    const written = async () => {
      const asked = await server.asked();
      assert.equal(asked.path, `${v1}/namespaces/shop/grpcroutes/r/status`);
      const { metadata, status } = asked.body as {
        metadata: { resourceVersion: string };
        status: { parents: { conditions: { type: string; status: string; message: string }[] }[] };
      };
      const answered = `${Number(metadata.resourceVersion) + 1}`;
      asked.end(200, { metadata: { resourceVersion: answered }, status });
      // The watch tells it, too.
      said(routes, event("MODIFIED", route(answered, "one", status)));
      return (status.parents[0]?.conditions ?? []).map((each) => `${each.type}=${each.status} ${each.message}`);
    };
    assert.deepEqual(await written(), [
      "Accepted=True the route is in use",
      "ResolvedRefs=True all backends are there",
    ]);
    assert.deepEqual([source.status().findings, sink.applied.length], [[], 1]);
    // Something else is made of it.
    said(of("/services"), event("MODIFIED", service("one", { ports: [{ port: 81 }] })));
    assert.deepEqual(await written(), [
      "Accepted=True the route is in use",
      "ResolvedRefs=False Service shop/one: it has no port 80",
    ]);
    await delay(100);
    assert.equal(server.waiting, 0);
  });

  it("says that the CRDs are missing", async (t) => {
    const server = await spokenServer(t);
    const source = createKubernetesSource({ connection: server.connection, gatewayApi: true });
    t.after(() => source.close());
    source.start(new RecordingSink()).catch(() => {});
    for (let count = 0; count < 5; count += 1) {
      const asked = await server.asked();
      if (asked.path.includes("gateway")) asked.end(404);
      else asked.say(all);
    }
    await waitFor("an error", () => source.status().failure !== undefined);
    assert.match(source.status().failure ?? "", /it answers 404; are the CRDs of the Gateway API installed\?/);
    assert.equal(source.status().state, "pending");
  });
});
