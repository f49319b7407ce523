import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { missingExtensions } from "../envoy-versions/newer-parts.js";
import { describe as said } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";

const google = (name: string) => `type.googleapis.com/${name}`;
const typed = (type: string, fields: JsonObject = {}): JsonObject => ({ "@type": google(type), ...fields });
const named = (type: string, fields: JsonObject = {}): JsonObject => ({ name: "a", typed_config: typed(type, fields) });

function read(json: JsonObject) {
  const { resources, findings } = readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(json)) });
  return { resource: resources[0]?.resource, findings: findings.map((one) => `${one.severity} ${said(one)}`) };
}

const host = { domains: ["*"], routes: [{ match: { prefix: "" }, non_forwarding_action: {} }] };
const router = named("envoy.extensions.filters.http.router.v3.Router");
const manager = (more: JsonObject = {}): JsonObject =>
  named("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
    route_config: { virtual_hosts: [host] },
    http_filters: [router],
    ...more,
  });
const listener = (name: string, filter: JsonObject, more: JsonObject = {}): JsonObject =>
  typed("envoy.config.listener.v3.Listener", {
    name,
    address: { socket_address: { address: "0.0.0.0", port_value: 8080 } },
    filter_chains: [{ filters: [filter], ...more }],
  });

/** What Istio sends to gRPC for mutual TLS: the certificates come from providers of the bootstrap. */
const providers = {
  tls_certificate_certificate_provider_instance: { instance_name: "default", certificate_name: "default" },
  combined_validation_context: {
    default_validation_context: { match_subject_alt_names: [{ exact: "spiffe://cluster.local/ns/a/sa/b" }] },
    validation_context_certificate_provider_instance: { instance_name: "default", certificate_name: "ROOTCA" },
  },
};
const tls = (side: "Up" | "Down") => ({
  transport_socket: named(`envoy.extensions.transport_sockets.tls.v3.${side}streamTlsContext`, {
    common_tls_context: providers,
  }),
});
const authz = named("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", {
  grpc_service: { google_grpc: { target_uri: "dns:///authz" } },
});

describe("what gRPC's clients take", () => {
  it("a listener of a gRPC server needs no names and prefixes that only Envoy needs", () => {
    for (const name of [
      "grpc/server?xds.resource.listening_address=0.0.0.0:8080",
      "xdstp://a/envoy.config.listener.v3.Listener/grpc/server/0.0.0.0:8080",
      "xds.istio.io/grpc/lds/inbound/0.0.0.0:8080",
    ])
      assert.deepEqual(
        read(listener(name, manager({ http_filters: [authz, router] }), tls("Down"))).findings,
        [],
        name,
      );
  });

  it("a listener that an Envoy or a gRPC server may ask for gets warnings", () => {
    const { findings } = read(listener("inbound/0.0.0.0:8080", manager(), tls("Down")));
    assert.equal(findings.length, 3, findings.join("\n"));
    for (const finding of findings)
      assert.match(
        finding,
        /^warning .*(stat_prefix|\.name|validation_context_sds_secret_config): .*; Envoy refuses it, but gRPC's clients accept it/,
      );
  });

  it("a listener that only Envoys ask for is held to all rules", () => {
    const { findings } = read(listener("web", manager({ http_filters: [authz, router] }), tls("Down")));
    assert.equal(findings.length, 4, findings.join("\n"));
    for (const finding of findings) assert.match(finding, /^error .*(must not be empty|is required)/);
  });

  it("routes and clusters, which both read, get warnings", () => {
    const routes = typed("envoy.config.route.v3.RouteConfiguration", { name: "r", virtual_hosts: [host] });
    const cluster = typed("envoy.config.cluster.v3.Cluster", { name: "c", ...tls("Up") });
    for (const [json, field] of [
      [routes, "virtual_hosts\\[0\\]\\.name"],
      [cluster, "combined_validation_context\\.validation_context_sds_secret_config"],
    ] as const) {
      const { resource, findings } = read(json);
      assert.ok(resource);
      assert.equal(findings.length, 1, findings.join("\n"));
      assert.match(findings[0] ?? "", new RegExp(`^warning .*${field}: .*gRPC's clients accept it`));
    }
    // Only Envoys ask for virtual hosts.
    const single = typed("envoy.config.route.v3.VirtualHost", host);
    assert.match(
      read({ "@type": google("envoy.service.discovery.v3.Resource"), name: "r/h", resource: single }).findings.join(),
      /^error .*name/,
    );
  });

  it("gRPC's clients choose a cluster by a lookup, which an Envoy has no extension for", () => {
    const lookup = named("grpc.lookup.v1.RouteLookupClusterSpecifier", {
      route_lookup_config: {
        grpc_keybuilders: [{ names: [{ service: "a.B" }] }],
        lookup_service: "lookup:1",
        cache_size_bytes: "1000",
        default_target: "fallback",
      },
    });
    const json = typed("envoy.config.route.v3.RouteConfiguration", {
      name: "r",
      cluster_specifier_plugins: [{ extension: lookup }],
      virtual_hosts: [
        { name: "h", domains: ["*"], routes: [{ match: { prefix: "" }, route: { cluster_specifier_plugin: "a" } }] },
      ],
    });
    const { resource, findings } = read(json);
    assert.deepEqual(findings, []);
    const { type, body, references } = resource ?? assert.fail();
    assert.deepEqual(
      references.map(({ name }) => name),
      ["fallback"],
    );
    const missing = missingExtensions(type.schema ?? assert.fail(), body, envoyRegistry());
    assert.deepEqual(
      missing.map(({ type }) => type),
      ["grpc.lookup.v1.RouteLookupClusterSpecifier"],
    );
  });
});
