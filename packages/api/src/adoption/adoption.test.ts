import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { stringify } from "yaml";
import { describe } from "../errors/errors.js";
import { readResources } from "../files/resource-file.js";

const url = (name: string) => `type.googleapis.com/envoy.${name}`;
const cluster = (name: string, more: object = {}) => ({ name, connect_timeout: "1s", ...more });
const typed = (type: string, resource: object) => ({ "@type": url(type), ...resource });
const dumped = (name: string, more: object = {}) => ({
  cluster: typed("config.cluster.v3.Cluster", cluster(name, more)),
  version_info: "1",
});
const address = (port: number, more: object = {}) => ({
  socket_address: { address: "0.0.0.0", port_value: port, ...more },
});
const listener = (more: object) => ({ filter_chains: [{}], ...more });
const eds = { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } } };
const load = (name: string, status = "HEALTHY") => ({
  endpoint_config: typed("config.endpoint.v3.ClusterLoadAssignment", {
    cluster_name: name,
    endpoints: [
      { load_balancing_weight: 0, lb_endpoints: [{ endpoint: { address: address(80) }, health_status: status }] },
    ],
  }),
});
const section = (name: string, fields: object) => typed(`admin.v3.${name}ConfigDump`, fields);
const secret = (name: string, fields: object) => ({
  name,
  secret: typed("extensions.transport_sockets.tls.v3.Secret", { name, ...fields }),
});

/** The result of both forms of a file, on lines: resources, adoptions and findings. */
function read(content: unknown): readonly string[] {
  const [json, yaml] = [
    ["a.json", JSON.stringify(content, undefined, 1)],
    ["a.yaml", stringify(content, { aliasDuplicateObjects: false })],
  ].map(([path = "", text = ""]) => {
    const bytes = Buffer.from(text);
    const { resources, findings, adoptions } = readResources({ path, bytes });
    const byPlaces = readResources({ path, bytes }, { places: true });
    assert.deepEqual(byPlaces.adoptions, adoptions);
    assert.deepEqual(
      byPlaces.resources.map(({ resource, where }) => ({ ...resource, where })),
      resources.map(({ resource, where }) => ({ ...resource, where })),
    );
    return [
      ...resources.map(({ resource }) => `${resource.type.name} ${resource.name}`),
      ...adoptions.map(({ form, taken, leftOut }) => `${form} ${JSON.stringify(taken)} ${leftOut.join(", ")}`.trim()),
      ...findings.map((finding) => `${finding.severity} ${withoutPlace(describe(finding))}`),
    ];
  });
  assert.deepEqual(yaml, json);
  return json ?? [];
}

