import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { findingText, type Resource, resourceTypes } from "@xdskit/api";
import { createServer, defaultParts, type Kernel } from "@xdskit/server";
import { waitFor, within } from "../../server/src/testing/basics/wait-for.js";
import { createKubernetesSource, type KubernetesSourceOptions, kubernetesLayer } from "./kubernetes-source.js";
import { configMapLayer } from "./resources/config-map-folders.js";
import { type Asked, spokenServer } from "./testing/spoken-server.js";

const all = {
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } },
};
const service = (name: string) => ({
  type: "MODIFIED",
  object: { metadata: { namespace: "shop", name }, spec: { ports: [{ port: 80 }] } },
});
const cluster = (name: string) =>
  `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\nconnect_timeout: 1s\n`;
const configMap = (name: string, text: string) => ({
  type: "MODIFIED",
  object: { metadata: { namespace: "shop", name }, data: { "a.yaml": text } },
});
const foreign = cluster("xdstp://theirs/envoy.config.cluster.v3.Cluster/c");

/** A server for one authority, and a source of Services and ConfigMaps, whose API server the test is. */
async function serving(t: TestContext, knowsServer: boolean, options: Partial<KubernetesSourceOptions> = {}) {
  const api = await spokenServer(t);
  const source = createKubernetesSource({ connection: api.connection, configMaps: "", ...options });
  let kernel: Kernel | undefined;
  const watching = (made: Kernel) => {
    kernel = made;
    return {};
  };
  const server = createServer({
    authorities: ["ours"],
    parts: [...defaultParts, watching, ...(knowsServer ? [source.part] : [])],
  });
  t.after(() => server.close());
  const started = server.addSource(source);
  started.catch(() => {});
  const watches: Asked[] = [];
  for (const _ of [1, 2, 3]) watches.push(await api.asked());
  const of = (ending: string) => watches.find(({ path }) => path.endsWith(ending)) ?? assert.fail(ending);
  const clusters = resourceTypes.find("cluster") ?? assert.fail();
  const names = (layer: string) =>
    Array.from(server.layerSnapshot(layer)?.of(clusters) ?? [], ({ name }: Resource) => name).sort();
  return {
    server,
    source,
    started,
    services: of("/services"),
    maps: of("/configmaps"),
    ends: () => {
      for (const watch of watches) watch.say(all);
    },
    services80: () => names(kubernetesLayer),
    ofMaps: () => names(configMapLayer()),
    errors: () => (kernel?.troubles() ?? []).map(({ kind, message }) => `${kind}: ${message}`),
  };
}

describe("a ConfigMap with a name that the server does not serve", () => {
  it("keeps what it had, says where the name is, and holds up nothing else", async (t) => {
    const { services, maps, ends, started, services80, ofMaps, source } = await serving(t, true);
    services.say(service("cart"));
    maps.say(configMap("one", cluster("a")));
    ends();
    await within("the start", started);
    maps.say(configMap("one", `${cluster("b")}---\n${foreign}`));
    maps.say(configMap("two", cluster("c")));
    await waitFor("the other ConfigMap", () => String(ofMaps()) === "a,c");
    services.say(service("pay"));
    await waitFor("the other Service", () => String(services80()) === "cart.shop:80,pay.shop:80");
    const { findings, lastError } = source.status();
    assert.equal(lastError, undefined);
    assert.match(
      findings.map(findingText).join("\n"),
      /^ConfigMap shop\/one\/a\.yaml:5:\d+: .*the authority "theirs" is none of those that are served: ours/,
    );
    maps.say(configMap("one", cluster("b")));
    await waitFor("what is mended", () => String(ofMaps()) === "b,c");
    assert.deepEqual(source.status().findings, []);
  });

  it("is refused alone if the source does not know what the server refuses", async (t) => {
    let told = 0;
    const onStatus = () => {
      told += 1;
    };
    const { services, maps, ends, started, ...now } = await serving(t, false, { onStatus });
    services.say(service("cart"));
    maps.say(configMap("one", cluster("a")));
    ends();
    await within("the start", started);
    maps.say(configMap("one", foreign));
    await waitFor("the refusal", () => now.errors().some((text) => text.includes('"theirs"')));
    const before = told;
    services.say(service("pay"));
    await waitFor("the Service", () => String(now.services80()) === "cart.shop:80,pay.shop:80");
    await waitFor("the status", () => told > before);
    assert.deepEqual(now.ofMaps(), ["a"]);
    assert.match(now.source.status().findings.map(findingText).join("\n"), /"theirs".*; ConfigMap shop\/one counts as/);
    assert.match(now.errors().join("\n"), /^partial: .*"theirs" is none of those that are served: ours.*$/);
    maps.say(configMap("one", cluster("b")));
    await waitFor("what is mended", () => String(now.ofMaps()) === "b" && now.errors().length === 0);
  });

  it("lets a start wait, and no start with a part", async (t) => {
    for (const [knowsServer, allowPartial] of [
      [true, false],
      [true, true],
      [false, false],
      [false, true],
    ] as const) {
      const { services, maps, ends, started, ...now } = await serving(t, knowsServer, { allowPartial });
      services.say(service("cart"));
      maps.say(configMap("one", foreign));
      ends();
      if (!allowPartial) {
        await waitFor("the error", () => now.errors().some((text) => text.includes("ConfigMap shop/one")));
        assert.equal(now.source.status().state, "pending");
        maps.say(configMap("one", cluster("b")));
      }
      await within("the start", started);
      assert.deepEqual([now.services80(), now.ofMaps()], [["cart.shop:80"], allowPartial ? [] : ["b"]]);
    }
  });
});
