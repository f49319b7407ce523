import assert from "node:assert/strict";
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
  loadReports: false,
};
const variants = [
  ...(["sotw", "delta"] as const).flatMap((variant) =>
    (["ads", "per-type"] as const).map((streams) => ({ variant, streams })),
  ),
  { variant: "rest", streams: "per-type" },
] as const;

describe("Envoy's bootstrap", () => {
  test("each variant asks for what its name says", () => {
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

  test("load reports go to the server when they are wanted", () => {
    assert.equal(parse(envoyBootstrap(options)).cluster_manager, undefined);
    const { load_stats_config: config } = parse(envoyBootstrap({ ...options, loadReports: true })).cluster_manager;
    assert.deepEqual(config.grpc_services, [{ envoy_grpc: { cluster_name: "xdskit" } }]);
  });

  test("the options stand where they belong, whatever characters they have", () => {
    const nodeId = 'a: "b" #c\n- d';
    const bootstrap = parse(envoyBootstrap({ ...options, nodeId, adminPort: 0 }));
    assert.deepEqual(bootstrap.node, { id: nodeId, cluster: "edge" });
    assert.equal(bootstrap.admin.address.socket_address.port_value, 0);
  });
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

  test("wrong usage is exit status 2, with the reason on standard error", async () => {
    const wrong: [string[], RegExp][] = [
      [["bootstrap", "--server", "nowhere"], /Expected HOST:PORT/],
      [["bootstrap", "--variant", "both"], /Allowed choices are sotw, delta, rest/],
      [["bootstrap", "--ads", "--per-type"], /cannot be used with/],
      [["bootstrap", "--ads", "--variant", "rest"], /there is no ADS over REST/],
      [["bootstrap", "--grpc-client", "--variant", "rest"], /gRPC clients do not poll over REST/],
      [["bootstrap", "--load-reports", "--variant", "rest"], /there are no load reports over REST/],
      [["bootstrap", "--admin-port", "65536"], /Expected a port number/],
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
