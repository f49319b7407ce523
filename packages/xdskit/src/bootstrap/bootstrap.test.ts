import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { xdskitEnds } from "../testing/command.js";
import { type EnvoyBootstrapOptions, envoyBootstrap } from "./envoy.js";

const options: EnvoyBootstrapOptions = {
  variant: "delta",
  streams: "ads",
  server: { host: "127.0.0.1", port: 18000 },
  nodeId: "edge-7",
  nodeCluster: "edge",
  adminPort: 9901,
  tls: undefined,
  loadReports: false,
};
const variants = [
  ...(["sotw", "delta"] as const).flatMap((variant) =>
    (["ads", "per-type"] as const).map((streams) => ({ variant, streams })),
  ),
  { variant: "rest", streams: "per-type" },
] as const;

describe("Envoy's bootstrap", () => {
  test("has the API type of each variant", () => {
    for (const { variant, streams } of variants) {
      const { dynamic_resources: dynamic } = parse(envoyBootstrap({ ...options, variant, streams }));
      const apiType = { delta: "DELTA_GRPC", sotw: "GRPC", rest: "REST" }[variant];
      if (streams === "ads") {
        assert.equal(dynamic.ads_config.api_type, apiType);
        assert.deepEqual([dynamic.cds_config.ads, dynamic.lds_config.ads], [{}, {}]);
      } else {
        assert.equal(dynamic.ads_config, undefined);
        assert.equal(dynamic.cds_config.api_config_source.api_type, apiType);
        assert.equal(dynamic.lds_config.api_config_source.api_type, apiType);
      }
    }
  });

  test("sends load reports to the server if they are wanted", () => {
    assert.equal(parse(envoyBootstrap(options)).cluster_manager, undefined);
    const { load_stats_config: config } = parse(envoyBootstrap({ ...options, loadReports: true })).cluster_manager;
    assert.deepEqual(config.grpc_services, [{ envoy_grpc: { cluster_name: "xdskit" } }]);
  });

  test("checks the server's name over TLS, and names the client's certificate", () => {
    const tls = { caFile: "ca.pem", certificateFile: "own.pem", keyFile: "own.key" };
    const socketOf = (more: Partial<EnvoyBootstrapOptions>) =>
      parse(envoyBootstrap({ ...options, ...more })).static_resources.clusters[0].transport_socket?.typed_config;
    assert.equal(socketOf({}), undefined);
    const name = (type: string, exact: string) => [{ san_type: type, matcher: { exact } }];
    const validation = { trusted_ca: { filename: "ca.pem" } };
    const own = { certificate_chain: { filename: "own.pem" }, private_key: { filename: "own.key" } };
    const byAddress = socketOf({ tls });
    assert.deepEqual(
      [byAddress.sni, byAddress.common_tls_context],
      [
        undefined,
        {
          alpn_protocols: ["h2"],
          tls_certificates: [own],
          validation_context: { ...validation, match_typed_subject_alt_names: name("IP_ADDRESS", "127.0.0.1") },
        },
      ],
    );
    const byName = socketOf({
      variant: "rest",
      server: { host: "xds.test", port: 1 },
      tls: { caFile: tls.caFile },
    });
    assert.deepEqual(
      [byName.sni, byName.common_tls_context],
      [
        "xds.test",
        {
          alpn_protocols: ["http/1.1"],
          validation_context: { ...validation, match_typed_subject_alt_names: name("DNS", "xds.test") },
        },
      ],
    );
    assert.equal(socketOf({ tls: { ...tls, serverName: "other.test" } }).sni, "other.test");
  });

  test("has the options in the right places, whatever characters they have", () => {
    const nodeId = 'a: "b" #c\n- d';
    const bootstrap = parse(envoyBootstrap({ ...options, nodeId, adminPort: 0 }));
    assert.deepEqual(bootstrap.node, { id: nodeId, cluster: "edge" });
    // To Envoy a boolean and a number, without quotes.
    assert.match(
      envoyBootstrap({ ...options, nodeId: "yes", nodeCluster: "0X1" }),
      /\n {2}id: "yes"\n {2}cluster: "0X1"\n/,
    );
    assert.equal(bootstrap.admin.address.socket_address.port_value, 0);
  });
});

test("Envoy's bootstrap says that its drain time and the server's belong together, except for polls, which are not ordered", () => {
  for (const variant of variants) {
    const text = envoyBootstrap({ ...options, ...variant });
    assert.equal(text.includes("ordering: { drain: 600s }"), variant.variant !== "rest");
  }
});

