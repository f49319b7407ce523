import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { findingText, type Resource, resourceTypes } from "@xdskit/api";
import { createServer, defaultParts, type Part } from "@xdskit/server";
import { waitFor, within } from "../../server/src/testing/basics/wait-for.js";
import { createKubernetesSource, kubernetesLayer } from "./kubernetes-source.js";
import { configMapLayer } from "./resources/config-map-folders.js";
import { spokenServer } from "./testing/spoken-server.js";

const all = {
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } },
};
const clusters = (...names: readonly string[]) =>
  names.map((name) => `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\n`).join("---\n");
const routes = (cluster: string) => `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: r
virtual_hosts: [{ name: v, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: ${cluster} } }] }]
`;
const listener = (name: string) => `"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: ${name}
address: { socket_address: { address: 0.0.0.0, port_value: 10000 } }
filter_chains:
  - filters: [{ name: e, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo } }]
`;

/** A server with a folder `edge` for its ConfigMaps, and a layer of a program above. */
async function serving(t: TestContext, begin: Readonly<Record<string, string>>, parts: readonly Part[] = []) {
  const api = await spokenServer(t);
  const source = createKubernetesSource({ connection: api.connection, configMaps: "" });
  const layers = [configMapLayer(), configMapLayer("edge"), kubernetesLayer, "own"];
  const server = createServer({
    groups: [{ name: "all", match: {}, layers }],
    references: "refuse",
    addresses: "refuse",
    parts: [...parts, ...defaultParts, source.part],
  });
  t.after(() => server.close());
  const started = server.addSource(source);
  started.catch(() => {});
  const asked = [await api.asked(), await api.asked(), await api.asked()];
  const of = (ending: string) =>
    asked.find(({ path }) => path.endsWith(ending)) ?? assert.fail(`nobody asks for ${ending}`);
  const [watch, services, slices] = [of("/configmaps"), of("/services"), of("/endpointslices")];
  const put = (name: string, text: string, folder?: string) => {
    const annotations = folder === undefined ? {} : { "xdskit.github.io/folder": folder };
    watch.say({
      type: "MODIFIED",
      object: { metadata: { namespace: "shop", name, annotations }, data: { "a.yaml": text } },
    });
  };
  for (const [name, text] of Object.entries(begin)) put(name, text);
  for (const one of asked) one.say(all);
  await within("the start", started);
  const type = resourceTypes.find("cluster") ?? assert.fail();
  return {
    server,
    put,
    service: (name: string) =>
      services.say({
        type: "MODIFIED",
        object: { metadata: { namespace: "shop", name }, spec: { ports: [{ port: 80 }] } },
      }),
    /** The only pod of the Service. */
    pod: (service: string, address: string) =>
      slices.say({
        type: "MODIFIED",
        object: {
          metadata: { namespace: "shop", name: service, labels: { "kubernetes.io/service-name": service } },
          addressType: "IPv4",
          ports: [{ name: "", port: 80, protocol: "TCP" }],
          endpoints: [{ addresses: [address], conditions: { ready: true } }],
        },
      }),
    remove: (name: string) => watch.say({ type: "DELETED", object: { metadata: { namespace: "shop", name } } }),
    names: (layer = configMapLayer()) =>
      Array.from(server.layerSnapshot(layer)?.of(type) ?? [], ({ name }: Resource) => name).sort(),
    findings: () => source.status().findings.map(findingText),
  };
}

describe("a change of a ConfigMap that the server would refuse in a folder", () => {
  it("waits, and holds up no other one, until what it breaks is gone", async (t) => {
    const { put, names, findings } = await serving(t, { some: clusters("a", "b"), routes: routes("a") });
    put("some", clusters("b", "c"));
    put("other", clusters("d"));
    await waitFor("the other one", () => String(names()) === "a,b,d");
    assert.match(
      findings().join("\n"),
      /^ConfigMap shop\/routes\/a\.yaml:\d+:\d+: .*names cluster "a", which this change takes .*; ConfigMap shop\/some counts as it was before/,
    );
    put("some", clusters("b", "e"));
    put("other", clusters("f"));
    await waitFor("the next change of the other one", () => String(names()) === "a,b,f");
    assert.equal(findings().length, 1);
    put("routes", routes("b"));
    await waitFor("the change that waited", () => String(names()) === "b,e,f");
    assert.deepEqual(findings(), []);
  });

  it("waits also if the ConfigMap is deleted, and a change of others lets it go", async (t) => {
    const { server, put, remove, names, findings } = await serving(t, { some: clusters("a") });
    put("routes", routes("a"));
    const there = () => [...(server.layerSnapshot(configMapLayer())?.sets.values() ?? [])].flatMap((set) => [...set]);
    await waitFor("the route", () => there().length === 2);
    remove("some");
    await waitFor("the refusal", () => findings().length === 1);
    assert.match(findings()[0] ?? "", /ConfigMap shop\/some counts as it was before/);
    assert.deepEqual(names(), ["a"]);
    // The layer above has the name now.
    server.config.layer("own").set(there());
    await waitFor("what waited", () => names().length === 0 && findings().length === 0);
  });

  it("is judged together with what comes with it", async (t) => {
    const { put, names, findings } = await serving(t, { some: clusters("a"), routes: routes("a") });
    put("some", clusters("b"));
    put("routes", routes("b"));
    await waitFor("the new name", () => String(names()) === "b");
    put("edge", clusters("c"), "edge");
    put("some", clusters());
    put("routes", routes("c"));
    await waitFor("another folder", () => names().length === 0);
    assert.deepEqual(findings(), []);
  });

  it("is one with two listeners at one address, too", async (t) => {
    const { put, names, findings } = await serving(t, { one: listener("one") });
    put("two", `${listener("two")}---\n${clusters("a")}`);
    await waitFor("the refusal", () => findings().length === 1);
    assert.match(findings()[0] ?? "", /10000/);
    assert.deepEqual(names(), []);
    put("one", clusters("b"));
    await waitFor("both", () => String(names()) === "a,b" && findings().length === 0);
  });

  it("can be one that has what another one had", async (t) => {
    const begin = { one: clusters("a", "b"), two: clusters("c"), routes: `${routes("b")}` };
    const { put, names, findings } = await serving(t, begin);
    // a goes to two; b would be missed.
    put("one", clusters());
    put("two", clusters("a", "c"));
    await waitFor("the refusal", () => findings().length === 1);
    assert.deepEqual(names(), ["a", "b", "c"]);
    put("two", clusters("c"));
    await waitFor("the end of a", () => String(names()) === "b,c");
    put("routes", routes("c"));
    await waitFor("the end of b", () => String(names()) === "c" && findings().length === 0);
  });
});

