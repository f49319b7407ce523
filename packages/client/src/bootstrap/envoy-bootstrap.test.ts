import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { XdskitError } from "@xdskit/api";
import type { BootstrapSource } from "../options/bootstrap-options.js";
import { clientOptionsFromBootstrap } from "./bootstrap.js";

/**
 * A service mesh's bootstrap of Envoy: a socket file of its agent, parts that only Envoy knows, and an extension that
 * nobody else knows.
 */
const meshLike = `
application_log_config: { log_format: { text_format: "%Y" } }
node:
  id: "router~10.1.2.3~gateway-1.mesh~mesh.svc.cluster.local"
  cluster: gateway.mesh
  locality: { region: r, zone: z }
  metadata: { CLUSTER_ID: Kubernetes, LABELS: { app: gateway }, WEIGHT: 1.5 }
layered_runtime: { layers: [{ name: static, static_layer: { "a.b": 1 } }] }
bootstrap_extensions: [{ name: x, typed_config: { "@type": type.googleapis.com/not.known.Extension } }]
dynamic_resources:
  lds_config: { ads: {}, initial_fetch_timeout: 0s, resource_api_version: V3 }
  cds_config: { ads: {}, initial_fetch_timeout: 20s, resource_api_version: V3 }
  ads_config:
    api_type: DELTA_GRPC
    set_node_on_first_message_only: true
    transport_api_version: V3
    grpc_services: [{ envoy_grpc: { cluster_name: xds-grpc }, initial_metadata: [{ key: x-team, value: one }] }]
static_resources:
  listeners: [{ filter_chains: [{ filters: [{ name: y, typed_config: { "@type": type.googleapis.com/not.known.Filter } }] }] }]
  clusters:
    - name: prometheus_stats
      type: STATIC
    - name: xds-grpc
      type: STATIC
      typed_extension_protocol_options: { z: { "@type": type.googleapis.com/not.known.Options } }
      load_assignment:
        cluster_name: xds-grpc
        endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path: ./etc/proxy/XDS } } } }] }]
`;

const socket = (host: string, port: number) =>
  `{ endpoint: { address: { socket_address: { address: "${host}", port_value: ${port} } } } }`;
const tls = (more = "") => `
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
          sni: sni.example
          common_tls_context:
            tls_certificates: [{ certificate_chain: { filename: /c }, private_key: { filename: /k } }]
            validation_context: { trusted_ca: { filename: /ca } ${more} }`;
const cluster = (endpoints: readonly string[], more = "") => `
static_resources:
  clusters:
    - name: xds
      type: STRICT_DNS${more}
      load_assignment: { cluster_name: xds, endpoints: [{ lb_endpoints: [${endpoints.join(", ")}] }] }
`;
const perType = (source: string) => `
dynamic_resources:
  lds_config: ${source}
  cds_config: ${source}
`;
const envoyGrpc = "grpc_services: [{ envoy_grpc: { cluster_name: xds } }]";
const read = (text: string, more: BootstrapSource = {}) =>
  clientOptionsFromBootstrap({ text, path: "envoy.yaml", ...more });

