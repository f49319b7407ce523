import assert from "node:assert/strict";
import { test } from "node:test";
import { envoyRegistry } from "../registry.js";
import { readResources } from "../resource-file.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createRepeatable } from "../testing/repeatable.js";
import { Encoding } from "./encoding.js";
import { JsonBytes } from "./json-bytes.js";
import { readersOf } from "./readers.js";
import { Templates } from "./templates.js";

const { below, oneOf } = createRepeatable();

const url = (name: string) => `type.googleapis.com/envoy.${name}`;
/** Around the lengths at which a length takes one byte more, what cannot be a name, and what is written otherwise than it stands. */
const lengths = [1, 5, 9, 40, 60, 90, 100, 126, 127, 128, 129, 300, 5_000, 16_000, 16_380];
const odds = [
  "",
  "",
  "",
  "",
  '"',
  "\\",
  "(",
  "é",
  "\u0001",
  "a\nb",
  "xdstp:",
  "xdstp:///a/b",
  "xdstp://x/envoy.config.cluster.v3.Cluster/c",
];

/** What is odd comes seldom, and in some files hardly ever. */
let rarity = 20;
function isOdd(): boolean {
  return below(rarity) === 0;
}

function name(): string {
  if (isOdd()) return oneOf(odds);
  const repeated = "n".repeat(isOdd() ? oneOf(lengths) : below(5));
  return `${repeated}${isOdd() ? oneOf(odds) : below(5_000)}`;
}

/** Also such as are none, or too large for a port. */
function number(): unknown {
  return isOdd() ? oneOf([0, -1, 1.5, 65_535, 65_536, 1e21, 12 * 10 ** 18, "80", null]) : below(60_000);
}

const endpoint = () => ({
  endpoint: { address: { socket_address: { address: name(), port_value: number() } }, hostname: name() },
});
/** Each makes resources that differ in some strings. */
const patterns: readonly (() => object)[] = [
  () => ({
    "@type": url("config.cluster.v3.Cluster"),
    alt_stat_name: name(),
    name: name(),
    type: "EDS",
    connect_timeout: "1s",
    eds_cluster_config: { eds_config: { ads: {} } },
  }),
  () => ({
    "@type": url("config.cluster.v3.Cluster"),
    name: name(),
    type: "EDS",
    lb_policy: "RANDOM",
    connect_timeout: "1s",
    alt_stat_name: name(),
    eds_cluster_config: { service_name: "a", eds_config: { ads: {} } },
  }),
  () => ({
    "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
    endpoints: [{ lb_endpoints: [endpoint(), endpoint()], locality: { zone: name(), region: "r" } }],
    cluster_name: name(),
  }),
  () => ({
    "@type": url("config.route.v3.RouteConfiguration"),
    name: name(),
    virtual_hosts: [
      {
        name: name(),
        domains: ["*"],
        routes: [{ match: { safe_regex: { regex: name() } }, route: { cluster: name() } }],
      },
    ],
  }),
  () => ({
    "@type": url("config.route.v3.ScopedRouteConfiguration"),
    key: { fragments: [{ string_key: "k" }] },
    route_configuration_name: name(),
    name: name(),
  }),
  () => ({
    "@type": url("config.listener.v3.Listener"),
    name: name(),
    address: { socket_address: { address: name(), port_value: 80 } },
    stat_prefix: name(),
    per_connection_buffer_limit_bytes: number(),
    tcp_backlog_size: number(),
  }),
];

function told({ resources, findings }: ReturnType<typeof readResources>): unknown {
  return structuredClone({
    plain: resources.map(({ resource, where }) => {
      return { ...resource, type: resource.type.typeUrl, body: Buffer.from(resource.body), where };
    }),
    findings,
  });
}

test("resources of a few patterns are what they are by way of messages", () => {
  for (let count = 60 * Number(process.env.RUNS ?? 1); count > 0; count -= 1) {
    rarity = oneOf([20, 200, 1_000]);
    const some = Array.from({ length: 1 + below(3) }, () => oneOf(patterns));
    const items = Array.from({ length: 40 }, () => oneOf(some)());
    const indent = oneOf([0, 1, 2]);
    const escaped = below(2) === 0;
    const text = JSON.stringify(items, undefined, indent).replace(/[^\0-\x7f]/g, (one) =>
      escaped ? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}` : "?",
    );
    // Numbers that JSON does not know, and some that are written otherwise.
    // Numbers that JSON does not know, or that are written otherwise.
    const spell = oneOf([(one: string) => `0${one}`, (one: string) => `${one}.0`, (one: string) => `${one}e0`]);
    const odd = text.replace(/(?<=: ?)[1-9]\d*(?=[,}\s])/g, (one) => (isOdd() ? spell(one) : one));
    // Without what was learnt of others: of what fits nothing, no more is learnt after a while.
    const types = { ...resourceTypes };
    const read = readResources({ path: "some.json", bytes: Buffer.from(odd) }, { types });
    const expected = readResources({ path: "some.json", bytes: Buffer.from(odd) }, { places: true });
    assert.deepEqual(told(read), told(expected), odd);
  }
});

/** Reads objects one by one, and counts how many were read without a template, and how many of them to make one. */
function counted(objects: readonly object[]): { readonly read: number; readonly learnt: number } {
  const schema = envoyRegistry().getMessage("envoy.config.endpoint.v3.ClusterLoadAssignment") ?? assert.fail();
  const nameField = schema.fields.find(({ name }) => name === "cluster_name") ?? assert.fail();
  const reader = readersOf(envoyRegistry()).typed(schema, nameField) ?? assert.fail();
  const counts = { read: 0, learnt: 0 };
  const templates = new Templates({
    ...reader,
    read(out, src) {
      counts.read += 1;
      if (out.recording !== undefined) counts.learnt += 1;
      return reader.read(out, src);
    },
  });
  const out = new Encoding();
  for (const object of objects) templates.read(out, new JsonBytes(Buffer.from(JSON.stringify(object))));
  return counts;
}

/** The weight is a message of its own. */
const assignment = (index: number, load_balancing_weight: number) => ({
  "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name: `c${index}`,
  endpoints: Array.from({ length: 1 + (index % 3) }, () => ({
    load_balancing_weight,
    lb_endpoints: [
      { endpoint: { address: { socket_address: { address: `10.0.0.${index % 256}`, port_value: 80 + index } } } },
    ],
  })),
});

test("each pattern is read once, or twice where a length takes another byte", () => {
  const { read } = counted(Array.from({ length: 1_000 }, (_, index) => assignment(index, 1)));
  assert.ok(read >= 3 && read <= 6, `${read} were read`);
});

test("where no object is as the one before, templates are soon made of few", () => {
  const { read, learnt } = counted(Array.from({ length: 1_000 }, (_, index) => assignment(index, 1 + index)));
  assert.equal(read, 1_000);
  assert.ok(learnt >= 8 && learnt <= 20, `${learnt} were made`);
});
