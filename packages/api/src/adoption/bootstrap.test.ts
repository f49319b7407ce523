import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readResources } from "../files/resource-file.js";
import { address, cluster, dumped, listener, read, section, typed } from "../testing/adopted.js";

suite("an Envoy bootstrap", () => {
  const bootstrap = {
    node: { id: "a" },
    admin: { address: address(9901) },
    layered_runtime: {
      layers: [
        { name: "static", static_layer: { "a.b": 1 } },
        { name: "admin", admin_layer: {} },
      ],
    },
    static_resources: {
      clusters: [cluster("a", { load_assignment: { cluster_name: "a" } }), cluster("b")],
      listeners: [listener({ name: "named", address: address(1) })],
      secrets: [{ name: "s", generic_secret: { secret: { inline_string: "x" } } }],
    },
  };
  const told = [
    'an Envoy bootstrap {"runtime":1,"secret":1,"cluster":2,"listener":1} 1 runtime layer without values, node, admin',
  ];
  test("The resources of a bootstrap are taken, whether it says its type or not", () => {
    const resources = ["secret s", "cluster a", "cluster b", "listener named", "runtime static"];
    assert.deepEqual(read(bootstrap), [...resources, ...told]);
    assert.deepEqual(read(typed("config.bootstrap.v3.Bootstrap", bootstrap)), [...resources, ...told]);
  });
  test("The clusters of the Envoy's own management servers are left out, in a dump too", () => {
    const services = (name: string) => ({ grpc_services: [{ envoy_grpc: { cluster_name: name } }] });
    const own = {
      dynamic_resources: { ads_config: services("ads"), cds_config: { api_config_source: services("cds") } },
      layered_runtime: { layers: [{ name: "r", rtds_layer: { rtds_config: { apiConfigSource: services("rtds") } } }] },
    };
    const names = ["ads", "cds", "rtds", "web"];
    const static_resources = { clusters: names.map((name) => cluster(name)) };
    const leftOut = ["3 clusters of a management server", "1 runtime layer without values", "dynamic_resources"];
    assert.deepEqual(read({ ...own, static_resources }), [
      "cluster web",
      `an Envoy bootstrap {"cluster":1} ${leftOut.join(", ")}`,
    ]);
    const static_clusters = names.map((name) => dumped(name));
    const configs = [section("Bootstrap", { bootstrap: own }), section("Clusters", { static_clusters })];
    const inDump = [...leftOut.slice(1), ...leftOut.slice(0, 1)].join(", ");
    assert.deepEqual(read({ configs }), ["cluster web", `an Envoy config dump {"cluster":1} ${inDump}`]);
  });
  test("A listener without a name gets one from its address", () => {
    const listeners = [
      listener({ address: address(80) }),
      listener({ name: "0.0.0.0_81", address: address(81) }),
      listener({ address: address(81) }),
      listener({ address: address(80, { protocol: "UDP" }), filter_chains: [] }),
      listener({ address: { pipe: { path: "/run/a.sock" } } }),
      listener({ address: address(80) }),
    ];
    const names = ["0.0.0.0_80", "0.0.0.0_81", "0.0.0.0_81_2", "udp_0.0.0.0_80", "/run/a.sock", "0.0.0.0_80_2"];
    assert.deepEqual(
      read({ static_resources: { listeners } }).slice(0, -1),
      names.map((name) => `listener ${name}`),
    );
  });
  test("One resource needs no list, a list may contain lists, and a name may look like a number", () => {
    const text = `!ignore common: &common
- { name: a, connect_timeout: 1s }
- { name: 1.10, connect_timeout: 1s }
static_resources:
  clusters: [*common, { name: c, connect_timeout: 1s }]
  listeners: { name: 2.0, filter_chains: {}, address: { socket_address: { address: 0.0.0.0, port_value: "80" } } }
  secrets: soon
`;
    const { findings, resources } = readResources({ path: "a.yaml", bytes: Buffer.from(text) });
    assert.deepEqual(
      resources.map(({ resource: { type, name } }) => `${type.name} ${name}`),
      ["cluster a", "cluster 1.10", "cluster c", "listener 2.0"],
    );
    assert.deepEqual(
      findings.map(({ line, field }) => [line, field]),
      [[7, "static_resources.secrets"]],
    );
  });
  test("A finding says where the mistake is", () => {
    const text = `static_resources:
  clusters:
  - name: a
    connect_timeout: 1s
  - name: b
    conect_timeout: 1s
  listenrs: []
  listeners: none
`;
    const { findings, resources } = readResources({ path: "a.yaml", bytes: Buffer.from(text) });
    assert.deepEqual(
      resources.map(({ where }) => where.line),
      [3],
    );
    assert.deepEqual(
      findings.map(({ severity, line, field, code }) => [severity, line, field, code]),
      [
        ["error", 6, "conect_timeout", "XDSKIT_FIELD_UNKNOWN"],
        ["error", 8, "static_resources.listeners", "XDSKIT_FIELD_INVALID"],
        ["warning", 7, "static_resources.listenrs", "XDSKIT_FIELD_UNKNOWN"],
      ],
    );
    assert.match(findings[2]?.message ?? "", /did you mean "listeners"/);
  });
  test("A bootstrap without resources is an error, since nothing could be served", () => {
    const [form, finding, ...more] = read({ dynamic_resources: {}, node: { id: "a" } });
    assert.equal(form, "an Envoy bootstrap {} dynamic_resources, node");
    assert.match(finding ?? "", /^error this is an Envoy bootstrap, and nothing in it .*\[XDSKIT_NOTHING_TAKEN\]$/);
    assert.deepEqual(more, []);
  });
  test("Clusters that resources name as management servers are reported, since the client's bootstrap must have them", () => {
    const source = (name: string) => ({ api_config_source: { grpcServices: [{ envoy_grpc: { clusterName: name } }] } });
    const clusters = [
      cluster("a", {
        type: "EDS",
        eds_cluster_config: { eds_config: { ...source("xds"), resource_api_version: "V3" } },
      }),
      cluster("b", { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } } }),
      cluster("c", {
        type: "EDS",
        eds_cluster_config: { edsConfig: { apiConfigSource: { clusterNames: ["rest", "xds"] } } },
      }),
    ];
    const bytes = Buffer.from(JSON.stringify({ static_resources: { clusters } }));
    const { adoptions, findings } = readResources({ path: "a.json", bytes });
    assert.deepEqual(
      findings.filter(({ severity }) => severity === "error"),
      [],
    );
    assert.deepEqual(adoptions[0]?.serverClusters, ["xds", "rest"]);
  });
  test("At most 100 of the parts that are left out are named", () => {
    const keys = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, 1]));
    const bytes = Buffer.from(
      JSON.stringify({ xds: { a: section("Clusters", { static_clusters: [dumped("a")] }) }, ...keys }),
    );
    const { adoptions, findings } = readResources({ path: "a.json", bytes });
    assert.deepEqual(findings, []);
    assert.equal(adoptions[0]?.leftOut.length, 101);
    assert.equal(adoptions[0]?.leftOut.at(-1), "100 other parts");
  });
  test("A secret that was left out is an error, as in any file that people write", () => {
    const lacking = { name: "s", generic_secret: { secret: { inline_string: "[redacted]" } } };
    assert.match(read({ static_resources: { secrets: [lacking] } }).join(), /error secret "s".*XDSKIT_SECRET_LEFT_OUT/);
  });
});
