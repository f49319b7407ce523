import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readResources } from "../files/resource-file.js";

export type Fields = Readonly<Record<string, unknown>>;
export const url = (type: string) => `type.googleapis.com/envoy.${type}`;
export const socket = (address: string, more: Fields = {}) => ({
  address: { socket_address: { address, port_value: 80, ...more } },
});
export const endpoint = (address: string, more: Fields = {}) => ({ endpoint: socket(address, more) });
export const endpoints = (...lb_endpoints: readonly Fields[]) => ({
  load_assignment: { cluster_name: "a", endpoints: [{ lb_endpoints }] },
});
export const extension = (type: string, fields: Fields = {}) => ({
  name: type,
  typed_config: { "@type": url(`extensions.${type}`), ...fields },
});
export const cluster = (fields: Fields): Fields => ({
  "@type": url("config.cluster.v3.Cluster"),
  name: "a",
  ...fields,
});
export const assignment = (fields: Fields): Fields => ({
  "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name: "a",
  ...fields,
});
export const listener = (fields: Fields): Fields => ({
  "@type": url("config.listener.v3.Listener"),
  name: "a",
  ...socket("10.0.0.1"),
  ...fields,
});
export const tcp = extension("filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "a", cluster: "a" });
export const router = extension("filters.http.router.v3.Router");
export const cors = extension("filters.http.cors.v3.Cors");
export const chains = (...matches: readonly (Fields | undefined)[]) =>
  listener({
    filter_chains: matches.map((match) => ({
      ...(match === undefined ? {} : { filter_chain_match: match }),
      filters: [tcp],
    })),
  });
export const manager = (fields: Fields) =>
  extension("filters.network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "a",
    http_filters: [router],
    ...("scoped_routes" in fields ? {} : { route_config: { name: "a" } }),
    ...fields,
  });
export const http = (fields: Fields) => listener({ filter_chains: [{ filters: [manager(fields)] }] });
export const routes = (fields: Fields): Fields => ({
  "@type": url("config.route.v3.RouteConfiguration"),
  name: "a",
  ...fields,
});
export const host = (fields: Fields) => routes({ virtual_hosts: [{ name: "a", domains: ["*"], ...fields }] });
export const route = (fields: Fields) =>
  host({
    routes: [
      { match: { prefix: "/" }, ...("direct_response" in fields ? {} : { route: { cluster: "a" } }), ...fields },
    ],
  });
export const action = (fields: Fields) =>
  route({ route: { ...("weighted_clusters" in fields ? {} : { cluster: "a" }), ...fields } });
export const rbac = (policy: Fields) =>
  listener({
    filter_chains: [
      {
        filters: [
          extension("filters.network.rbac.v3.RBAC", {
            stat_prefix: "a",
            rules: { policies: { p: { permissions: [{ any: true }], principals: [{ any: true }], ...policy } } },
          }),
          tcp,
        ],
      },
    ],
  });
export const tls = (side: "Upstream" | "Downstream", common: Fields | undefined) => ({
  name: "tls",
  typed_config: {
    "@type": url(`extensions.transport_sockets.tls.v3.${side}TlsContext`),
    ...(common === undefined ? {} : { common_tls_context: common }),
  },
});
export const health = (fields: Fields) => ({
  health_checks: [{ timeout: "1s", interval: "1s", unhealthy_threshold: 1, healthy_threshold: 1, ...fields }],
});
export const range = (address_prefix: string, prefix_len?: number) => ({ address_prefix, prefix_len });
export const roundRobin = {
  policies: [{ typed_extension_config: extension("load_balancing_policies.round_robin.v3.RoundRobin") }],
};
export const eds = { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } } };
export const original = { type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED" };
export const header = (key: string, value = "b", more: Fields = {}) => ({ header: { key, value }, ...more });
export const first = "virtual_hosts[0].routes[0]";
export const inChain = "filter_chains[0].filters[0].typed_config";
/** The findings about a resource, which are the same for either JSON name of its fields. */
export function findings(
  resource: Fields,
  envoy?: boolean,
): readonly { readonly field: string; readonly message: string }[] {
  const said = [resource, withJsonNames(resource)].map((fields) => {
    const bytes = Buffer.from(JSON.stringify([{ ...fields, name: fields.name }], undefined, 1));
    const { findings } = readResources({ path: "a.json", bytes }, { envoy });
    return findings.map(({ field = "", severity, message, code }) => {
      assert.equal(code, "XDSKIT_CLIENTS_REFUSE", `${field}: ${message}`);
      return { field: `${severity === "warning" ? "~" : ""}${field}`, message };
    });
  });
  assert.deepEqual(said[0], said[1]);
  return said[0] ?? [];
}

function withJsonNames(value: unknown): Fields {
  if (Array.isArray(value)) return value.map(withJsonNames) as unknown as Fields;
  if (typeof value !== "object" || value === null) return value as Fields;
  const renamed = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [renamed(name), withJsonNames(item)]));
}

/** A resource that Envoy refuses, the field that says so, and a part of the message; a `~` in front marks a warning. */
export type Refused = readonly [Fields, string, RegExp?];

/**
 * Tests the values of one kind of resource that Envoy refuses although no rule of the protos does, and those that it
 * takes.
 */
export function testRefusals(kind: string, refused: readonly Refused[], taken: readonly Fields[]): void {
  suite(`Envoy's refusals of ${kind}`, () => {
    test("Each refusal is one finding, at its field", () => {
      for (const [resource, field, message = /./] of refused) {
        const found = findings(resource);
        assert.deepEqual(
          found.map((finding) => finding.field),
          [field],
          JSON.stringify(resource),
        );
        assert.match(found[0]?.message ?? "", message);
      }
    });

    test("A resource that Envoy takes, or that only gRPC's clients read, has no findings", () => {
      for (const resource of taken) assert.deepEqual(findings(resource), [], JSON.stringify(resource));
    });

    test("Without the option `envoy` there are no such findings", () => {
      for (const [resource] of refused) assert.deepEqual(findings(resource, false), []);
    });
  });
}