const withoutPlace = (text: string) => text.replace(/^a\.\w+:\d+:\d+: /, "");

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
  test("its resources are taken, with and without its type", () => {
    const resources = ["secret s", "cluster a", "cluster b", "listener named", "runtime static"];
    assert.deepEqual(read(bootstrap), [...resources, ...told]);
    assert.deepEqual(read(typed("config.bootstrap.v3.Bootstrap", bootstrap)), [...resources, ...told]);
  });
  test("the clusters of its own management servers are left out, in a dump too", () => {
    const services = (name: string) => ({ grpc_services: [{ envoy_grpc: { cluster_name: name } }] });
    const own = {
      dynamic_resources: { ads_config: services("ads"), cds_config: { api_config_source: services("cds") } },
      layered_runtime: { layers: [{ name: "r", rtds_layer: { rtds_config: { apiConfigSource: services("rtds") } } }] },
    };
    const names = ["ads", "cds", "rtds", "web"];
    const static_resources = { clusters: names.map((name) => cluster(name)) };
    const leftOut = ["3 clusters of a management server", "1 runtime layer without values", "dynamic_resources"];
    assert.deepEqual(read({ ...own, static_resources }), [
      ...["cluster web", `an Envoy bootstrap {"cluster":1} ${leftOut.join(", ")}`],
    ]);
    const static_clusters = names.map((name) => dumped(name));
    const configs = [section("Bootstrap", { bootstrap: own }), section("Clusters", { static_clusters })];
    const inDump = [...leftOut.slice(1), ...leftOut.slice(0, 1)].join(", ");
    assert.deepEqual(read({ configs }), ["cluster web", `an Envoy config dump {"cluster":1} ${inDump}`]);
  });
  test("listeners without a name get one of their address", () => {
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
  test("one resource needs no list, lists may lie in lists, and names may look like numbers", () => {
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
  test("what is wrong is said with its place", () => {
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
  test("one without resources is an error, since the file is as good as empty", () => {
    const [form, finding, ...more] = read({ dynamic_resources: {}, node: { id: "a" } });
    assert.equal(form, "an Envoy bootstrap {} dynamic_resources, node");
    assert.match(finding ?? "", /^error this is an Envoy bootstrap, and nothing in it .*\[XDSKIT_NOTHING_TAKEN\]$/);
    assert.deepEqual(more, []);
  });
  test("clusters that are named as management servers are told: they must be in the client's bootstrap", () => {
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
  test("however many keys it has, few are named", () => {
    const keys = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, 1]));
    const bytes = Buffer.from(
      JSON.stringify({ xds: { a: section("Clusters", { static_clusters: [dumped("a")] }) }, ...keys }),
    );
    const { adoptions, findings } = readResources({ path: "a.json", bytes });
    assert.deepEqual(findings, []);
    assert.equal(adoptions[0]?.leftOut.length, 51);
    assert.equal(adoptions[0]?.leftOut.at(-1), "150 other parts");
  });
  test("a secret that was left out is an error, as in any file that people write", () => {
    const lacking = { name: "s", generic_secret: { secret: { inline_string: "[redacted]" } } };
    assert.match(read({ static_resources: { secrets: [lacking] } }).join(), /error secret "s".*XDSKIT_SECRET_LEFT_OUT/);
  });
});

suite("an Envoy config dump", () => {
  test("what is active is taken, and once where several sections hold it", () => {
    const boot = {
      static_resources: { clusters: [cluster("fixed")], listeners: [listener({ address: address(80) })] },
    };
    const fixed = { listener: typed("config.listener.v3.Listener", listener({ address: address(80) })) };
    const state = (name: string) => ({
      listener: typed("config.listener.v3.Listener", listener({ name, address: address(81) })),
    });
    const route = (fields: object) => ({ route_config: typed("config.route.v3.RouteConfiguration", fields) });
    const extension = (fields: object) => ({
      ecds_filter: typed("config.core.v3.TypedExtensionConfig", { name: "e", ...fields }),
    });
    const config = { typed_config: typed("extensions.filters.http.router.v3.Router", {}) };
    const configs = [
      section("Bootstrap", { bootstrap: boot }),
      section("Clusters", {
        static_clusters: [dumped("fixed")],
        dynamic_active_clusters: [dumped("a", eds), { error_state: { details: "bad" }, ...dumped("b") }],
        dynamic_warming_clusters: [dumped("w"), dumped("x")],
      }),
      section("Endpoints", {
        static_endpoint_configs: [load("fixed")],
        dynamic_endpoint_configs: [load("a", "UNHEALTHY"), load("a"), load("b")],
      }),
      section("Listeners", {
        static_listeners: [fixed],
        dynamic_listeners: [
          { name: "l", active_state: state("l"), warming_state: state("l"), draining_state: state("l") },
          { name: "n", error_state: { failed_configuration: state("n").listener } },
        ],
      }),
      section("ScopedRoutes", {}),
      section("Routes", {
        static_route_configs: [route({ virtual_hosts: [] })],
        dynamic_route_configs: [route({ name: "r" })],
      }),
      section("Secrets", {
        static_secrets: [secret("s", { generic_secret: { secret: { inline_string: "[redacted]" } } })],
        dynamic_active_secrets: [secret("ca", { validation_context: { trusted_ca: { inline_string: "x" } } })],
        dynamic_warming_secrets: [secret("w", {})],
      }),
      section("Ecds", { ecds_filters: [extension(config), extension({})] }),
      section("Ecds", { ecds_filters: [extension(config)] }),
      section("Other", {}),
      { "@type": "type.googleapis.com/acme.Dump" },
    ];
    const resources = [
      ...["cluster fixed", "cluster a", "cluster b", "endpoint a", "listener 0.0.0.0_80", "listener l", "route r"],
      ...["secret ca", "extension-config e"],
    ];
    const taken = { secret: 1, cluster: 3, endpoint: 1, "extension-config": 1, listener: 2, route: 1 };
    const leftOut = [
      ...["1 rejected cluster", "2 warming clusters", "2 load assignments of a cluster without EDS"],
      "1 endpoint with another state of its endpoints",
      ...["1 warming listener", "1 draining listener", "1 rejected listener", "1 route inside a listener"],
      ...["1 warming secret", "1 extension-config without content", "2 sections of another kind"],
    ];
    const text = 'is "[redacted]", which stands in the place of a secret that was left out: the resource is not served';
    assert.deepEqual(read({ configs }), [
      ...resources,
      `an Envoy config dump ${JSON.stringify(taken)} ${leftOut.join(", ")}`,
      "warning configs[2].dynamic_endpoint_configs[0].endpoint_config: 1 of its endpoints is UNHEALTHY, as when the dump was made: no client that is told so sends anything there [XDSKIT_DUMPED_STATE]",
      `warning secret "s", generic_secret.secret.inline_string: ${text} [XDSKIT_SECRET_LEFT_OUT]`,
    ]);
  });
  test("one section, with its type and without, and single elements", () => {
    const clusters = { dynamic_active_clusters: [dumped("a"), dumped("b")] };
    const expected = ["cluster a", "cluster b", 'an Envoy config dump {"cluster":2}'];
    assert.deepEqual(read(section("Clusters", clusters)), expected);
    assert.deepEqual(read(clusters), expected);
    const elements = clusters.dynamic_active_clusters.map((each) =>
      typed("admin.v3.ClustersConfigDump.DynamicCluster", each),
    );
    assert.deepEqual(read({ configs: elements }), expected);
  });
  test("what is no section is told, and the others are taken", () => {
    const [first, , finding] = read({ configs: [section("Clusters", { static_clusters: [dumped("a")] }), 7] });
    assert.equal(first, "cluster a");
    assert.match(finding ?? "", /^error configs\[1\]: expected a mapping \[XDSKIT_FIELD_INVALID\]$/);
  });
  test("places are those of the resources in the file", () => {
    const text = JSON.stringify(
      { configs: [section("Clusters", { static_clusters: [dumped("a"), dumped("b")] })] },
      undefined,
      1,
    );
    const { resources } = readResources({ path: "a.json", bytes: Buffer.from(text) });
    const lines = text.split("\n");
    assert.deepEqual(
      resources.map(({ where }) => lines[(where.line ?? 0) - 1]?.trim()),
      ['"cluster": {', '"cluster": {'],
    );
    assert.notEqual(resources[0]?.where.line, resources[1]?.where.line);
  });
});

suite("what istioctl and egctl print", () => {
  test("lists of one type, without it", () => {
    const form = "a list without types, as istioctl prints it";
    assert.deepEqual(read([{ name: "a", type: "STATIC", connectTimeout: "1s" }, cluster("b")]), [
      ...["cluster a", "cluster b", `${form} {"cluster":2}`],
    ]);
    assert.deepEqual(
      read([{ name: "l", address: { socketAddress: { address: "::", portValue: 1 } }, filterChains: [{}] }]),
      [...["listener l", `${form} {"listener":1}`]],
    );
    const host = { name: "h", domains: ["*"] };
    assert.deepEqual(
      read([{ name: "r", virtualHosts: [host] }, { virtualHosts: [host] }, { name: "r", virtualHosts: [host] }]),
      [...["route r", `${form} {"route":1} 1 route inside a listener`]],
    );
    assert.deepEqual(read([{ clusterName: "a" }, { clusterName: "b" }]), [
      "endpoint a",
      "endpoint b",
      `${form} {"endpoint":2}`,
    ]);
  });
  test("routes without hosts, and secrets", () => {
    const told = (taken: string) => `a list without types, as istioctl prints it {${taken}}`;
    assert.deepEqual(read([{ name: "r", ignorePortInHostMatching: true }]), ["route r", told('"route":1')]);
    const [secret, text] = read([{ name: "s", genericSecret: { secret: { inlineString: "x" } } }]);
    assert.deepEqual([secret, text], ["secret s", told('"secret":1')]);
  });
  test("one of the list that lacks its type is told, and the others are taken", () => {
    const [first, told, finding] = read([cluster("a"), { nme: "b" }]);
    assert.deepEqual([first, told], ["cluster a", 'a list without types, as istioctl prints it {"cluster":1}']);
    assert.match(finding ?? "", /lacks "@type".*XDSKIT_TYPE_MISSING/);
  });
  test("what a list without types holds twice is taken once, also where one of both says its type", () => {
    const again = typed("config.cluster.v3.Cluster", cluster("b"));
    assert.deepEqual(read([cluster("b"), again, cluster("c")]), [
      ...["cluster b", "cluster c", 'a list without types, as istioctl prints it {"cluster":2}'],
    ]);
  });
  test("a list of resources with their types stays one, and one without is an error that says which it may be", () => {
    const [first, finding, ...more] = read([typed("config.cluster.v3.Cluster", cluster("a")), cluster("b")]);
    assert.deepEqual([first, more], ["cluster a", []]);
    assert.match(
      finding ?? "",
      /lacks "@type".*its fields are those of "type.googleapis.com\/envoy.config.cluster.v3.Cluster"/,
    );
  });
  test("the endpoints of each cluster, as the list of clusters says them", () => {
    const host = (port: number, more: object = {}) => ({
      address: address(port),
      stats: [{ name: "cx_total" }],
      weight: 2,
      healthStatus: { edsHealthStatus: "HEALTHY" },
      locality: { zone: "z" },
      ...more,
    });
    const statuses = [
      { name: "a", addedViaApi: true, hostStatuses: [host(1), host(2), host(3, { priority: 1 })] },
      { name: "b", edsServiceName: "service-b", hostStatuses: [host(1)] },
      { name: "fixed", hostStatuses: [host(1)] },
    ];
    const taken = (form: string) => [
      "endpoint a",
      "endpoint service-b",
      `${form} {"endpoint":2} 1 cluster of a bootstrap`,
    ];
    assert.deepEqual(read(statuses), taken("a list without types, as istioctl prints it"));
    assert.deepEqual(read({ cluster_statuses: statuses }), taken("the list of clusters of an Envoy's admin"));
  });
  test("dumps of several pods: what they have in common is taken once", () => {
    const dump = (...names: string[]) =>
      section("Clusters", { dynamic_active_clusters: names.map((name) => dumped(name)) });
    const all = { configs: [dump("c")] };
    assert.deepEqual(read({ default: { "pod-1": dump("a", "b"), "pod-2": dump("a") }, other: { "pod.3": all } }), [
      ...["cluster a", "cluster b", "cluster c", 'the output of egctl config envoy-proxy {"cluster":3}'],
    ]);
    assert.deepEqual(read({ gateways: [{}], xds: { "default/eg": dump("a") } }), [
      ...["cluster a", 'the output of egctl x translate {"cluster":1} gateways'],
    ]);
  });
});

suite("the answer of a status service", () => {
  test("what clients have is taken", () => {
    const config = (name: string) => typed("config.cluster.v3.Cluster", cluster(name));
    const generic = [
      { type_url: url("config.cluster.v3.Cluster"), name: "a", xds_config: config("a"), client_status: "ACKED" },
      { type_url: url("config.cluster.v3.Cluster"), name: "b", client_status: "REQUESTED" },
    ];
    const told = 'the answer of a status service (CSDS) {"cluster":1}';
    assert.deepEqual(read({ config: [{ node: { id: "n" }, generic_xds_configs: generic }] }), [
      ...["cluster a", `${told} 1 resource without content`],
    ]);
    const older = { node: {}, xds_config: [{ cluster_config: { dynamic_active_clusters: [dumped("a")] } }] };
    assert.deepEqual(read(older), ["cluster a", told]);
  });
});

suite("what is none of them", () => {
  for (const [what, content, hint] of [
    ["a resource without its type", cluster("a"), /its fields are those of ".*Cluster"/],
    ["a config dump without types", { configs: [{ clusters: [] }] }, /looks like a config dump/],
    ["the bootstrap of a gRPC client", { xds_servers: [] }, /the bootstrap of a gRPC client/],
    ["an object of Kubernetes", { apiVersion: "v1", kind: "Service" }, /an object of Kubernetes/],
    ["a bootstrap without resources", { node: { id: "a" } }, /looks like an Envoy's bootstrap/],
  ] as const) {
    test(`${what} is the error of before, with a hint`, () => {
      const [finding, ...more] = read(content);
      assert.match(finding ?? "", /^error .*a resource lacks "@type", such as .*XDSKIT_TYPE_MISSING\]$/);
      assert.match(finding ?? "", hint);
      assert.deepEqual(more, []);
    });
  }
});