describe("fifty ConfigMaps that the server refuses", () => {
  it("cost no check of it while pods come and go", async (t) => {
    let checks = 0;
    const counting: Part = () => {
      const concerns = () => {
        checks += 1;
        return false;
      };
      return { judges: [{ concerns, judge: () => undefined }] };
    };
    const { server, put, service, pod, names, findings } = await serving(t, { one: listener("one") }, [counting]);
    const endpoints = () => {
      const set = server.layerSnapshot(kubernetesLayer)?.of(resourceTypes.find("endpoint") ?? assert.fail());
      return Buffer.from(set?.get("cart.shop:80")?.body ?? []).toString("latin1");
    };
    service("cart");
    for (let n = 0; n < 50; n += 1) put(`two-${n}`, listener(`two-${n}`));
    await waitFor("the refusals", () => findings().length === 50);
    await waitFor("the Service", () => names(kubernetesLayer).length === 1);
    const before = checks;
    for (let n = 1; n <= 100; n += 1) {
      pod("cart", `10.0.0.${n}`);
      await waitFor(`pod ${n}`, () => endpoints().includes(`10.0.0.${n}`));
    }
    // Each change of pods may ask about itself. The Service may have let some go: that costs a look or two.
    assert.ok(checks - before <= 100 + 2 * (4 * 50 + 1), `${checks - before} checks for 100 changes`);
    assert.equal(findings().length, 50);
    put("one", clusters("b"));
    await waitFor("one of those that waited", () => findings().length < 50);
  });
});

describe("a folder that no ConfigMap names any more", () => {
  it("leaves no layer in the server", async (t) => {
    const { server, put, remove, names } = await serving(t, { some: clusters("a") });
    put("edge", clusters("b"), "edge");
    await waitFor("the folder", () => String(names(configMapLayer("edge"))) === "b");
    remove("edge");
    await waitFor("its end", () => server.layerSnapshot(configMapLayer("edge")) === undefined);
    put("edge", clusters("c"), "edge");
    await waitFor("the folder again", () => String(names(configMapLayer("edge"))) === "c");
  });
});

describe("a file of a ConfigMap that takes long to read", () => {
  const long = (...names: readonly string[]) => `${clusters(...names)}${"# a long comment\n".repeat(20_000)}`;

  it("holds up nobody else, and counts once it is read", async (t) => {
    const { put, names, service, findings } = await serving(t, { some: clusters("a"), begin: long("long-0") });
    // The start waits for it.
    assert.deepEqual(names(), ["a", "long-0"]);
    put("begin", long("long-1"));
    put("some", clusters("b"));
    service("cart");
    await waitFor("the Service", () => String(names(kubernetesLayer)) === "cart.shop:80");
    await waitFor("the short one", () => names().includes("b"));
    assert.deepEqual(names(), ["b", "long-0"]);
    await waitFor("the long one", () => String(names()) === "b,long-1");
    put("begin", `${long("long-2")}no_such_field: 1\n`);
    await waitFor("its error", () => findings().length === 1);
    assert.match(findings()[0] ?? "", /^ConfigMap shop\/begin\/a\.yaml:\d+/);
    // What comes meanwhile counts, whichever is read first.
    put("begin", long("long-3"));
    put("begin", clusters("short"));
    await waitFor("the newest", () => String(names()) === "b,short" && findings().length === 0);
    put("some", clusters("c"));
    put("begin", long("long-4"));
    await waitFor("the last", () => String(names()) === "c,long-4");
  });
});
