import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { address, cluster, dumped, read, section, typed } from "../testing/adopted.js";

suite("the output of istioctl and egctl", () => {
  test("A list of one type of resource needs no types", () => {
    const form = "a list without types, as istioctl prints it";
    assert.deepEqual(read([{ name: "a", type: "STATIC", connectTimeout: "1s" }, cluster("b")]), [
      "cluster a",
      "cluster b",
      `${form} {"cluster":2}`,
    ]);
    assert.deepEqual(
      read([{ name: "l", address: { socketAddress: { address: "::", portValue: 1 } }, filterChains: [{}] }]),
      ["listener l", `${form} {"listener":1}`],
    );
    const host = { name: "h", domains: ["*"] };
    assert.deepEqual(
      read([{ name: "r", virtualHosts: [host] }, { virtualHosts: [host] }, { name: "r", virtualHosts: [host] }]),
      ["route r", `${form} {"route":1} 1 route inside a listener`],
    );
    assert.deepEqual(read([{ clusterName: "a" }, { clusterName: "b" }]), [
      "endpoint a",
      "endpoint b",
      `${form} {"endpoint":2}`,
    ]);
  });
  test("Routes without virtual hosts and secrets are recognized", () => {
    const told = (taken: string) => `a list without types, as istioctl prints it {${taken}}`;
    assert.deepEqual(read([{ name: "r", ignorePortInHostMatching: true }]), ["route r", told('"route":1')]);
    const [secret, text] = read([{ name: "s", genericSecret: { secret: { inlineString: "x" } } }]);
    assert.deepEqual([secret, text], ["secret s", told('"secret":1')]);
  });
  test("An unknown item of a list is reported, and the other items are taken", () => {
    const [first, told, finding] = read([cluster("a"), { nme: "b" }]);
    assert.deepEqual([first, told], ["cluster a", 'a list without types, as istioctl prints it {"cluster":1}']);
    assert.match(finding ?? "", /lacks "@type".*XDSKIT_TYPE_MISSING/);
  });
  test("A resource that a list without types contains twice is taken once, even if one of the two says its type", () => {
    const again = typed("config.cluster.v3.Cluster", cluster("b"));
    assert.deepEqual(read([cluster("b"), again, cluster("c")]), [
      "cluster b",
      "cluster c",
      'a list without types, as istioctl prints it {"cluster":2}',
    ]);
  });
  test("In a list of resources with types, one without its type is an error that suggests a type", () => {
    const [first, finding, ...more] = read([typed("config.cluster.v3.Cluster", cluster("a")), cluster("b")]);
    assert.deepEqual([first, more], ["cluster a", []]);
    assert.match(
      finding ?? "",
      /lacks "@type".*its fields are those of "type.googleapis.com\/envoy.config.cluster.v3.Cluster"/,
    );
  });
  test("The list of clusters gives the endpoints of each cluster", () => {
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
  test("A resource that the dumps of several pods share is taken once", () => {
    const dump = (...names: string[]) =>
      section("Clusters", { dynamic_active_clusters: names.map((name) => dumped(name)) });
    const all = { configs: [dump("c")] };
    assert.deepEqual(read({ default: { "pod-1": dump("a", "b"), "pod-2": dump("a") }, other: { "pod.3": all } }), [
      "cluster a",
      "cluster b",
      "cluster c",
      'the output of egctl config envoy-proxy {"cluster":3}',
    ]);
    assert.deepEqual(read({ gateways: [{}], xds: { "default/eg": dump("a") } }), [
      "cluster a",
      'the output of egctl x translate {"cluster":1} gateways',
    ]);
  });
});
