import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readResources } from "../files/resource-file.js";
import { readWithin } from "../testing/memory/read-within.js";
import { parseJson } from "./json-source.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A few hundred kB. */
function list(indent?: number, count = 3_000): string {
  const items = Array.from({ length: count }, (_, index) => ({
    "@type": type,
    name: `c${index}`,
    // Texts that look like the end of an item.
    alt_stat_name: ['},{"', '\\"],', "é€😀\\", "]}"][index % 4],
    connect_timeout: "1.5s",
    metadata: { filter_metadata: { a: { "},": [1e3, -1.5, {}, [[], "x"]], b: index } } },
  }));
  return JSON.stringify(items, undefined, indent);
}

describe("A long JSON list", () => {
  it("a long JSON list is read with the lines of the file, and mistakes are reported with theirs", () => {
    const text = list(1).replace('"c2500"', '"c2500",\n  "no_such_field": 1').replace('"c2900"', '""');
    const { resources, findings } = readResources({ path: "a.json", bytes: new TextEncoder().encode(text) });
    assert.equal(resources.length, 2_998);
    const lines = text.split("\n");
    for (const { resource, where } of [...resources.slice(0, 5), ...resources.slice(-5)]) {
      assert.match(lines[where.line ?? 0] ?? "", /@type/);
      assert.match(lines[(where.line ?? 0) + 1] ?? "", new RegExp(`"${resource.name}"`));
    }
    const at = lines.findIndex((line) => line.includes("no_such_field")) + 1;
    assert.deepEqual(
      findings.map(({ code, line }) => [code, line]),
      [
        ["XDSKIT_FIELD_UNKNOWN", at],
        ["XDSKIT_RULE_BROKEN", lines.findIndex((line) => line.includes('"name": ""')) + 1],
      ],
    );
  });

  const good = list(1);
  const end = good.lastIndexOf("]");
  for (const [what, text] of [
    ["a comma too many at its end", `${good.slice(0, end)},]`],
    ["a comma too many in it", good.replace('{\n  "@type"', ', {\n  "@type"')],
    ["no end", good.slice(0, end)],
    ["two ends", `${good}]`],
    ["something behind it", `${good} {}`],
    ["a bracket too many in its middle", good.replace('"c2000",', '"c2000"}],')],
    ["a string without an end", good.replace('"c2000"', '"c2000')],
    ["a key twice", good.replace('"c2000",', '"c2000", "name": "again",')],
    ["something that is no object", `${good.slice(0, end)}, 1]`],
    ["a number of more digits than a double has", good.replace("1000", "12345678901234567")],
    ["more inside each other than may be", good.replace("1000", `${"[".repeat(300)}${"]".repeat(300)}`)],
    ["nothing in it", `[${" ".repeat(100_000)}]`],
    ["no list around it", `{"resources": ${good}}`],
  ] as const) {
    it(`a long JSON list is refused with ${what} if that is no JSON`, () => {
      const { resources, findings } = readResources({ path: "a.json", bytes: new TextEncoder().encode(text) });
      const { problems } = parseJson(text, "envoy");
      assert.equal(findings.length > 0, problems.length > 0 || what === "something that is no object");
      if (problems.length > 0) assert.deepEqual([resources.length, findings[0]?.code], [0, "XDSKIT_SYNTAX"]);
    });
  }
});

for (const [what, mistake] of [
  ["a field that there is not", '"no_such_field":1,'],
  ["a value of a wrong kind", '"domains":5,'],
] as const)
  it(`a resource with ${what} takes at most ten times the memory of its text`, () => {
    const host = (index: number) =>
      `{${index === 19_000 ? mistake : '"domains":["a"],'}"name":"h${index}",
        "routes":[{"match":{"prefix":"/"},"route":{"cluster":"c${index % 100}","timeout":"15s"}}]}`;
    const hosts = Array.from({ length: 20_000 }, (_, index) => host(index));
    const text = `{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","virtual_hosts":[${hosts}]}`;
    const line = text.slice(0, text.indexOf(mistake)).split("\n").length;
    assert.deepEqual(
      readWithin(10, "a.json", text)?.map((finding) => finding.line),
      [line],
    );
  });
