import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { times } from "../testing/effort.js";
import { readWithin } from "../testing/memory/read-within.js";
import type { SourceDocument } from "../text/source-document.js";
import { NeedsWhole } from "./yaml-parts.js";
import { documentsInParts, parseYaml } from "./yaml-source.js";

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

/** The documents of a text in parts as small as they can be. Undefined: it must be read as a whole. */
function smallParts(text: string, splits = false): readonly SourceDocument[] | undefined {
  try {
    return [...documentsInParts(text, "envoy", { splits, tokens: 1, shortest: 1 })];
  } catch (error) {
    if (error instanceof NeedsWhole) return undefined;
    throw error;
  }
}

function assertAsWhole(text: string, inParts: readonly SourceDocument[]): void {
  const { documents, problems } = parseYaml(text, "envoy", false);
  assert.deepEqual(problems, []);
  assert.deepEqual(inParts.map(shown), documents.map(shown));
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
  test("a valid text in parts has the values and places of the whole", () => {
    const property = fc.property(texts, (text) => {
      const inParts = smallParts(text);
      // A few are not what was meant: the writer puts some empty collections where they do not belong.
      if (inParts === undefined) assert.notDeepEqual(parseYaml(text, "envoy", false).problems, []);
      else assertAsWhole(text, inParts);
    });
    fc.assert(property, { numRuns: times(25) });
  });

  test("whatever is read in parts has the values and places of the whole, and is valid", () => {
    const change = fc.tuple(insertions, fc.double({ min: 0, max: 1, noNaN: true }));
    const property = fc.property(texts, fc.array(change, { minLength: 1, maxLength: 3 }), (valid, changes) => {
      let text = valid;
      for (const [inserted, where] of changes) {
        const at = Math.floor(where * text.length);
        text = text.slice(0, at) + inserted + text.slice(at);
      }
      const inParts = smallParts(text);
      if (inParts !== undefined) assertAsWhole(text, inParts);
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
      const { documents } = parseYaml(text, "envoy", false);
      assert.deepEqual(items(smallParts(text, true) ?? []), items(documents));
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
  for (const [what, text, isWhole, count] of [
    ["a document behind it", `${good}---\n${good}`, false, 1_200],
    ["a mapping around it", `resources:\n${good}`, false, 600],
    ["a dash in a text around it", `--- |\n${good}`, false, undefined],
    ["a directive", `%YAML 1.1\n---\n${good}`, true, 600],
    ["an anchor", `${good.replace("1.5s", "&a 1.5s").replace(/1\.5s(?![\s\S]*1\.5s)/, "*a")}`, true, 600],
    ["a key twice in an item", good.replace(" c450 ", " c450\n  name: again "), true, undefined],
    ["a mapping behind it", `${good}resources: []\n`, true, undefined],
    ["a quote without an end", good.replace(" c450 ", ' "c450'), true, undefined],
    ["a quote that goes on at the line's beginning", good.replace(/'a\n {4}- b'/g, "'a\n- b'"), true, undefined],
    ["a bracket without an end", good.replace("[1, {}, [ [],", "[1, {}, [ ["), true, undefined],
  ] as const) {
    test(`a long list with ${what} is read ${isWhole ? "as a whole" : "in parts"}`, () => {
      const inParts = () => [...documentsInParts(text, "envoy", { splits: true })];
      if (isWhole) assert.throws(inParts, NeedsWhole);
      else assert.ok(inParts().length > 0);
      const { resources, findings } = read(text);
      assert.deepEqual([resources.length, findings.length > 0], [count ?? 0, count === undefined]);
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

test("one resource with a long list takes at most ten times the memory of its text", () => {
  assert.deepEqual(readWithin(10, "a.yaml", route(15_000)), []);
});
