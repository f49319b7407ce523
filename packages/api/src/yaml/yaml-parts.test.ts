import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readResources } from "../files/resource-file.js";
import { assertPartsOfWhole } from "../testing/parts-of-whole.js";
import { NoList, partsOfYamlList } from "./yaml-parts.js";
import { parseYaml } from "./yaml-source.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** Long enough for two parts. */
function list(count = 500): string {
  const item = (index: number) => `- "@type": ${type}
  name: c${index}   # - a comment
${["  alt_stat_name: |\n    - a\n    - b\n", "  alt_stat_name: 'a\n    - b'\n", "", "\n# - between\n"][index % 4]}\
  connect_timeout: 1.5s
  metadata: { filter_metadata: { a: {
    b: [1, {}, [ [], "x" ]] } } }
`;
  return Array.from({ length: count }, (_, index) => item(index)).join("");
}

const read = (text: string) => readResources({ path: "a.yaml", bytes: new TextEncoder().encode(text) });

suite("a long YAML list in parts", () => {
  test("a long YAML list equals the list read as a whole, with the same places", () => {
    const text = `# clusters\n---\n${list(1_000)}`;
    const [whole] = parseYaml(text).documents;
    assertPartsOfWhole([...partsOfYamlList(text)], whole, ["metadata"]);
  });

  test("a long YAML list is read with the lines of the file, and mistakes are reported with theirs", () => {
    const text = list().replace(" c450 ", ' c450\n  "no_such_field": 1');
    const { resources, findings } = read(text);
    const lines = text.split("\n");
    assert.equal(resources.length, 499);
    for (const { resource, where } of [...resources.slice(0, 5), ...resources.slice(-5)]) {
      assert.match(lines[where.line ?? 0] ?? "", new RegExp(`name: ${resource.name} `));
    }
    assert.deepEqual(
      findings.map(({ code, line }) => [code, line]),
      [["XDSKIT_FIELD_UNKNOWN", lines.findIndex((line) => line.includes("no_such_field")) + 1]],
    );
  });

  const good = list();
  for (const [what, text, isWell] of [
    ["a document behind it", `${good}---\n${good}`, true],
    ["a directive", `%YAML 1.1\n---\n${good.replaceAll("1.5s", "1.5s\n  ignore_health_on_host_removal: yes")}`, true],
    ["an anchor", `${good.replace("1.5s", "&a 1.5s").replace(/1\.5s(?![\s\S]*1\.5s)/, "*a")}`, true],
    ["a mapping around it", `resources:\n${good}`, true],
    ["a key twice in an item", good.replace(" c450 ", " c450\n  name: again "), false],
    ["a mapping behind it", `${good}resources: []\n`, false],
    ["a quote without an end", good.replace(" c450 ", ' "c450'), false],
    ["a quote that goes on at the line's beginning", good.replace(/'a\n {4}- b'/g, "'a\n- b'"), false],
    ["a bracket without an end", good.replace("[1, {}, [ [],", "[1, {}, [ ["), false],
    ["a dash in a text around it", `--- |\n${good}`, false],
  ] as const) {
    test(`a long YAML list is left to the reader of whole texts if it has ${what}`, () => {
      assert.throws(() => [...partsOfYamlList(text)], NoList);
      const { resources, findings } = read(text);
      if (isWell) assert.deepEqual([resources.length > 0, findings], [true, []]);
      else assert.deepEqual([resources.length, findings.length > 0], [0, true]);
    });
  }
});
