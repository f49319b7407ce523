import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { times } from "../testing/effort.js";
import { readWithin } from "../testing/memory/read-within.js";
import type { SourceDocument, SourceText } from "../text/source-document.js";
import { parseYaml } from "./yaml-source.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** Long enough for several parts. */
function list(count = 600): string {
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

/** All places of a value's parts, also those that do not exist. */
function placesIn({ value, locate }: SourceDocument): readonly [readonly FieldStep[], number][] {
  const found: [readonly FieldStep[], number][] = [];
  const look = (part: unknown, steps: readonly FieldStep[]): void => {
    found.push([steps, locate(steps)], [[...steps, "none"], locate([...steps, "none"])]);
    if (Array.isArray(part)) for (const [index, item] of part.entries()) look(item, [...steps, index]);
    else if (typeof part === "object" && part !== null)
      for (const [key, item] of Object.entries(part)) look(item, [...steps, { key }]);
  };
  look(value, []);
  return found;
}

const shown = (document: SourceDocument) => [document.value, document.offset, placesIn(document)];

/** A text in parts as small as they can be. */
function smallParts(text: string, splits = false): SourceText {
  return parseYaml(text, "envoy", { splits, tokens: 1, shortest: 1 });
}

const whole = (text: string) => parseYaml(text, "envoy", undefined);

function assertAsWhole(text: string): void {
  const { documents, problems } = whole(text);
  const inParts = smallParts(text);
  // Which of the mistakes that follow from one are told depends on what the parser still has.
  assert.equal(inParts.problems.length > 0, problems.length > 0, text);
  if (problems.length === 0) assert.deepEqual(inParts.documents.map(shown), documents.map(shown), text);
}

const words = fc.constantFrom(
  "a",
  "b c",
  "yes",
  "1.50",
  "0x1f",
  "- a",
  "k: v",
  "a\n  b\n",
  "é😀",
  "#",
  "",
  "&a",
  "name",
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "large" },
    fc.oneof(words, fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(fc.oneof(words, fc.constant("__proto__")), tie("value"), { maxKeys: 6 }),
  ),
}));

const styles = fc.record({
  indent: fc.integer({ min: 1, max: 4 }),
  indentSeq: fc.boolean(),
  lineWidth: fc.constantFrom(0, 20),
  collectionStyle: fc.constantFrom("any" as const, "block" as const),
  aliasDuplicateObjects: fc.constant(false),
  defaultStringType: fc.constantFrom("PLAIN" as const, "QUOTE_SINGLE" as const, "BLOCK_FOLDED" as const),
});

const texts = fc
  .tuple(fc.array(fc.oneof({ weight: 3, arbitrary: fc.array(value) }, value), { minLength: 1, maxLength: 3 }), styles)
  .map(([values, style]) => values.map((each) => stringify(each, style)).join("---\n# next\n"));

/** What somebody may write by mistake, or otherwise than a program would. */
const insertions = fc.constantFrom(
  "\n",
  " ",
  "- ",
  "? ",
  ": ",
  "#",
  " # a\n",
  "\t",
  "!a ",
  "!!set ",
  "!ignore ",
  "&x ",
  "*x",
  "<<: {q: 1}\n",
  "'",
  '"',
  "[",
  "}",
  ",",
  "|\n",
  "a: 1\n",
  "- 1\n",
  "%YAML 1.1\n",
  "...\n",
  "---\n",
  "\r",
  "\r\n",
  "\n\n  # a\n",
);

