import assert from "node:assert/strict";
import { test } from "node:test";
import { readResources } from "../files/resource-file.js";
import { cluster, extension, type Fields, listener, socket, tcp } from "../testing/refusals.js";
import { listeningAddresses } from "./listening-addresses.js";

const filter_chains = [{ filters: [tcp] }];

function addressesOf(fields: Fields) {
  const file = { path: "a.json", bytes: Buffer.from(JSON.stringify(fields)) };
  const { resources, findings } = readResources(file);
  assert.deepEqual(findings, []);
  return listeningAddresses(resources[0]!.resource);
}

const at = (address: string, more: Fields = {}, fields: Fields = {}) =>
  addressesOf(listener({ ...socket(address, more), filter_chains, ...fields }));
const keyOf = (address: string, more?: Fields, fields?: Fields) => at(address, more, fields)[0]?.key;

test("A listener has the text and the field of each of its addresses", () => {
  const path = "/run/a.sock";
  const additional_addresses = [socket("::1"), { address: { pipe: { path } } }];
  assert.deepEqual(
    at("10.0.0.1", { port_value: 8080 }, { additional_addresses }).map(({ text, field }) => `${field} ${text}`),
    ["address 10.0.0.1:8080", "additional_addresses[0].address [::1]:80", `additional_addresses[1].address ${path}`],
  );
});

test("All spellings of an address have one key", () => {
  for (const [one, other] of [
    ["::1", "0:0:0:0:0:0:0:1"],
    ["2001:DB8::a:0:0:1", "2001:db8:0:0:000a::1"],
    ["::ffff:10.0.0.1", "::ffff:a00:1"],
    ["::", "0::0"],
  ] as const)
    assert.equal(keyOf(one), keyOf(other), one);
  assert.equal(keyOf("10.0.0.1"), keyOf("10.0.0.1", { resolver_name: "envoy.ip", protocol: "TCP" }));
  assert.equal(keyOf("::"), keyOf("::", { ipv4_compat: true }));
});

test("Other hosts, ports, protocols and network namespaces have other keys", () => {
  const udp = listener({
    ...socket("10.0.0.1", { protocol: "UDP" }),
    udp_listener_config: {},
    listener_filters: [extension("filters.udp.dns_filter.v3.DnsFilterConfig", { stat_prefix: "a" })],
  });
  const keys = [
    keyOf("10.0.0.1"),
    keyOf("0.0.0.0"),
    keyOf("::"),
    keyOf("10.0.0.1", { port_value: 81 }),
    keyOf("10.0.0.1", { network_namespace_filepath: "/run/netns/a" }),
    addressesOf(udp)[0]?.key,
  ];
  assert.ok(!keys.includes(undefined));
  assert.equal(new Set(keys).size, keys.length);
});

test("Port 0 clashes with nothing, unless the listener is not bound", () => {
  assert.deepEqual(at("10.0.0.1", { port_value: 0 }), []);
  assert.deepEqual(at("10.0.0.1", { port_value: 0 }, { bind_to_port: true }), []);
  assert.equal(at("10.0.0.1", { port_value: 0 }, { bind_to_port: false }).length, 1);
  assert.equal(at("10.0.0.1", { port_value: 0 }, { deprecated_v1: { bind_to_port: false } }).length, 1);
});

test("A listener without an address has no key", () => {
  const manager = extension("filters.network.http_connection_manager.v3.HttpConnectionManager", {
    rds: { route_config_name: "a", config_source: { ads: {} } },
    http_filters: [extension("filters.http.router.v3.Router")],
  });
  assert.deepEqual(at("10.0.0.1", {}, { api_listener: { api_listener: manager.typed_config } }), []);
  const { address: _, ...internal } = listener({ filter_chains, internal_listener: {} });
  assert.deepEqual(addressesOf(internal), []);
  assert.deepEqual(addressesOf(cluster({ type: "STATIC" })), []);
});
