import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { formatFieldPath } from "../errors/field-path.js";
import { createUnpack } from "../messages/any.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { stepsToReference } from "./references.js";
import { namingFields, rules } from "./rules.js";

const registry = envoyRegistry();

/** `cluster web` for each reference, in order. */
function referencesOf(typeName: string, json: JsonObject): readonly string[] {
  const type = resourceTypes.find(typeName);
  assert.ok(type?.schema);
  const message = fromJson(type.schema, json, { registry });
  return type.references(message).map(({ type, name }) => `${resourceTypes.byTypeUrl(type)?.type.name} ${name}`);
}

const ads = { ads: {} };
const path = { path_config_source: { path: "/etc/envoy/rds.yaml" } };
const url = "type.googleapis.com/envoy.extensions";
const hcmUrl = `${url}.filters.network.http_connection_manager.v3.HttpConnectionManager`;

function hcm(fields: JsonObject): JsonObject {
  return { name: "hcm", typed_config: { "@type": hcmUrl, stat_prefix: "in", ...fields } };
}

function rds(name: string, config_source: JsonObject = ads): JsonObject {
  return { rds: { route_config_name: name, config_source } };
}

function tls(direction: "Upstream" | "Downstream", common_tls_context: JsonObject): JsonObject {
  return {
    name: "tls",
    typed_config: { "@type": `${url}.transport_sockets.tls.v3.${direction}TlsContext`, common_tls_context },
  };
}

const sds = (name: string, sds_config: JsonValue = ads): JsonObject => ({ name, sds_config });
const routeTo = (action: JsonObject): JsonObject => ({
  name: "r",
  virtual_hosts: [{ name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: action }] }],
});

describe("a listener", () => {
  test("a listener names the route configurations of its filter chains, default filter chain and api_listener", () => {
    const { typed_config } = hcm(rds("api"));
    const found = referencesOf("listener", {
      name: "l",
      filter_chains: [{ filters: [hcm(rds("one"))] }, { filters: [hcm(rds("two"))] }, { filters: [hcm(rds("one"))] }],
      default_filter_chain: { filters: [hcm(rds("default"))] },
      api_listener: { api_listener: typed_config ?? null },
    });
    assert.deepEqual([...found].sort(), ["route api", "route default", "route one", "route two"]);
  });

  test("a listener names nothing that comes from a file on the client's machine", () => {
    const filters = [hcm(rds("mine", path)), hcm(rds("old", { path: "/rds.yaml" }))];
    assert.deepEqual(referencesOf("listener", { name: "l", filter_chains: [{ filters }] }), []);
  });

  test("a listener names route configurations that come from a server of their own kind", () => {
    const grpc = { envoy_grpc: { cluster_name: "xds" } };
    const own = { api_config_source: { api_type: "GRPC", transport_api_version: "V3", grpc_services: [grpc] } };
    // `xds` is in the bootstrap, and not a resource.
    assert.deepEqual(referencesOf("listener", { name: "l", filter_chains: [{ filters: [hcm(rds("r", own))] }] }), [
      "route r",
    ]);
  });

  test("a listener names all scoped routes, or the route configurations of the scoped routes that it holds itself", () => {
    const scopes = (specifier: JsonObject) =>
      hcm({
        scoped_routes: {
          name: "s",
          scope_key_builder: { fragments: [{ header_value_extractor: { name: "h", index: 0 } }] },
          rds_config_source: ads,
          ...specifier,
        },
      });
    const key = { fragments: [{ string_key: "k" }] };
    const discovered = scopes({ scoped_rds: { scoped_rds_config_source: ads } });
    const held = scopes({
      scoped_route_configurations_list: {
        scoped_route_configurations: [{ name: "a", route_configuration_name: "ra", key }],
      },
    });
    assert.deepEqual(referencesOf("listener", { name: "l", filter_chains: [{ filters: [discovered] }] }), [
      "scoped-route *",
    ]);
    assert.deepEqual(referencesOf("listener", { name: "l", filter_chains: [{ filters: [held] }] }), ["route ra"]);
  });

  test("a listener names secrets that come over xDS", () => {
    const transport_socket = tls("Downstream", {
      tls_certificate_sds_secret_configs: [sds("cert"), sds("from-file", path), { name: "in-bootstrap" }],
      combined_validation_context: { default_validation_context: {}, validation_context_sds_secret_config: sds("ca") },
    });
    assert.deepEqual(referencesOf("listener", { name: "l", filter_chains: [{ transport_socket }] }), [
      "secret cert",
      "secret ca",
    ]);
  });

  test("a listener names the extension configs of its HTTP, network and listener filters, and the references of their defaults", () => {
    const discovered = (name: string, typed: JsonObject = {}): JsonObject => ({
      name,
      config_discovery: { config_source: ads, type_urls: ["type.googleapis.com/x.Y"], ...typed },
    });
    const default_config = {
      "@type": `${url}.filters.network.tcp_proxy.v3.TcpProxy`,
      stat_prefix: "t",
      cluster: "tcp",
    };
    const fromFile = { name: "from-file", config_discovery: { config_source: path, type_urls: [] } };
    const found = referencesOf("listener", {
      name: "l",
      listener_filters: [discovered("listener-filter")],
      filter_chains: [
        {
          filters: [
            discovered("network-filter", { default_config }),
            hcm({ ...rds("r"), http_filters: [discovered("http-filter"), fromFile] }),
          ],
        },
      ],
    });
    assert.deepEqual([...found].sort(), [
      "cluster tcp",
      "extension-config http-filter",
      "extension-config listener-filter",
      "extension-config network-filter",
      "route r",
    ]);
  });

  test("a listener names the clusters of TCP proxies, of routes that it holds itself, and of services that its filters call", () => {
    const tcp = (fields: JsonObject): JsonObject => ({
      name: "tcp",
      typed_config: { "@type": `${url}.filters.network.tcp_proxy.v3.TcpProxy`, stat_prefix: "t", ...fields },
    });
    const extAuthz = {
      name: "authz",
      typed_config: {
        "@type": `${url}.filters.http.ext_authz.v3.ExtAuthz`,
        grpc_service: { envoy_grpc: { cluster_name: "authz" } },
      },
    };
    const filters = [
      tcp({ cluster: "one" }),
      tcp({
        weighted_clusters: {
          clusters: [
            { name: "two", weight: 1 },
            { name: "three", weight: 1 },
          ],
        },
      }),
      hcm({ route_config: routeTo({ cluster: "inline" }), http_filters: [extAuthz] }),
    ];
    const found = referencesOf("listener", { name: "l", filter_chains: [{ filters }] });
    assert.deepEqual([...found].sort(), [
      "cluster authz",
      "cluster inline",
      "cluster one",
      "cluster three",
      "cluster two",
    ]);
  });

  test("a listener names nothing through an unknown or broken extension", () => {
    const schema = resourceTypes.find("listener")?.schema as DescMessage;
    for (const typeUrl of [hcmUrl, "type.googleapis.com/example.Unknown", ""]) {
      const typedConfig: Any = { $typeName: "google.protobuf.Any", typeUrl, value: new Uint8Array([0xff]) };
      const filter = { configType: { case: "typedConfig", value: typedConfig } };
      const listener = create(schema, { filterChains: [{ filters: [filter] }] } as MessageInitShape<DescMessage>);
      assert.deepEqual(resourceTypes.find("listener")?.references(listener), []);
    }
  });
});

