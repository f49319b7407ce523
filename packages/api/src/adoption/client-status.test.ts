import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { cluster, dumped, read, typed, url } from "../testing/adopted.js";

suite("the answer of a status service", () => {
  test("The resources that clients have are taken", () => {
    const config = (name: string) => typed("config.cluster.v3.Cluster", cluster(name));
    const generic = [
      { type_url: url("config.cluster.v3.Cluster"), name: "a", xds_config: config("a"), client_status: "ACKED" },
      { type_url: url("config.cluster.v3.Cluster"), name: "b", client_status: "REQUESTED" },
    ];
    const told = 'the answer of a status service (CSDS) {"cluster":1}';
    assert.deepEqual(read({ config: [{ node: { id: "n" }, generic_xds_configs: generic }] }), [
      "cluster a",
      `${told} 1 resource without content`,
    ]);
    const older = { node: {}, xds_config: [{ cluster_config: { dynamic_active_clusters: [dumped("a")] } }] };
    assert.deepEqual(read(older), ["cluster a", told]);
  });
});

suite("a document in no known form", () => {
  for (const [what, content, hint] of [
    ["a resource without its type", cluster("a"), /its fields are those of ".*Cluster"/],
    ["a config dump without types", { configs: [{ clusters: [] }] }, /looks like a config dump/],
    ["the bootstrap of a gRPC client", { xds_servers: [] }, /the bootstrap of a gRPC client/],
    ["an object of Kubernetes", { apiVersion: "v1", kind: "Service" }, /an object of Kubernetes/],
    ["a bootstrap without resources", { node: { id: "a" } }, /looks like an Envoy's bootstrap/],
  ] as const) {
    test(`${what} is an error with a hint`, () => {
      const [finding, ...more] = read(content);
      assert.match(finding ?? "", /^error .*a resource lacks "@type", such as .*XDSKIT_TYPE_MISSING\]$/);
      assert.match(finding ?? "", hint);
      assert.deepEqual(more, []);
    });
  }
});
