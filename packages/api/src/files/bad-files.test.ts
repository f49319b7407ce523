import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { describe } from "../errors/errors.js";
import { readResources } from "./resource-file.js";

/** The findings of a file, one a line. */
function findings(path: string, content: string | Uint8Array): string {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return readResources({ path, bytes }).findings.map(describe).join("\n");
}

const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

suite("a text that is not well-formed", () => {
  const cases: readonly (readonly [string, string, string | Uint8Array, RegExp])[] = [
    ["YAML: a tab as indentation", "a.yaml", `a:\n\tb: 1\n`, /^a\.yaml:2:1: .*[Tt]abs?.* \[XDSKIT_SYNTAX\]/],
    ["YAML: a key twice", "a.yaml", `name: a\nname: b\n`, /^a\.yaml:2:1: the key "name" comes twice/],
    ["YAML: cut off inside quotes", "a.yaml", `"@type": "type.goo`, /^a\.yaml:1:\d+: .*\[XDSKIT_SYNTAX\]/],
    ["YAML: an unknown tag", "a.yaml", "name: !secret a\n", /^a\.yaml:1:7: an unknown tag/],
    ["YAML: an alias without anchor", "a.yaml", "a: *b\n", /^a\.yaml:1:4: an alias without an anchor/],
    ["YAML: an alias inside its own anchor", "a.yaml", "a: &b [*b]\n", /^a\.yaml:1:8: an alias without an anchor/],
    ["YAML: a merge of a scalar", "a.yaml", "<<: 1\n", /merge key/],
    ["YAML: a merge without a colon", "a.yaml", "- { << }\n", /^a\.yaml:1:5: the value of the merge key/],
    ["YAML: a merge without a value", "a.yaml", "- ? <<\n", /^a\.yaml:1:5: the value of the merge key/],
    ["YAML: a mapping as a key", "a.yaml", "? {a: 1}\n: 2\n", /XDSKIT_SYNTAX/],
    ["NUL", "a.yaml", "name: a\n\0", /^a\.yaml:2:1: a NUL byte/],
    ["not UTF-8", "a.json", Uint8Array.of(0x7b, 0x0a, 0xff, 0x7d), /^a\.json:2:1: a byte here is not UTF-8/],
    ["UTF-16", "a.json", Uint8Array.of(0xff, 0xfe, 0x7b, 0), /UTF-16/],
    ["JSON: cut off", "a.json", `{"@type": "${cluster}",\n`, /^a\.json:3:1|^a\.json:2:1: .*cut off/],
    ["JSON: two commas", "a.json", `[1,\n2,,]`, /^a\.json:2:3: expected a value, found ,/],
    ["JSON: a key twice", "a.json", `{"name": "a",\n"name": "b"}`, /^a\.json:2:1: the key "name" comes twice/],
    ["JSON: a comment", "a.json", "// hello\n{}", /^a\.json:1:1: JSON has no comments/],
    ["JSON: a value without quotes", "a.json", "{'a': b}", /^a\.json:1:7: .*a word without quotes/],
    ["JSON: a word that is no key", "a.json", "{true: 1}", /^a\.json:1:2: expected a key in quotes, found true/],
    ["JSON: two values", "a.json", "{}\n{}", /^a\.json:2:1: there is more/],
    ["JSON: a missing quote", "a.json", '{"a": "b,\n"c": "d"}', /^a\.json:1:7: a string without an end/],
    ["JSON: a wrong escape", "a.json", '{"a": "\\q"}', /^a\.json:1:7: a string has an escape/],
    ["JSON: a wrong number", "a.json", '{"a": 01}', /^a\.json:1:8: /],
    ["text: a missing brace", "a.pb_text", "resources {\n", /^a\.pb_text:2:1: .*cut off/],
    ["text: a string without end", "a.textproto", 'version_info: "a\n', /^a\.textproto:1:15: a string without an end/],
    [
      "text: an unknown field",
      "a.textproto",
      'resources {\n  [type.googleapis.com/envoy.config.cluster.v3.Cluster] {\n    nam: "a" } }',
      /^a\.textproto:3:5: resources\[0\]\.nam: .*did you mean "name"\?/,
    ],
    [
      "text: a wrong value",
      "a.textproto",
      'version_info: "1" canary: 7',
      /^a\.textproto:1:27: canary: expected a bool/,
    ],
    [
      "text: an unknown type",
      "a.textproto",
      "resources { [type.googleapis.com/acme.Own] {} }",
      /^a\.textproto:1:13: .*--descriptors FILE/,
    ],
    ["binary: no protobuf", "a.pb", Uint8Array.of(0xff, 0xff, 0xff), /^a\.pb: not a binary DiscoveryResponse/],
    ["binary: another message", "a.pb", Uint8Array.of(0x9a, 0x06, 0x01, 0x61), /XDSKIT_FILE_FORM/],
  ];
  for (const [name, path, content, expected] of cases)
    test(`a malformed text is an error with its place (${name})`, () =>
      assert.match(findings(path, content), expected));
});

