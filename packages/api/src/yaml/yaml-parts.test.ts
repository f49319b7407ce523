import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { times } from "../testing/effort.js";
import { readWithin } from "../testing/memory/read-within.js";
import type { SourceDocument, SourceText } from "../text/source-document.js";
import type { YamlPartsOptions } from "./yaml-parts.js";
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
function smallParts(text: string, options: YamlPartsOptions = {}): SourceText {
  return parseYaml(text, "envoy", { tokens: 1, shortest: 1, ...options });
}

/** Nothing is cut. */
const whole = (text: string) => parseYaml(text, "envoy", { tokens: Number.POSITIVE_INFINITY });

function assertAsWhole(text: string, options: YamlPartsOptions = {}): void {
  const { documents, problems } = whole(text);
  const inParts = smallParts(text, options);
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
  collectionStyle: fc.constantFrom("any" as const, "block" as const, "flow" as const),
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
    fc.assert(
      fc.property(texts, (text) => assertAsWhole(text)),
      { numRuns: times(25) },
    );
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

  test("a text with anchors, aliases and merge keys in parts has the values and places of the whole", () => {
    const marks = fc.array(fc.constantFrom("", "", "&x ", "&y ", "&z ", "*x", "*y", "*z", "<<"), { minLength: 50 });
    const property = fc.property(texts, marks, fc.integer({ min: 1, max: 12 }), (plain, given, tokens) => {
      let count = 0;
      const marked = plain.replaceAll(/(?<=(?:: |- |[[{,] ?|^))[\w.]+(?=$|,| ?[\]}])/gm, (word) => {
        const mark = given[count++ % given.length] ?? "";
        return mark.startsWith("*") ? mark : mark === "<<" ? word : `${mark}${word}`;
      });
      const text = marked.replaceAll(/(?<=^ *)(?:name|a): (?=\*|\{)/gm, (key) => (count++ % 2 === 0 ? "<<: " : key));
      assertAsWhole(text, { tokens, shortest: 1 });
    });
    fc.assert(property, { numRuns: times(60) });
  });

  for (const [what, text, value] of [
    [
      "behind an anchor in an earlier list",
      "- &x a\n- &x b\n- - *x\n  - *x\n  - *x\n  - *x\n",
      ["a", "b", ["b", "b", "b", "b"]],
    ],
    [
      "before an anchor of the same name",
      "k0: &t 1s\nka: 1\nkb: 1\nk1: *t\nlist:\n- &t 2s\n- 1\n- 2\n- 3\n",
      { k0: "1s", ka: 1, kb: 1, k1: "1s", list: ["2s", 1, 2, 3] },
    ],
    [
      "in a list in brackets",
      "a: &t x\nb: [*t, {c: *t, d: &t z, e: [*t, 1, 2, 3, *t]}, *t, 1,\n 2]\n",
      { a: "x", b: ["x", { c: "x", d: "z", e: ["z", 1, 2, 3, "z"] }, "z", 1, 2] },
    ],
    [
      "that is merged before the rest of its mapping",
      "a: &t {p: 1, q: 1}\nb:\n  r: 1\n  <<: *t\n  q: 2\n  s:\n  - 1\n  - 2\n  - 3\n  u: 3\n  v: 4\n",
      { a: { p: 1, q: 1 }, b: { r: 1, q: 2, s: [1, 2, 3], u: 3, v: 4, p: 1 } },
    ],
  ] as const) {
    test(`an alias ${what} stands for the last value before it`, () => {
      for (let tokens = 1; tokens < 20; tokens += 1) {
        const { documents, problems } = parseYaml(text, "envoy", { tokens, shortest: 1 });
        assert.deepEqual([documents.map((each) => each.value), problems], [[value], []]);
      }
      assertAsWhole(text);
    });
  }

  test("an alias without an anchor before it is an error in parts, too", () => {
    const text = "k1: *t\nlist:\n- &t 2s\n- 1\n- 2\n- 3\n";
    assert.deepEqual(smallParts(text).problems, whole(text).problems);
    assert.equal(smallParts(text).problems.length, 1);
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
      const inParts = smallParts(text, { splits: true });
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
for (const [what, text, problem] of [
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
  [
    "anchors that nothing needs, and many aliases",
    `${Array.from({ length: 2_000 }, (_, i) => `- &b${i} 1\n- [${"*b0,".repeat(300)}1]\n`).join("")}`,
    /resource/,
  ],
  ["JSON's brackets", JSON.stringify(parseYaml(long).documents[0]?.value), undefined],
] as const) {
  test(`one resource with ${what} takes at most ten times the memory of its text`, () => {
    const findings = readWithin(10, "a.yaml", text) ?? assert.fail("it takes more");
    if (problem === undefined) assert.deepEqual(findings, []);
    else assert.match(findings[0]?.message ?? "", problem);
  });
}
