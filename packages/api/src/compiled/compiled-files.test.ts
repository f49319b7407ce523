import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { readResources } from "../resource-file.js";

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

/** Each is a file. */
const files: { readonly [what: string]: unknown } = {
  "one resource": cluster("one"),
  "a list, of which one breaks a rule and one is not known": [
    ...[cluster("one"), cluster("two", { connect_timeout: "-1s" }), { "@type": url("Nothing") }, cluster("three")],
    ...[cluster(""), cluster("four", { lb_policy: "BEST" }), cluster("five", { type: "EDS", eds_cluster_config: {} })],
    ...[cluster("six", { connect_timeout: "1s500ms" }), cluster("seven", { altStatName: "a", alt_stat_name: "b" })],
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
  "names outside of ASCII": [cluster("größe"), cluster("漢字".repeat(40))],
  "numbers of 64 bits": [cluster("one", { max_requests_per_connection: "9007199254740993" })],
};

for (const [what, content] of Object.entries(files)) {
  for (const [form, bytes] of [
    ["json", Buffer.from(JSON.stringify(content, undefined, 1))],
    ["yaml", Buffer.from(stringify(content, { aliasDuplicateObjects: false }))],
  ] as const) {
    test(`${form}, ${what}: the same with and without a message in between`, () => {
      const path = `some.${form}`;
      const compiled = readResources({ path, bytes });
      // Who wants to know where resources are named gets them by way of messages.
      const { resources, ...rest } = readResources({ path, bytes }, { places: true });
      assert.deepEqual(plain(compiled.resources), plain(resources));
      assert.deepEqual({ ...compiled, resources: [] }, { ...rest, resources: [] });
      assert.ok(resources.length + rest.findings.length > 0);
    });
  }
}

function plain(read: ReturnType<typeof readResources>["resources"]): unknown {
  return read.map(({ resource, where }) => ({ where, ...resource, body: Buffer.from(resource.body).toString("hex") }));
}