suite("a finding in a malformed file", () => {
  for (const [path, content] of [
    ["a.yaml", "inline_string: *hunter2\n"],
    ["a.yaml", "inline_string: !hunter2\n"],
    ["a.yaml", "inline_string: !hun!ter2 a\n"],
    ["a.yaml", "inline_string: !<hunter2\n"],
    ["a.yaml", "inline_string: |hunter2\n"],
    ["a.yaml", "inline_string: @hunter2\n"],
    ["a.yaml", "inline_string: %hunter2\n"],
    ["a.yaml", "%hunter2\n---\na\n"],
    ["a.yaml", "%YAML hunter2\n---\na\n"],
    ["a.yaml", 'inline_string: "\\xhunter2"\n'],
    ["a.yaml", 'inline_string: "a" hunter2\n'],
    ["a.yaml", "inline_string: 'hun'ter2'\n"],
    ["a.yaml", "inline_string: [a] hunter2\n"],
    ["a.yaml", "inline_string: &hunter2 *hunter2\n"],
    ["a.yaml", "inline_string: a\n}hunter2\n"],
    ["a.json", '{"inline_string": "a" "hunter2"}'],
    ["a.json", '{"inline_string" "hunter2"}'],
    ["a.json", '["inline_string" "hunter2"]'],
    ["a.json", '{"inline_string": hunter2}'],
    ["a.json", '{"inline_string": "\\hunter2"}'],
    ["a.json", "{hunter2}"],
    ["a.json", '{"inline_string": hunter2: 1}'],
    ["a.json", '{"inline_string": "hun\nter2, "a": "b"}'],
    ["a.json", '{"inline_string": "\n", hunter2"}'],
    ["a.json", "{'inline_string': 'hun'ter2'}"],
    ["a.pb_text", "resources: [a hunter2]"],
    ["a.pb_text", "version_info: hunter2"],
    ["a.pb_text", "version_info: 'hunter2"],
    ["a.pb_text", "version_info: a 'hunter2'"],
  ] as const) {
    test(`a finding shows no value (${path}: ${content})`, () => {
      const found = findings(path, content);
      assert.match(found, /\[XDSKIT_/);
      assert.doesNotMatch(found, /hun|ter2/);
    });
  }
});

suite("a hostile text", () => {
  const fast = (name: string, path: string, content: () => string, expected: RegExp) =>
    test(`a hostile text is refused fast (${name})`, () => {
      // Of the processor: a busy machine does not change it much.
      const before = process.cpuUsage();
      assert.match(findings(path, content()), expected);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 20_000_000, `${user + system} µs`);
    });
  const bomb = (levels: number) =>
    Array.from(
      { length: levels },
      (_, level) =>
        `a${level}: &a${level} [${Array(10)
          .fill(level === 0 ? "x" : `*a${level - 1}`)
          .join(", ")}]`,
    ).join("\n");
  fast("aliases that stand for billions of values", "a.yaml", () => bomb(12), /stand for more than 2000000 values/);
  const tooDeep = /nested deeper than 256 levels/;
  fast("nested flow lists", "a.yaml", () => "[".repeat(300_000), tooDeep);
  fast("nested flow mappings", "a.yaml", () => "{a: ".repeat(50_000) + "}".repeat(50_000), tooDeep);
  fast("dashes on one line", "a.yaml", () => "- ".repeat(50_000), tooDeep);
  fast("complex keys on one line", "a.yaml", () => "? ".repeat(50_000), tooDeep);
  fast(
    "dashes in a list that is read in parts",
    "a.yaml",
    () => `${`- ${"1".repeat(20)}\n`.repeat(5_000)}- ${"- ".repeat(50_000)}`,
    tooDeep,
  );
  fast(
    "mappings one in the other",
    "a.yaml",
    () => Array.from({ length: 1_000 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join(""),
    tooDeep,
  );
  fast("nested JSON", "a.json", () => "[".repeat(200_000) + "]".repeat(200_000), /nested deeper than 256 levels/);
  fast(
    "nested messages",
    "a.json",
    () =>
      `{"@type": "${cluster}", "name": "a", "metadata": {"filter_metadata": {"a": ${'{"a": '.repeat(150)}1${"}".repeat(153)}`,
    /nest|recursion|deep/,
  );
  for (const depth of [300, 5_000]) {
    const value = () => `{"a": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const content = () => `{"@type": "${cluster}", "name": "a", "metadata": {"filter_metadata": {"a": ${value()}}}}`;
    fast(`values nested ${depth} levels deep`, "a.json", content, /nested deeper than 256 levels/);
    fast(
      `values nested ${depth} levels deep, in a list`,
      "a.json",
      () => `[${content()}]`,
      /nested deeper than 256 levels/,
    );
  }
  fast("nested text", "a.textproto", () => "resources {".repeat(10_000), /nested deeper/);
  fast(
    "a mapping of many keys",
    "a.yaml",
    () => Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join("\n"),
    /XDSKIT_TYPE_MISSING/,
  );
  fast("white space without end", "a.pb_text", () => `${" ".repeat(20_000_000)}x`, /expected a value/);
  fast("comments without end", "a.pb_text", () => `${"#\n".repeat(10_000_000)}x`, /expected a value/);
  fast("escapes without end", "a.pb_text", () => `x: "${"\\n".repeat(10_000_000)}"`, /no such field/);
  fast("escapes without end in JSON", "a.json", () => `{"a": 1, "a": "${"\\n".repeat(10_000_000)}"}`, /comes twice/);
  fast("escapes without end before a mistake", "a.json", () => `["${"\\n".repeat(10_000_000)}",,]`, /found ,/);
  fast(
    "thousands of resources in the text format",
    "a.pb_text",
    () => `resources { [${cluster}] { name: "a" } }\n`.repeat(20_000).concat("resources { }"),
    /^a\.pb_text:20001:1: .*lacks its type URL/m,
  );
  test("a long name is cut in the finding", () => {
    const found = findings(
      "a.json",
      `{"@type": "${cluster}", "name": "${"n".repeat(100_000)}", "connect_timeout": "0s"}`,
    );
    assert.match(found, /^a\.json:1:\d+: cluster "n+…", connect_timeout: /);
    assert.ok(found.length < 1_000);
  });
  const integer = (digits: number) =>
    `{"@type": "${cluster}", "name": "a", "ring_hash_lb_config": {"minimum_ring_size": ${"1".repeat(digits)}}}`;
  fast("a number of millions of digits", "a.json", () => integer(10_000_000), /expected a whole number from 0/);
  fast(
    "aliases of a long text",
    "a.yaml",
    () =>
      `- {"@type": ${cluster}, name: a, alt_stat_name: &long "${"x".repeat(1_000_000)}"}\n`.concat(
        `- {"@type": ${cluster}, name: b, alt_stat_name: *long}\n`.repeat(2_000),
      ),
    /stand for more than 2000000 values/,
  );
  fast(
    "thousands of types that are nearly known",
    "a.json",
    () => `[${Array.from({ length: 20_000 }, (_, index) => `{"@type": "${cluster}${index}"}`).join()}]`,
    /did you mean/,
  );
  fast("a long string", "a.json", () => `{"@type": "${"a".repeat(5_000_000)}",,}`, /XDSKIT_SYNTAX/);
  fast(
    "keys of JavaScript's own",
    "a.yaml",
    () => `"@type": ${cluster}\nname: a\n__proto__: 1\nconstructor: 2\n`,
    /__proto__.*\n.*constructor/,
  );
});

test("many aliases of one anchor are allowed", () => {
  const items = Array.from(
    { length: 2_000 },
    (_, index) => `- {"@type": "${cluster}", name: c${index}, connect_timeout: *t}`,
  );
  const text = `- {"@type": "${cluster}", name: first, connect_timeout: &t 1s}\n${items.join("\n")}\n`;
  const { resources, findings: found } = readResources({ path: "a.yaml", bytes: new TextEncoder().encode(text) });
  assert.deepEqual(found, []);
  assert.equal(resources.length, 2_001);
});

test("64-bit numbers keep all their digits, quoted or not, in YAML and JSON", () => {
  const version = (path: string, text: string) =>
    readResources({ path, bytes: new TextEncoder().encode(text) }).resources[0]?.resource.version;
  const json = (seed: string) =>
    `{"@type": "${cluster}", "name": "a", "ring_hash_lb_config": {"minimum_ring_size": ${seed}}}`;
  const found = ["8388607", '"8388607"'].map((seed) => version("a.json", json(seed)));
  assert.equal(found[0], found[1]);
  const large = (path: string, seed: string) => {
    const text = `{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "a", "endpoints": [{"metadata": {"typed_filter_metadata": {"a": {"@type": "type.googleapis.com/google.protobuf.UInt64Value", "value": ${seed}}}}}]}`;
    return readResources({ path, bytes: new TextEncoder().encode(text) });
  };
  const versions = [
    ["a.json", "18446744073709551615"],
    ["a.json", '"18446744073709551615"'],
    ["a.yaml", "18446744073709551615"],
  ].map(([path, seed]) => large(path ?? "", seed ?? "").resources[0]?.resource.version);
  assert.ok(versions[0]);
  assert.equal(new Set(versions).size, 1);
  assert.notEqual(versions[0], large("a.json", "18446744073709551614").resources[0]?.resource.version);
  assert.match(large("a.json", "18446744073709551616").findings[0]?.message ?? "", /from 0 to 18446744073709551615/);
});

test("integers beyond 64 bits of a double become numbers in a Struct, beside a field of 64 bits", () => {
  const text = `"@type": ${cluster}
name: a
metadata: { filter_metadata: { a: { b: 12345678901234567890 } } }
ring_hash_lb_config: { maximum_ring_size: 12345678901234567890 }
`;
  assert.match(findings("a.yaml", text), /maximum_ring_size: must be at most 8388608/);
  assert.equal(findings("a.yaml", text.replace("size: 12345678901234567890", "size: 5")), "");
});
