import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readResources } from "@xdskit/api";
import { parse } from "yaml";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { type Questions, refusedByEnvoy } from "./harness/peers/verdicts.js";

type Fields = Readonly<Record<string, unknown>>;
type Table = Readonly<Record<string, Fields>>;

/**
 * Of what Envoy refuses and gRPC's clients take, in a field that both read, xdskit warns; and of the size of an
 * expression, which settings of Envoy allow.
 */
const warned = new Set([
  ...["wc-default", "retry-int", "retry-int-vh", "eds-ring-hostname", "rx-large"],
  ...["cla-drop", "cla-drop-two", "drop-logical", "drop-logical-two", "hcs-logical", "eds-in-logical-dns"],
]);

/** A table, in which `$FOLDER` is a folder that exists. The tables lie beside the sources: what is built has none. */
function tableOf(name: string, folder: string): Readonly<Record<string, Table>> {
  const text = readFileSync(new URL(`../src/refusals/${name}.yaml`, import.meta.url), "utf8");
  return parse(text.replaceAll("$FOLDER", folder), { maxAliasCount: -1 });
}

const resource = (type: string, fields: Fields): ResourceText => ({
  "@type": typeUrl(`envoy.config.${type}`),
  ...fields,
});
const extension = (name: string, type: string, fields: Fields) => ({
  name,
  typed_config: { "@type": typeUrl(`envoy.extensions.${type}`), ...fields },
});
const tcp = extension("tcp", "filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "a", cluster: "a" });
const router = extension("router", "filters.http.router.v3.Router", {});

const listener = (name: string, fields: Fields): ResourceText => resource("listener.v3.Listener", { name, ...fields });
const filtered = (name: string, filters: readonly unknown[]): ResourceText =>
  listener(name, {
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: [{ filters }],
  });
const managed = (name: string, fields: Fields): ResourceText => {
  const routes = ["rds", "scoped_routes", "route_config"].some((field) => field in fields);
  const manager = {
    stat_prefix: "a",
    http_filters: [router],
    ...(routes ? {} : { route_config: { name: "a" } }),
    ...fields,
  };
  return filtered(name, [
    extension("manager", "filters.network.http_connection_manager.v3.HttpConnectionManager", manager),
  ]);
};
/** Clusters that routes name are not looked for: that they are missing is another matter. */
const routed = (name: string, fields: Fields) =>
  managed(name, { route_config: { name: "a", validate_clusters: false, ...fields } });
const hosted = (name: string, fields: Fields) =>
  routed(name, { virtual_hosts: [{ name: "a", domains: ["*"], ...fields }] });
const onRoute = (name: string, fields: Fields) =>
  hosted(name, { routes: [{ match: { prefix: "/" }, ...withAction(fields) }] });
const withAction = (fields: Fields): Fields => {
  const actions = ["route", "redirect", "direct_response", "filter_action", "non_forwarding_action"];
  return actions.some((field) => field in fields) ? fields : { ...fields, route: { cluster: "a" } };
};
const acting = (name: string, fields: Fields) => {
  const targets = ["weighted_clusters", "cluster_header", "cluster_specifier_plugin", "cluster"];
  return onRoute(name, { route: targets.some((field) => field in fields) ? fields : { cluster: "a", ...fields } });
};
const guarded = (name: string, policy: Fields) => {
  const rules = { policies: { p: { permissions: [{ any: true }], principals: [{ any: true }], ...policy } } };
  return filtered(name, [extension("rbac", "filters.network.rbac.v3.RBAC", { stat_prefix: "a", rules }), tcp]);
};
const matching = (name: string, matches: Fields) =>
  listener(name, {
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: (matches as unknown as readonly (Fields | null)[]).map((match) => ({
      ...(match === null ? {} : { filter_chain_match: match }),
      filters: [tcp],
    })),
  });
const answering = (name: string, body: Fields) => onRoute(name, { direct_response: { status: 200, body } });

function all(table: Table | undefined, make: (name: string, fields: Fields) => ResourceText): readonly ResourceText[] {
  return Object.entries(table ?? assert.fail("no such table")).map(([name, fields]) => make(name, fields));
}

/** `folder` has a file named `file`. */
function questions(folder: string): Questions {
  const { clusters } = tableOf("clusters", folder);
  const { endpoints } = tableOf("endpoints", folder);
  const { listeners, matches, managers, policies } = tableOf("listeners", folder);
  const { routes, virtualHosts, routesOfHosts, actions } = tableOf("routes", folder);
  return {
    clusters: all(clusters, (name, fields) =>
      resource("cluster.v3.Cluster", { name, connect_timeout: "1s", ...fields }),
    ),
    assignments: all(endpoints, (cluster_name, fields) =>
      resource("endpoint.v3.ClusterLoadAssignment", { cluster_name, ...fields }),
    ),
    listeners: [
      ...all(listeners, listener),
      ...all(matches, matching),
      ...all(managers, managed),
      ...all(policies, guarded),
      ...all(routes, routed),
      ...all(virtualHosts, hosted),
      ...all(routesOfHosts, onRoute),
      ...all(actions, acting),
      answering("body-large", { inline_string: "x".repeat(4097) }),
      answering("body-large-in-bytes", { inline_bytes: Buffer.alloc(4097).toString("base64") }),
      answering("body-large-in-utf-8", { inline_string: "é".repeat(2049) }),
      answering("body-just-right", { inline_string: "x".repeat(4096) }),
    ],
  };
}

/** What is said of a resource: an error, a warning, or nothing. */
function said(resource: ResourceText): "error" | "warning" | undefined {
  const { findings } = readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(resource)) });
  const severities = findings.map(({ severity }) => severity);
  for (const { code, message } of findings) assert.match(code, /^XDSKIT_(?:CLIENTS_REFUSE|REGEX_\w+)$/, message);
  return severities.includes("error") ? "error" : severities[0];
}

test("xdskit refuses what Envoy refuses by itself, and nothing else", { timeout: 90_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const scene = await createScene(t);
  writeFileSync(join(scene.directory, "file"), "");
  const asked = questions(scene.directory);
  const refused = await refusedByEnvoy(scene, envoy, asked);
  const resources = [...asked.clusters, ...asked.assignments, ...asked.listeners];
  const verdict = (name: string, severity: string | undefined) => `${name}: ${severity ?? "nothing"}`;
  const found: string[] = [];
  const expected: string[] = [];
  for (const one of resources) {
    const name = String(one.name ?? one.cluster_name);
    found.push(verdict(name, said(one)));
    expected.push(verdict(name, !refused.has(name) ? undefined : warned.has(name) ? "warning" : "error"));
  }
  assert.equal(new Set(expected).size, resources.length);
  const differs = (_: string, index: number) => found[index] !== expected[index];
  assert.deepEqual(found.filter(differs), expected.filter(differs));
  assert.ok(refused.size > 150 && refused.size < resources.length - 150, `${refused.size} of ${resources.length}`);
});
