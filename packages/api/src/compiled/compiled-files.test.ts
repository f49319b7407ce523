import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { stringify } from "yaml";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { CompiledResources } from "./compiled-resources.js";

const anys = (count: number): object => ({
  "@type": "type.googleapis.com/google.protobuf.Any",
  value: count > 0 ? anys(count - 1) : { "@type": "type.googleapis.com/google.protobuf.Struct", value: { b: 1, a: 2 } },
});
const extension = (typed_config: object) => {
  return { "@type": url("config.core.v3.TypedExtensionConfig"), name: "one", typed_config };
};
const url = (name: string) => `type.googleapis.com/envoy.${name}`;
const eds = { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } } };
const cluster = (name: string, fields: object = {}) => {
  return { "@type": url("config.cluster.v3.Cluster"), name, connect_timeout: "1s", ...eds, ...fields };
};
const wrapped = (fields: object, resource: object) => {
  return { "@type": url("service.discovery.v3.Resource"), ...fields, resource };
};
const v2Manager = url("config.filter.network.http_connection_manager.v2.HttpConnectionManager");
const listener = (type: string, manager: string, fields: object) => ({
  "@type": url(type),
  name: "front",
  address: { socket_address: { address: "::", port_value: 80 } },
  filter_chains: [{ filters: [{ name: "hcm", typed_config: { "@type": manager, stat_prefix: "in", ...fields } }] }],
});
const rds = { rds: { route_config_name: "r", config_source: { ads: {} } } };

const longRoute = {
  "@type": url("config.route.v3.RouteConfiguration"),
  name: "long",
  virtual_hosts: Array.from({ length: 3_000 }, (_, index) => ({
    name: `h${index}`,
    domains: [`h${index}.example.com`],
    routes: [{ match: { prefix: "/" }, route: { cluster: `c${index % 2_000}` } }],
  })),
};

/** Each is a file. */
const files: { readonly [what: string]: unknown } = {
  "one resource": cluster("one"),
  "a list, of which one breaks a rule and one is not known": [
    cluster("one"),
    cluster("two", { connect_timeout: "-1s" }),
    { "@type": url("Nothing") },
    cluster("three"),
    cluster(""),
    cluster("four", { lb_policy: "BEST" }),
    cluster("five", { type: "EDS", eds_cluster_config: {} }),
    cluster("six", { connect_timeout: "1s500ms" }),
    cluster("seven", { altStatName: "a", alt_stat_name: "b" }),
  ],
  "nothing, and then a value that Envoy refuses": [
    ...[null, "CLUSTER_PROVIDED", "ROUND_ROBIN"].map((lb_policy, index) => cluster(`of ${index}`, { lb_policy })),
  ],
  "a response": { version_info: "7", resources: [cluster("one"), cluster("two", { alt_stat_name: "x" })] },
  "a response that says its type": { type_url: url("config.cluster.v3.Cluster"), resources: [cluster("one")] },
  "wrapped, with a TTL and aliases": [
    wrapped({ name: "one", ttl: "2.5s", aliases: ["b", "a", "b"] }, cluster("one")),
    wrapped({ name: "other" }, cluster("one")),
    wrapped({ name: "two", ttl: "0s" }, cluster("two")),
  ],
  "named by federation": [
    cluster("xdstp://a/envoy.config.cluster.v3.Cluster/x?b=1&a=2"),
    cluster("xdstp://a/envoy.config.listener.v3.Listener/x"),
    cluster("c", { eds_cluster_config: { service_name: "xdstp://a/T/x?b=1&a=2", eds_config: { ads: {} } } }),
  ],
  "of v2, outside and inside": [
    listener("api.v2.Listener", v2Manager, rds),
    listener("config.listener.v3.Listener", `own.example/${v2Manager.slice(20)}`, rds),
  ],
  "with another prefix": { ...cluster("one"), "@type": "own.example/envoy.config.cluster.v3.Cluster" },
  "naming thousands of others, some of them twice": longRoute,
  "names outside of ASCII": [cluster("größe"), cluster("漢字".repeat(40))],
  "more inside each other than is put in order": [extension(anys(10)), extension(anys(40))],
  "a number that a float does not tell from nothing": extension({
    "@type": "type.googleapis.com/google.protobuf.FloatValue",
    value: 1e-46,
  }),
  "numbers of 64 bits": [cluster("one", { max_requests_per_connection: "9007199254740993" })],
};

for (const [what, content] of Object.entries(files)) {
  for (const [form, bytes] of [
    ["json", Buffer.from(JSON.stringify(content, undefined, 1))],
    ["yaml", Buffer.from(stringify(content, { aliasDuplicateObjects: false }))],
  ] as const) {
    test(`${form}, ${what}: a file reads the same with and without a message in between`, () => {
      const path = `some.${form}`;
      const compiled = readResources({ path, bytes });
      // With `places`, resources are made by way of messages.
      const { resources, ...rest } = readResources({ path, bytes }, { places: true });
      assert.deepEqual(plain(compiled.resources), plain(resources));
      assert.deepEqual({ ...compiled, resources: [] }, { ...rest, resources: [] });
      assert.ok(resources.length + rest.findings.length > 0);
    });
  }
}

