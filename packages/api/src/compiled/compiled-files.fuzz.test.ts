import assert from "node:assert/strict";
import { test } from "node:test";
import { readResources } from "../files/resource-file.js";
import { times } from "../testing/effort.js";
import { createRepeatable } from "../testing/repeatable.js";

const { below, oneOf } = createRepeatable();

const url = (name: string) => `type.googleapis.com/envoy.${name}`;
const ads = { ads: {} };
const endpoint = () => ({
  health_status: oneOf(["HEALTHY", "UNHEALTHY", 2]),
  endpoint: { address: { socket_address: { address: "10.0.0.1", port_value: oneOf([80, 8, 800, 8080, 70_000]) } } },
});
const leds = () => ({
  leds_cluster_locality_config: { leds_config: ads, leds_collection_name: `l${below(3)}` },
});
const cluster = () => ({
  "@type": url(oneOf(["config.cluster.v3.Cluster", "config.cluster.v3.Cluster", "api.v2.Cluster"])),
  name: `c${below(5)}`,
  connect_timeout: oneOf(["1s", "0.25s", "-1s"]),
  type: oneOf(["EDS", 3]),
  edsClusterConfig: { service_name: oneOf(["s", "größe", ""]), eds_config: ads },
  lb_policy: oneOf(["ROUND_ROBIN", 1, "NONE"]),
});
const kinds = [
  cluster,
  () => ({
    "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
    cluster_name: `s${below(5)}`,
    endpoints: [
      { locality: { zone: "z" }, lb_endpoints: Array.from({ length: below(4) }, endpoint) },
      ...Array.from({ length: below(3) }, leds),
    ],
  }),
  () => ({
    "@type": url("config.route.v3.ScopedRouteConfiguration"),
    name: `x${below(5)}`,
    route_configuration_name: `r${below(2)}`,
    key: { fragments: [{ string_key: "k" }] },
  }),
  () => ({
    "@type": url("service.discovery.v3.Resource"),
    ...oneOf([{}, { ttl: "3s", name: "c1" }, { aliases: ["b", "a"] }]),
    resource: cluster(),
  }),
];
const values = [
  "null",
  "-0",
  "01",
  "1e400",
  "1.0",
  "80e0",
  '"80"',
  "{}",
  "[]",
  "[{}]",
  '"\\u0061"',
  '"\\ud800"',
  "nul",
];
const inserted = [
  ",",
  '"',
  "}",
  "]",
  " ",
  "\r\n",
  "\t",
  "\u00a0",
  "\u0001",
  "\\",
  "0",
  '"name":"z",',
  '"n\\u0061me":"z",',
];

/** JSON with the white space of people's and programs' files, and a few unusual values. */
function written(json: unknown, space: string): string {
  if (typeof json !== "object" || json === null) return below(150) === 0 ? oneOf(values) : JSON.stringify(json);
  const inner = space.includes("\n") ? `${space}  ` : space;
  if (Array.isArray(json)) return `[${inner}${json.map((item) => written(item, inner)).join(`,${inner}`)}${space}]`;
  const fields = Object.entries(json).map(([key, value]) => `"${key}":${inner && " "}${written(value, inner)}`);
  if (below(20) === 0) fields.reverse();
  if (below(150) === 0) fields.push(...fields.slice(0, 1));
  return `{${inner}${fields.join(`,${inner}`)}${space}}`;
}

function damaged(text: string): string {
  const from = below(text.length);
  const to = Math.min(text.length, from + below(oneOf([2, 10, 100])));
  return text.slice(0, from) + oneOf([oneOf(inserted), "", text.slice(from, to).repeat(2)]) + text.slice(to);
}

function file(): string {
  const made = Array.from({ length: below(2) }, () => oneOf(kinds));
  const some = made.length === 0 ? kinds : made;
  const space = () => oneOf(["", " ", "\n", "\r\n"]);
  const common = space();
  const items = Array.from({ length: 1 + below(6) }, () => written(oneOf(some)(), below(5) === 0 ? space() : common));
  const list = `[${items.join(`,${common}`)}]`;
  const text = oneOf([list, list, list, `${items[0]}\n`, `{"version_info":"1","resources":${list}}`, items.join("\n")]);
  return below(3) === 0 ? damaged(text) : text;
}

function told({ resources, findings, version }: ReturnType<typeof readResources>): unknown {
  const plain = resources.map(({ resource, where }) => ({ ...resource, body: Buffer.from(resource.body), where }));
  return structuredClone({ plain: plain.map((one) => ({ ...one, type: one.type.typeUrl })), findings, version });
}

test("files that are read one after the other in the same memory give the same as through messages", () => {
  const room = Buffer.alloc(1 << 20);
  const before: { readonly text: string; readonly read: ReturnType<typeof readResources>; readonly was: unknown }[] =
    [];
  let taken = 0;
  for (let count = times(200); count > 0; count -= 1) {
    const text = file();
    const bytes = room.subarray(0, room.write(text));
    const read = readResources({ path: "some.json", bytes });
    const was = told(read);
    // With `places`, resources are made by way of messages.
    const expected = readResources({ path: "some.json", bytes: Buffer.from(text) }, { places: true });
    assert.deepEqual(was, told(expected), text);
    taken += read.resources.length;
    before.push({ text, read, was });
  }
  assert.ok(2 * taken > before.length);
  for (const { text, read, was } of before) assert.deepEqual(told(read), was, text);
});
