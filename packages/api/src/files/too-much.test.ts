import assert from "node:assert/strict";
import { test } from "node:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { maxErrors } from "../errors/limits.js";
import { readResources } from "./resource-file.js";

const million = 1_000_000;
const tooMany = /^more than [1-9]\d+ fields, items, lists and mappings in one text: the rest is not read$/;
const atOnce = /^more than \d+ (?:values|words|documents)/;
const errors = new RegExp(`^more than ${maxErrors} (?:errors|mistakes)`);

/** A binary `DiscoveryResponse` with one load assignment of as many empty localities. */
function emptyLocalities(count: number): Uint8Array {
  const localities = Buffer.alloc(2 * count);
  for (let at = 0; at < localities.length; at += 2) localities[at] = 0x12;
  const writer = new BinaryWriter().tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string("type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment");
  return writer.tag(2, WireType.LengthDelimited).bytes(localities).join().finish();
}

/** Texts of some megabytes that would be millions of values, with why reading ends, and the line. */
const texts: readonly (readonly [string, string, () => string | Uint8Array, RegExp, number | undefined])[] = [
  ["lists", "a.json", () => `[${"[],".repeat(2 * million)}[]]`, tooMany, 1],
  ["lists as only Envoy reads them", "a.json", () => `['"',${"[],".repeat(2 * million)}]`, tooMany, 1],
  ["lines", "a.json", () => `[${"0,\n".repeat(3 * million)}0]`, tooMany, 2 * million],
  ["things that are no resources", "a.json", () => `[${"[],\n".repeat(20_000)}[]]`, errors, maxErrors + 1],
  ["no resources", "a.yaml", () => "- 1\n".repeat(million), errors, maxErrors + 1],
  ["lines without an indent in one text", "a.yaml", () => `a: "${"x\n".repeat(100_000)}"`, errors, undefined],
  ["comments", "a.yaml", () => `${"#\n".repeat(million)}a`, atOnce, 151_553],
  ["documents", "a.yaml", () => "---\n".repeat(200_000), atOnce, undefined],
  ["anchors", "a.yaml", () => `a: [${"&a a,".repeat(0.5 * million)}1]`, atOnce, 1],
  ["empty resources", "a.pb", () => Buffer.from("\x12\0".repeat(3 * million), "latin1"), tooMany, undefined],
  ["empty items", "a.pb", () => emptyLocalities(3 * million), tooMany, undefined],
  ["empty resources", "a.pb_text", () => "resources {} ".repeat(million), atOnce, 1],
];

for (const [what, path, make, reason, line] of texts) {
  test(`a file of many ${what} (${path}) is read to a limit, and the error says where`, () => {
    const made = make();
    const bytes = typeof made === "string" ? Buffer.from(made) : made;
    const { resources, findings } = readResources({ path, bytes });
    assert.equal(resources.length, 0);
    const last = findings.at(-1);
    assert.match(last?.message ?? "", reason);
    assert.equal(last?.code, "XDSKIT_SYNTAX");
    if (line !== undefined) assert.equal(last?.line, line);
  });
}

test("a route configuration of 100,000 hosts is no file of too much", () => {
  const host = (index: number) => ({
    name: `h${index}`,
    domains: [`d${index}`],
    routes: [{ match: { prefix: "/" }, route: { cluster: `c${index % 10}` } }],
  });
  const route = {
    "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    name: "r",
    virtual_hosts: Array.from({ length: 100_000 }, (_, index) => host(index)),
  };
  const { resources, findings } = readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(route)) });
  assert.deepEqual([resources.length, findings], [1, []]);
});

test("a mapping with many merge keys is read in a time that grows as it does", () => {
  const bytes = Buffer.from(`a: &a {x: 1}\nb:\n${"  <<: *a\n".repeat(100_000)}`);
  const before = process.cpuUsage();
  readResources({ path: "a.yaml", bytes });
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 30_000_000, `${user + system} µs`);
});
