import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { AnySchema, anyUnpack } from "@bufbuild/protobuf/wkt";
import { envoyRegistry, XdskitError } from "@xdskit/api";
import { createServer } from "../../create-server.js";
import { cluster } from "../../testing/test-resources.js";

const registry = envoyRegistry();
const url = (name: string) => `type.googleapis.com/envoy.${name}`;

function read(type: string, json: JsonObject) {
  return anyUnpack(fromJson(AnySchema, { "@type": url(type), ...json }, { registry }), registry) ?? assert.fail();
}

const specifiers = "extensions.router.cluster_specifiers.matcher.v3";
const action = { name: "c", typed_config: { "@type": url(`${specifiers}.ClusterAction`), cluster: "a" } };
const matcher = { "@type": url(`${specifiers}.MatcherClusterSpecifier`), cluster_matcher: { on_no_match: { action } } };
const plugin = { inline_cluster_specifier_plugin: { extension: { name: "m", typed_config: matcher } } };
const routes = read("config.route.v3.RouteConfiguration", {
  name: "r",
  virtual_hosts: [{ name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: plugin }] }],
});
const composite = read("config.cluster.v3.Cluster", {
  name: "all",
  cluster_type: {
    name: "envoy.clusters.composite",
    typed_config: { "@type": url("extensions.clusters.composite.v3.ClusterConfig"), clusters: [{ name: "b" }] },
  },
});
const assignment = read("config.endpoint.v3.ClusterLoadAssignment", {
  cluster_name: "a",
  endpoints: [
    {
      lb_endpoints: [{ endpoint: { address: { envoy_internal_address: { server_listener_name: "inner" } } } }],
    },
  ],
});
const inner = read("config.listener.v3.Listener", { name: "inner", internal_listener: {} });

test("a change is refused that removes what a matcher, another cluster or an endpoint names", async () => {
  const server = createServer({ references: "refuse" });
  try {
    server.config.set([cluster("a"), cluster("b"), routes, composite, assignment, inner]);
    const refusedFor = (type: string, name: string): string | undefined => {
      try {
        server.config.remove({ type, name });
      } catch (error) {
        if (error instanceof XdskitError && error.code === "XDSKIT_REFERENCE_BROKEN")
          return error.findings[0]?.resource;
        throw error;
      }
      return undefined;
    };
    assert.equal(refusedFor("cluster", "a"), "r");
    assert.equal(refusedFor("cluster", "b"), "all");
    assert.equal(refusedFor("listener", "inner"), "a");
  } finally {
    await server.close({ timeoutMs: 500 });
  }
});