test("a list names the targets of its locators, and the references of its members", () => {
  const found = referencesOf("listener-collection", {
    entries: [
      {
        locator: {
          authority: "x y",
          resource_type: "envoy.config.listener.v3.Listener",
          id: "a/b",
          exact_context: { params: { z: "1", a: "2" } },
          directives: [{ entry: "e" }],
        },
      },
      { locator: { scheme: "FILE", id: "a" } },
      {
        inline_entry: {
          resource: {
            "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
            name: "l",
            filter_chains: [{ filters: [hcm(rds("xdstp://x/envoy.config.route.v3.RouteConfiguration/r?z=1&a=2"))] }],
          },
        },
      },
    ],
  });
  assert.deepEqual(found, [
    "listener xdstp://x%20y/envoy.config.listener.v3.Listener/a/b?a=2&z=1",
    "route xdstp://x/envoy.config.route.v3.RouteConfiguration/r?a=2&z=1",
  ]);
});

describe("a route", () => {
  test("a route names its cluster, weighted clusters and mirrors, but no cluster that a header or a plugin chooses", () => {
    assert.deepEqual(referencesOf("route", routeTo({ cluster: "a" })), ["cluster a"]);
    assert.deepEqual(referencesOf("route", routeTo({ cluster_header: "x-cluster" })), []);
    const weighted: JsonObject = {
      clusters: [
        { name: "a", weight: 1 },
        { cluster_header: "h", weight: 1 },
        { name: "b", weight: 2 },
      ],
    };
    const found = referencesOf(
      "route",
      routeTo({ weighted_clusters: weighted, request_mirror_policies: [{ cluster: "shadow" }] }),
    );
    assert.deepEqual([...found].sort(), ["cluster a", "cluster b", "cluster shadow"]);
  });

  test("a route names the mirrors of the virtual host and of the whole configuration", () => {
    const found = referencesOf("route", {
      name: "r",
      request_mirror_policies: [{ cluster: "all" }],
      virtual_hosts: [{ name: "v", domains: ["*"], request_mirror_policies: [{ cluster: "host" }] }],
    });
    assert.deepEqual([...found].sort(), ["cluster all", "cluster host"]);
  });

  test("a route names its virtual hosts of VHDS, as a collection", () => {
    assert.deepEqual(referencesOf("route", { name: "r", vhds: { config_source: ads } }), ["virtual-host r/*"]);
  });

  test("a route is read inside a virtual host and inside a scoped route", () => {
    const [virtualHost] = routeTo({ cluster: "a" }).virtual_hosts as JsonObject[];
    assert.ok(virtualHost);
    assert.deepEqual(referencesOf("virtual-host", virtualHost), ["cluster a"]);
    const key = { fragments: [{ string_key: "k" }] };
    assert.deepEqual(referencesOf("scoped-route", { name: "s", key, route_configuration_name: "r" }), ["route r"]);
    assert.deepEqual(referencesOf("scoped-route", { name: "s", key, route_configuration: routeTo({ cluster: "a" }) }), [
      "cluster a",
    ]);
  });
});