const one = JSON.stringify(cluster("one"));
const loads = (port: string, more = "") =>
  `{"@type":"${url("config.endpoint.v3.ClusterLoadAssignment")}","cluster_name":"c","endpoints":[{"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":"10.0.0.1","port_value":${port}${more}}}}}]}]}`;

/** Each is the text of a file. */
const texts: { readonly [what: string]: string } = {
  "a key twice": `[${one.replace('"name":', '"name":"two","name":')}]`,
  "a key twice, deep inside": `[${loads("80", ',"port_value":81')},${loads("80", ',"portValue":81')}]`,
  "a key twice, in what becomes a value": `[${one},${one.replace('"eds_config":', '"service_name":"a","service_name":"b","eds_config":')}]`,
  "a type twice": `[${one.replace('"@type":', '"@type":"x","@type":')},${one.replace("{", '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster",')}]`,
  "a type behind": `[${one.replace(/("@type":"[^"]*"),(.*)\}$/, "{$2,$1}").slice(1)}]`,
  "numbers that begin as the one before": `[${["80", "8", "800", "80.0", "8e1", "80e", "080", "-80", "80 ", "\n80\t", '"80"', "8080"].map((port) => loads(port)).join()}]`,
  "numbers that begin so, each well": `[${["80", "8", "800", "80.0", "8e1", "-80", "80 ", '"80"', "99999", "8080"].map((port) => loads(port)).join(",\n")}]`,
  "more digits than a double holds": `[${one},${loads("8000000000000000001")}]`,
  "no end": `[${one},${one.slice(0, -3)}`,
  "no end of the list": `[${one}`,
  "more behind the list": `[${one}] x`,
  "more behind the one": `${one} ${one}`,
  "a comma before the end": `[${one},]`,
  "a comma at the beginning": `[,${one}]`,
  "an empty list": " [ ] ",
  "what is no resource": `[${one}, 7, null, [], {}, "x"]`,
  "an escape": `[${one.replace("one", "\\u006fne")},${one.replace("one", "\\x")}]`,
  "a control character": `[${one.replace("one", "o\tne")}]`,
  "a wrong rule between two": `[${one},\n ${loads("70000")},\n${one.replace("one", "two")}]`,
  "with a mark of the order of bytes": `\ufeff[${one}]`,
  "with Windows' ends of lines": JSON.stringify([cluster("one"), cluster("two")], undefined, 2).replaceAll(
    "\n",
    "\r\n",
  ),
  "in another order": `[{"@type":"${url("config.cluster.v3.Cluster")}","eds_cluster_config":{"eds_config":{"ads":{}},"service_name":"s"},"type":"EDS","connect_timeout":"1s","name":"n"}]`,
};

for (const [what, text] of Object.entries(texts)) {
  test(`a text, ${what}, reads the same with and without a message in between`, () => {
    const bytes = Buffer.from(text);
    const { resources, ...rest } = readResources({ path: "some.json", bytes });
    const expected = readResources({ path: "some.json", bytes }, { places: true });
    assert.deepEqual(plain(resources), plain(expected.resources));
    const { resources: _, ...others } = expected;
    assert.deepEqual(rest, others);
  });
}

test("the text of a file is released once its resources are gone", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const read = (items: readonly object[]) => {
    const bytes = Buffer.from(stringify(items, { aliasDuplicateObjects: false }));
    assert.equal(readResources({ path: "some.yaml", bytes }).resources.length, items.length);
    return bytes.length;
  };
  const long = cluster("a-name-that-is-a-view-of-the-text", {
    "@type": "views.of.the.text/envoy.config.cluster.v3.Cluster",
    eds_cluster_config: { service_name: "another-that-is-a-view-of-it", eds_config: { ads: {} } },
    alt_stat_name: "x".repeat(10_000),
    upstream_bind_config: { source_address: { address: "127.0.0.1", port_value: 0 } },
  });
  const used = () => {
    // The last text that a regular expression was applied to stays in memory too.
    read([cluster("b")]);
    collect();
    return process.memoryUsage().heapUsed;
  };
  read([{ ...long, "@type": url("config.cluster.v3.Cluster") }]);
  const before = used();
  const length = read(Array.from({ length: 300 }, (_, index) => ({ ...long, name: `number-${index}-of-many` })));
  assert.ok(used() - before < length / 2);
});

test("a resource that names thousands of others is made without a message, which would take many times its size", () => {
  const reading = { registry: envoyRegistry(), types: resourceTypes, views: false };
  const made = new CompiledResources(reading).read(longRoute, longRoute["@type"], {});
  assert.deepEqual(
    made?.resource.references.map(({ name }) => name),
    Array.from({ length: 2_000 }, (_, index) => `c${index}`),
  );
});

test("each body has memory of its own, so that one resource keeps none of the others alive", () => {
  const bytes = Buffer.from(JSON.stringify(Array.from({ length: 100 }, (_, index) => cluster(`number-${index}`))));
  const { resources } = readResources({ path: "some.json", bytes });
  assert.equal(resources.length, 100);
  for (const { resource } of resources) assert.equal(resource.body.buffer.byteLength, resource.body.byteLength);
});

function plain(read: ReturnType<typeof readResources>["resources"]): unknown {
  return read.map(({ resource, where }) => ({ where, ...resource, body: Buffer.from(resource.body).toString("hex") }));
}