describe("Envoy's bootstrap", () => {
  it("an Envoy's bootstrap leads to the servers of ADS, whatever else it holds", async () => {
    const options = await read(meshLike);
    assert.deepEqual(options, {
      kind: "envoy",
      servers: [
        {
          kind: "grpc",
          address: "unix:./etc/proxy/XDS",
          tls: undefined,
          headers: { "x-team": "one" },
          variant: "delta",
          aggregated: true,
          api: "v3",
        },
      ],
      authorities: {},
      node: {
        id: "router~10.1.2.3~gateway-1.mesh~mesh.svc.cluster.local",
        cluster: "gateway.mesh",
        locality: { region: "r", zone: "z", subZone: "" },
        metadata: { CLUSTER_ID: "Kubernetes", LABELS: { app: "gateway" }, WEIGHT: 1.5 },
      },
      nodeOn: "first",
      absentAfterMs: 20_000,
    });
  });

  it("addresses and TLS come from the cluster, each endpoint being a server", async () => {
    const ads = `dynamic_resources: { ads_config: { api_type: GRPC, ${envoyGrpc} } }`;
    const endpoints = [socket("::1", 1), socket("xds.example", 2)];
    const { servers, nodeOn } = await read(ads + cluster(endpoints, tls()));
    const own = { caFile: "/ca", certificateFile: "/c", keyFile: "/k", serverName: "sni.example" };
    const how = { tls: own, headers: {}, variant: "sotw", aggregated: true, api: "v3" };
    assert.deepEqual(servers, [
      { kind: "grpc", address: "[::1]:1", ...how },
      { kind: "grpc", address: "xds.example:2", ...how },
    ]);
    assert.equal(nodeOn, "every");
    const named = await read(
      ads +
        cluster(
          endpoints,
          tls(", match_typed_subject_alt_names: [{ san_type: DNS, matcher: { exact: san.example } }]"),
        ),
    );
    const [first] = named.servers ?? [];
    assert.equal(typeof first === "object" && first.kind === "grpc" && first.tls?.serverName, "san.example");
  });

  it("the sources of each type are read: gRPC, REST, files", async () => {
    const kinds = { GRPC: ["sotw", false], DELTA_GRPC: ["delta", false], AGGREGATED_GRPC: ["sotw", true] } as const;
    for (const [kind, expected] of Object.entries(kinds)) {
      const source = `{ api_config_source: { api_type: ${kind}, transport_api_version: V3, ${envoyGrpc} } }`;
      const [server] = (await read(perType(source) + cluster([socket("a", 1)]))).servers ?? [];
      assert.ok(typeof server === "object" && server.kind === "grpc");
      assert.deepEqual([server.variant, server.aggregated], expected);
    }
    const rest = `{ api_config_source: { api_type: REST, cluster_names: [xds], refresh_delay: 0.1s, transport_api_version: V2 } }`;
    assert.deepEqual((await read(perType(rest) + cluster([socket("a", 1)]))).servers, [
      { kind: "rest", url: "http://a:1", tls: undefined, refreshDelayMs: 100, requestTimeoutMs: 1_000, api: "v2" },
    ]);
    const files = `
dynamic_resources:
  lds_config: { path: /x/lds.yaml }
  cds_config: { path_config_source: { path: /x/cds.yaml, watched_directory: { path: /x } } }
`;
    assert.deepEqual((await read(files)).servers, [
      {
        kind: "files",
        files: [
          { type: "listener", path: "/x/lds.yaml", watchedDirectory: undefined },
          { type: "cluster", path: "/x/cds.yaml", watchedDirectory: "/x" },
        ],
      },
    ]);
  });

  it("one source is taken if fields lead to different ones and the caller says which", async () => {
    const text = `
dynamic_resources:
  lds_config: { path: /lds.yaml }
  cds_config: { api_config_source: { api_type: GRPC, ${envoyGrpc} } }
${cluster([socket("a", 1)])}`;
    await assert.rejects(
      read(text),
      /^XdskitError: envoy\.yaml:2:1: dynamic_resources: lds_config, cds_config name different servers/,
    );
    const [server] = (await read(text, { use: "cds_config" })).servers ?? [];
    assert.equal(typeof server === "object" && server.kind, "grpc");
    await assert.rejects(read(text, { use: "ads_config" }), /dynamic_resources\.ads_config: is missing/);
  });

  it("a bootstrap in JSON is read with JSON's names, targets of google_grpc, and authorities", async () => {
    const grpc = (target: string, more: object = {}) => ({
      googleGrpc: { targetUri: target, statPrefix: "x", ...more },
    });
    const ssl = {
      channelCredentials: { sslCredentials: { rootCerts: { filename: "/ca" } } },
      callCredentials: [{ accessToken: "S3CR3T" }],
      channelArgs: { args: { "grpc.ssl_target_name_override": { stringValue: "n.example" } } },
    };
    const source = (service: object) => ({ apiType: "DELTA_GRPC", transportApiVersion: "V3", grpcServices: [service] });
    const text = JSON.stringify({
      node: { id: "n" },
      dynamicResources: { adsConfig: source(grpc("dns:///a:1")) },
      configSources: [{ authorities: [{ name: "b.example" }], apiConfigSource: source(grpc("b:1", ssl)) }],
    });
    const { servers, authorities } = await read(text, { path: "envoy.json" });
    const how = { variant: "delta", api: "v3" };
    const plain = { kind: "grpc", address: "dns:///a:1", tls: undefined, headers: {}, ...how, aggregated: true };
    assert.deepEqual(servers, [plain]);
    const files = { caFile: "/ca", certificateFile: undefined, keyFile: undefined, serverName: "n.example" };
    const secured = {
      ...plain,
      address: "b:1",
      tls: files,
      headers: { authorization: "Bearer S3CR3T" },
      aggregated: false,
    };
    assert.deepEqual(authorities, { "b.example": { servers: [secured] } });
  });

  it("an error says where the bootstrap is wrong, and shows nothing of it", async () => {
    const ads = (more: string) => `dynamic_resources:\n  ads_config: { ${more} }\n`;
    const good = ads(`api_type: GRPC, ${envoyGrpc}`);
    const google = (more: string) =>
      ads(`api_type: GRPC, grpc_services: [{ google_grpc: { target_uri: "a:1", stat_prefix: x, ${more} } }]`);
    const cases: [string, RegExp][] = [
      ["dynamic_resources: {", /^envoy\.yaml:1:.*XDSKIT_SYNTAX/],
      ["dynamic_resources: {}", /dynamic_resources: names no source of resources/],
      [
        "dynamic_resources: { cds_config: { ads: {} } }",
        /dynamic_resources\.cds_config\.ads: dynamic_resources has no ads_config/,
      ],
      [
        "dynamic_resources: { cds_config: { self: {} } }",
        /cds_config: needs ads, api_config_source or path_config_source/,
      ],
      [ads("api_type: SECRET"), /^envoy\.yaml:2:.*dynamic_resources\.ads_config\.api_type/],
      [ads(`api_type: REST, cluster_names: [xds]`), /api_type: there is no ADS over REST/],
      [ads("api_type: GRPC"), /grpc_services: names no server/],
      [ads(envoyGrpc), /api_type: expected GRPC, DELTA_GRPC/],
      [
        good,
        /^envoy\.yaml:2:\d+: dynamic_resources\.ads_config\.grpc_services\[0\]\.envoy_grpc\.cluster_name: static_resources has no cluster "xds"/,
      ],
      [good + cluster([]), /static_resources\.clusters\[0\]\.load_assignment: names no endpoint/],
      [good + cluster([]).replace("STRICT_DNS", "EDS"), /clusters\[0\]\.type: the endpoints of a management server/],
      [good + cluster([socket("a", 70_000)]).replace("70000", `"SECRET"`), /load_assignment.*port_value/],
      [
        good + cluster([socket("a", 1)], tls().replace("{ filename: /k }", "{ inline_string: SECRET }")),
        /tls_certificates: certificates and keys are read from files/,
      ],
      [
        good +
          cluster(
            [socket("a", 1)],
            tls().replace("validation_context: {", "validation_context_sds_secret_config: { name: SECRET } #"),
          ),
        /common_tls_context: for trusted certificates only validation_context with files/,
      ],
      [google("channel_credentials: { google_default: {} }"), /channel_credentials: google_default is not supported/],
      [google("call_credentials: [{ access_token: SECRET }]"), /call_credentials: a token needs ssl_credentials/],
      [`node: { id: [SECRET] }\n${good}${cluster([socket("a", 1)])}`, /^envoy\.yaml:1:9: .*node\.id/],
    ];
    for (const [text, expected] of cases) {
      await assert.rejects(read(text), (error) => {
        assert.ok(error instanceof XdskitError, String(error));
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /SECRET/);
        return true;
      });
    }
  });
});