describe("a cluster", () => {
  const eds = (fields: JsonObject): JsonObject => ({
    name: "c",
    type: "EDS",
    eds_cluster_config: { eds_config: ads, ...fields },
  });

  test("a cluster names its load assignment, by service_name or by its own name", () => {
    assert.deepEqual(referencesOf("cluster", eds({})), ["endpoint c"]);
    assert.deepEqual(referencesOf("cluster", eds({ service_name: "s" })), ["endpoint s"]);
  });

  test("a cluster names no load assignment if it is not an EDS cluster or reads a file", () => {
    assert.deepEqual(referencesOf("cluster", { ...eds({}), type: "STRICT_DNS" }), []);
    assert.deepEqual(referencesOf("cluster", eds({ eds_config: path })), []);
  });

  test("a cluster names its secrets, in all transport sockets", () => {
    const found = referencesOf("cluster", {
      name: "c",
      transport_socket: tls("Upstream", { validation_context_sds_secret_config: sds("ca") }),
      transport_socket_matches: [
        { name: "m", transport_socket: tls("Upstream", { tls_certificate_sds_secret_configs: [sds("cert")] }) },
      ],
    });
    assert.deepEqual([...found].sort(), ["secret ca", "secret cert"]);
  });

  test("a cluster names the clusters that it is made of", () => {
    const typed_config = { "@type": `${url}.clusters.aggregate.v3.ClusterConfig`, clusters: ["a", "b"] };
    assert.deepEqual(referencesOf("cluster", { name: "c", cluster_type: { name: "aggregate", typed_config } }), [
      "cluster a",
      "cluster b",
    ]);
  });
});

test("a load assignment names its LEDS collections: of Envoy's one by one, of gRPC's as one list (A95)", () => {
  const member = "xdstp://authority/envoy.config.endpoint.v3.LbEndpoint";
  const list = "xdstp://authority/envoy.config.endpoint.v3.LbEndpointCollection/web";
  const leds = (leds_collection_name: string) => ({
    leds_cluster_locality_config: { leds_config: { self: {} }, leds_collection_name },
  });
  const names = [`${member}/web/*`, `${member}/web/*?zone=eu`, `${member}/web`, "web/*", list, "web"];
  const found = referencesOf("endpoint", { cluster_name: "web", endpoints: names.map(leds) });
  assert.deepEqual(found, [
    `locality-endpoint ${member}/web/*`,
    `locality-endpoint ${member}/web/*?zone=eu`,
    `locality-endpoint ${member}/web`,
    "locality-endpoint web/*",
    `locality-endpoint-collection ${list}`,
    "locality-endpoint-collection web",
  ]);
});

test("a reference has the path of its field, through lists and `Any`s", () => {
  const wayTo = (typeName: string, json: JsonObject, named: string, name: string) => {
    const schema = resourceTypes.find(typeName)?.schema;
    const type = resourceTypes.find(named)?.typeUrl;
    assert.ok(schema && type);
    const steps = stepsToReference(schema, fromJson(schema, json, { registry }), createUnpack(registry), {
      type,
      name,
    });
    return formatFieldPath(steps);
  };
  const listener = { name: "l", filter_chains: [{ filters: [hcm(rds("one")), hcm(rds("two"))] }] };
  const filter = "filter_chains[0].filters[1].typed_config";
  assert.equal(wayTo("listener", listener, "route", "two"), `${filter}.rds.route_config_name`);
  assert.equal(wayTo("listener", listener, "route", "three"), undefined);
  const typed_config = { "@type": `${url}.clusters.aggregate.v3.ClusterConfig`, clusters: ["a", "b"] };
  const aggregate = { name: "c", cluster_type: { name: "aggregate", typed_config } };
  assert.equal(wayTo("cluster", aggregate, "cluster", "b"), "cluster_type.typed_config.clusters[1]");
  const eds = { name: "c", type: "EDS", eds_cluster_config: { eds_config: ads } };
  assert.equal(wayTo("cluster", eds, "endpoint", "c"), "eds_cluster_config");
});

test("every rule is about a message and a field that exist", () => {
  for (const name of Object.keys(rules)) assert.ok(registry.getMessage(name), name);
  for (const [name, { field, source }] of namingFields) {
    for (const each of [field, source ?? field]) {
      const fields = registry.getMessage(name)?.fields ?? [];
      assert.ok(
        fields.some((known) => known.name === each),
        `${name}.${each}`,
      );
    }
  }
});
