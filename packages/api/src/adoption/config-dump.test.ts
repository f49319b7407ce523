import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readResources } from "../files/resource-file.js";
import { address, cluster, dumped, eds, listener, load, read, secret, section, typed } from "../testing/adopted.js";

suite("an Envoy config dump", () => {
  test("Active resources are taken, and once even if several sections hold them", () => {
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
        dynamic_active_secrets: [secret("ca", { validation_context: { trusted_ca: { filename: "x" } } })],
        dynamic_warming_secrets: [secret("w", {})],
      }),
      section("Ecds", { ecds_filters: [extension(config), extension({})] }),
      section("Ecds", { ecds_filters: [extension(config)] }),
      section("Other", {}),
      { "@type": "type.googleapis.com/acme.Dump" },
    ];
    const resources = [
      "cluster fixed",
      "cluster a",
      "cluster b",
      "endpoint a",
      "listener 0.0.0.0_80",
      "listener l",
      "route r",
      "secret ca",
      "extension-config e",
    ];
    const taken = { secret: 1, cluster: 3, endpoint: 1, "extension-config": 1, listener: 2, route: 1 };
    const leftOut = [
      "1 rejected cluster",
      "2 warming clusters",
      "2 load assignments of a cluster without EDS",
      "1 endpoint with another state of its endpoints",
      "1 warming listener",
      "1 draining listener",
      "1 rejected listener",
      "1 route inside a listener",
      "1 warming secret",
      "1 extension-config without content",
      "2 sections of another kind",
    ];
    const text = 'is "[redacted]", which stands in the place of a secret that was left out: the resource is not served';
    assert.deepEqual(read({ configs }), [
      ...resources,
      `an Envoy config dump ${JSON.stringify(taken)} ${leftOut.join(", ")}`,
      "warning configs[2].dynamic_endpoint_configs[0].endpoint_config: 1 of its endpoints is UNHEALTHY, as when the dump was made: no client that is told so sends anything there [XDSKIT_DUMPED_STATE]",
      `warning secret "s", generic_secret.secret.inline_string: ${text} [XDSKIT_SECRET_LEFT_OUT]`,
    ]);
  });
  test("A dump may be one section, with or without its type, or single elements", () => {
    const clusters = { dynamic_active_clusters: [dumped("a"), dumped("b")] };
    const expected = ["cluster a", "cluster b", 'an Envoy config dump {"cluster":2}'];
    assert.deepEqual(read(section("Clusters", clusters)), expected);
    assert.deepEqual(read(clusters), expected);
    const elements = clusters.dynamic_active_clusters.map((each) =>
      typed("admin.v3.ClustersConfigDump.DynamicCluster", each),
    );
    assert.deepEqual(read({ configs: elements }), expected);
  });
  test("An unknown section is reported, and the other sections are taken", () => {
    const [first, , finding] = read({ configs: [section("Clusters", { static_clusters: [dumped("a")] }), 7] });
    assert.equal(first, "cluster a");
    assert.match(finding ?? "", /^error configs\[1\]: expected a mapping \[XDSKIT_FIELD_INVALID\]$/);
  });
  test("Each resource has its own position in the file", () => {
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