describe("xdskit bootstrap", () => {
  test("prints the delta ADS bootstrap on standard output and nothing else", async () => {
    const { status, out, err } = await xdskitEnds("bootstrap", "--node-id", "edge-7", "--node-cluster", "edge");
    assert.deepEqual({ status, out, err }, { status: 0, out: envoyBootstrap(options), err: "" });
  });

  test("takes every option", async () => {
    const args = ["--variant", "sotw", "--per-type", "--server", "[::1]:443", "--admin-port", "0"];
    const { out } = await xdskitEnds("bootstrap", ...args, "--node-id", "edge-7", "--node-cluster", "edge");
    const server = { host: "::1", port: 443 };
    assert.equal(out, envoyBootstrap({ ...options, variant: "sotw", streams: "per-type", server, adminPort: 0 }));
  });

  test("prints a gRPC client's bootstrap", async () => {
    const { status, out } = await xdskitEnds("bootstrap", "--grpc-client", "--server", "[::1]:443");
    assert.equal(status, 0);
    const bootstrap = JSON.parse(out);
    assert.deepEqual(bootstrap.xds_servers, [
      { server_uri: "[::1]:443", channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] },
    ]);
    assert.deepEqual(bootstrap.node, { id: "node-1", cluster: "default", locality: {} });
    assert.match(bootstrap.server_listener_resource_name_template, /%s/);
  });

  test("gives gRPC clients fallbacks in order, which have the same credentials, and Envoy one server", async () => {
    const servers = ["--server", "a.test:1", "--server", "unix:/run/b.sock", "--server", "a.test:2"];
    const { out } = await xdskitEnds("bootstrap", "--grpc-client", ...servers, "--tls-ca", "ca.pem");
    const channel_creds = [{ type: "tls", config: { ca_certificate_file: "ca.pem" } }];
    assert.deepEqual(
      JSON.parse(out).xds_servers,
      ["a.test:1", "unix:/run/b.sock", "a.test:2"].map((server_uri) => ({
        server_uri,
        channel_creds,
        server_features: ["xds_v3"],
      })),
    );
    const { status, err } = await xdskitEnds("bootstrap", ...servers);
    assert.deepEqual([status, /Envoy has one --server/.test(err)], [2, true], err);
  });

  test("takes the files of TLS for both kinds of clients", async () => {
    const files = ["--tls-ca", "ca.pem", "--tls-cert", "own.pem", "--tls-key", "own.key"];
    const envoy = await xdskitEnds("bootstrap", ...files, "--tls-server-name", "xds.test", "--node-id", "edge-7");
    const tls = { caFile: "ca.pem", certificateFile: "own.pem", keyFile: "own.key", serverName: "xds.test" };
    assert.equal(envoy.out, envoyBootstrap({ ...options, nodeCluster: "default", tls }));
    const grpc = await xdskitEnds("bootstrap", "--grpc-client", ...files);
    const config = { ca_certificate_file: "ca.pem", certificate_file: "own.pem", private_key_file: "own.key" };
    assert.deepEqual(JSON.parse(grpc.out).xds_servers[0].channel_creds, [{ type: "tls", config }]);
  });

  test("lets Envoy follow its certificates and a token through files in a folder", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "xdskit-secrets-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const files = ["--tls-ca", "ca.pem", "--tls-cert", "own.pem", "--tls-key", "own.key", "--token-file", "/run/token"];
    const spiffe = ["--tls-server-name", "spiffe://mesh.example/xdskit"];
    const { out, err, status } = await xdskitEnds("bootstrap", ...files, ...spiffe, "--secrets", join(folder, "a"));
    assert.deepEqual({ err, status }, { err: "", status: 0 });
    const [cluster] = parse(out).static_resources.clusters;
    const context = cluster.transport_socket.typed_config;
    assert.equal(context.sni, undefined);
    const options = cluster.typed_extension_protocol_options["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"];
    const [injector] = options.http_filters;
    const { tls_certificate_sds_secret_configs: certificates, validation_context_sds_secret_config: validation } =
      context.common_tls_context;
    const named = [...certificates, validation, injector.typed_config.credential.typed_config.credential];
    const secrets = named.map(({ name, sds_config }) => {
      const [secret] = parse(readFileSync(sds_config.path_config_source.path, "utf8")).resources;
      assert.equal(secret.name, name);
      return { ...secret, "@type": undefined, name: undefined };
    });
    const none = { "@type": undefined, name: undefined };
    const match = [{ san_type: "URI", matcher: { exact: spiffe[1] } }];
    assert.deepEqual(secrets, [
      {
        ...none,
        tls_certificate: { certificate_chain: { filename: "own.pem" }, private_key: { filename: "own.key" } },
      },
      {
        ...none,
        validation_context: { trusted_ca: { filename: "ca.pem" }, match_typed_subject_alt_names: match },
      },
      { ...none, generic_secret: { secret: { filename: "/run/token" } } },
    ]);

    writeFileSync(join(folder, "file"), "");
    const failed = await xdskitEnds("bootstrap", ...files, "--secrets", join(folder, "file"));
    assert.deepEqual({ out: failed.out, status: failed.status }, { out: "", status: 1 });
    assert.match(failed.err, /file/);
  });

  test("gives gRPC clients a token, certificates for backends, trust, and services they may call", async () => {
    const args = [
      "--tls-ca",
      "ca.pem",
      "--token-file",
      "/run/token",
      "--trusted",
      "--allow-grpc-service",
      "dns:///a:1",
    ];
    const { out } = await xdskitEnds("bootstrap", "--grpc-client", ...args);
    const { xds_servers, certificate_providers, allowed_grpc_services } = JSON.parse(out);
    const config = { ca_certificate_file: "ca.pem" };
    const credentials = {
      channel_creds: [{ type: "tls", config }],
      call_creds: [{ type: "jwt_token_file", config: { jwt_token_file: "/run/token" } }],
    };
    const server_features = ["xds_v3", "trusted_xds_server"];
    assert.deepEqual(xds_servers, [{ server_uri: "127.0.0.1:18000", ...credentials, server_features }]);
    assert.deepEqual(allowed_grpc_services, { "dns:///a:1": credentials });
    assert.deepEqual(certificate_providers, {
      default: { plugin_name: "file_watcher", config: { ...config, refresh_interval: "60s" } },
    });
  });

  test("ends with 2 for wrong usage, with the reason on standard error", async () => {
    const wrong: [string[], RegExp][] = [
      [["bootstrap", "--server", "nowhere"], /Expected HOST:PORT/],
      [["bootstrap", "--variant", "both"], /Allowed choices are sotw, delta, rest/],
      [["bootstrap", "--ads", "--per-type"], /cannot be used with/],
      [["bootstrap", "--ads", "--variant", "rest"], /there is no ADS over REST/],
      [["bootstrap", "--grpc-client", "--variant", "rest"], /gRPC clients do not poll over REST/],
      [["bootstrap", "--load-reports", "--variant", "rest"], /there are no load reports over REST/],
      [["bootstrap", "--admin-port", "65536"], /Expected a port number/],
      [["bootstrap", "--tls-ca", "ca", "--tls-cert", "own"], /--tls-cert and --tls-key need each other/],
      [
        ["bootstrap", "--tls-ca", "ca", "--tls-cert", "own", "--tls-key", "-----BEGIN PRIVATE KEY-----\nSECRET\n"],
        /^(?!.*SECRET).*--tls-key wants the path of a file, and not what stands in it/s,
      ],
      [["bootstrap", "--tls-server-name", "a"], /are for --tls-ca/],
      [["bootstrap", "--grpc-client", "--tls-ca", "ca", "--tls-server-name", "a"], /gRPC clients have no/],
      [["bootstrap", "--token-file", "t"], /Envoy needs --secrets with --token-file/],
      [["bootstrap", "--secrets", "s"], /--secrets is for --tls-ca and --token-file/],
      [["bootstrap", "--grpc-client", "--secrets", "s"], /cannot be used with/],
      [["bootstrap", "--grpc-client", "--token-file", "t"], /over TLS only/],
      [["bootstrap", "--server", "xds.test:1", "--token-file", "t", "--secrets", "s"], /in plaintext: add --tls-ca/],
      [["bootstrap", "--trusted"], /are for --grpc-client/],
      [["bootstrap", "--colour"], /unknown option '--colour'/],
      [["boot"], /unknown command 'boot'/],
      [[], /Usage: xdskit/],
    ];
    for (const [args, reason] of wrong) {
      const { status, out, err } = await xdskitEnds(...args);
      assert.deepEqual({ status, out }, { status: 2, out: "" }, args.join(" "));
      assert.match(err, reason);
    }
  });
});