suite("YAML in parts", () => {
  test("a text in parts has the values and places of the whole", () => {
    fc.assert(fc.property(texts, assertAsWhole), { numRuns: times(25) });
  });

  test("a text with whatever somebody writes by mistake has the values and places of the whole, or is wrong as it is", () => {
    const change = fc.tuple(insertions, fc.double({ min: 0, max: 1, noNaN: true }));
    const property = fc.property(texts, fc.array(change, { minLength: 1, maxLength: 3 }), (valid, changes) => {
      let text = valid;
      for (const [inserted, where] of changes) {
        const at = Math.floor(where * text.length);
        text = text.slice(0, at) + inserted + text.slice(at);
      }
      assertAsWhole(text);
    });
    fc.assert(property, { numRuns: times(40) });
  });

  test("a list that comes as several documents has the items of the whole, with their places", () => {
    const property = fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), styles, (values, style) => {
      const text = stringify(values, style);
      const items = (documents: readonly SourceDocument[]) =>
        documents.flatMap(({ value, locate }) =>
          (value as unknown[]).map((item, index) =>
            shown({ value: item as never, offset: 0, locate: (steps) => locate([index, ...steps]) }),
          ),
        );
      const { documents, problems } = whole(text);
      const inParts = smallParts(text, true);
      assert.equal(inParts.problems.length > 0, problems.length > 0);
      // A few are not what was meant: the writer puts some empty collections where they do not belong.
      if (problems.length === 0) assert.deepEqual(items(inParts.documents), items(documents));
    });
    fc.assert(property, { numRuns: times(15) });
  });

  test("a long list is read with the lines of the file, and mistakes are reported with theirs", () => {
    const text = list().replace(" c450 ", ' c450\n  "no_such_field": 1');
    const { resources, findings } = read(text);
    const lines = text.split("\n");
    assert.equal(resources.length, 599);
    for (const { resource, where } of [...resources.slice(0, 5), ...resources.slice(-5)]) {
      assert.match(lines[where.line ?? 0] ?? "", new RegExp(`name: ${resource.name} `));
    }
    assert.deepEqual(
      findings.map(({ code, line }) => [code, line]),
      [["XDSKIT_FIELD_UNKNOWN", lines.findIndex((line) => line.includes("no_such_field")) + 1]],
    );
  });

  const good = list();
  for (const [what, text, count] of [
    ["a document behind it", `${good}---\n${good}`, 1_200],
    ["a mapping around it", `resources:\n${good}`, 600],
    ["a dash in a text around it", `--- |\n${good}`, undefined],
    ["a directive", `%YAML 1.1\n---\n${good}`, 600],
    ["an anchor", `${good.replace("1.5s", "&a 1.5s").replace(/1\.5s(?![\s\S]*1\.5s)/, "*a")}`, 600],
    ["a key twice in an item", good.replace(" c450 ", " c450\n  name: again "), undefined],
    ["a mapping behind it", `${good}resources: []\n`, undefined],
    ["a quote without an end", good.replace(" c450 ", ' "c450'), undefined],
    ["a quote that goes on at the line's beginning", good.replace(/'a\n {4}- b'/g, "'a\n- b'"), undefined],
    ["a bracket without an end", good.replace("[1, {}, [ [],", "[1, {}, [ ["), undefined],
  ] as const) {
    test(`a long list with ${what} is ${count === undefined ? "an error, and nothing is taken from it" : "read"}`, () => {
      const { resources, findings } = read(text);
      assert.deepEqual([resources.length, findings.length > 0], [count ?? 0, count === undefined]);
      const [first] = whole(text).problems;
      if (first !== undefined) {
        const line = text.slice(0, first.offset).split("\n").length;
        assert.deepEqual([findings[0]?.message, findings[0]?.line], [first.message, line]);
      }
    });
  }
});

/** A route configuration of so many hosts. */
function route(count: number): string {
  const host = (index: number) => `- name: h${index}
  domains: [h${index}.example.com, "*.h${index}.example.com"]
  routes:
  - match: { prefix: / }
    route: { cluster: c${index % 100}, timeout: 15s }
`;
  const hosts = Array.from({ length: count }, (_, index) => host(index)).join("");
  return `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: r\nvirtual_hosts:\n${hosts}`;
}

const long = route(15_000);
const usual = route(10_000);
for (const [what, text, problem, multiple = 10] of [
  ["a long list", long, undefined],
  ["a long list, and a mistake at its end", `${usual}- name: [\n`, /flow/i],
  ["a long list, and a mistake at its beginning", usual.replace("[h0.", '"h0.'), /./],
  ["anchors", usual.replaceAll("15s", "*t").replace("*t", "&t 15s"), undefined],
  ["a directive", `%YAML 1.2\n---\n${usual}`, undefined],
  [
    "a merge key before a long list",
    usual.replace("name: r\n", "name: r\n<<: { validate_clusters: false }\n"),
    undefined,
  ],
  ["JSON's brackets", JSON.stringify(parseYaml(long).documents[0]?.value), undefined, 15],
] as const) {
  test(`one resource with ${what} takes at most ${multiple} times the memory of its text`, () => {
    const findings = readWithin(multiple, "a.yaml", text) ?? assert.fail("it takes more");
    if (problem === undefined) assert.deepEqual(findings, []);
    else assert.match(findings[0]?.message ?? "", problem);
  });
}
