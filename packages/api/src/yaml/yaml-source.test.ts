import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { times } from "../testing/effort.js";
import { parseYaml } from "./yaml-source.js";

const words = fc.oneof(
  fc.constantFrom(
    "a",
    "null",
    "true",
    "Null",
    "yes",
    "no",
    "~",
    "",
    "-",
    "--",
    "---",
    "...",
    "-1",
    "01",
    "1e3",
    "0x1f",
    "0o7",
    "1.5",
    "1.",
    ".5",
    "-.inf",
    ".nan",
    "+1",
    "1_000",
    "10.0.0.1",
    "0.25s",
  ),
  fc.constantFrom(
    "a b",
    "a: b",
    "a:",
    "a #b",
    "a#b",
    "#a",
    "- a",
    "? a",
    "a, b",
    "[a",
    "{a",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "it's",
    '"a"',
    'a"b',
    "a\\b",
    "\n",
    "a\nb\n",
    " a ",
    "é",
    "😀",
    "::1",
    "http://a/b?c#d",
  ),
  fc.string({ maxLength: 5 }),
  fc
    .string({ unit: fc.constantFrom(..."ab01-:#,[]{}\"' .\n&*!|>%@~?"), maxLength: 6 })
    // The library that writes here loses spaces of a line that has nothing else.
    .filter((text) => !/ \n/.test(text)),
);
const scalar = fc.oneof(
  words,
  fc.integer(),
  // Integers that a double cannot hold exactly are read as bigints, and JSON has no negative zero.
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((n) => !Object.is(n, -0) && (!Number.isInteger(n) || Number.isSafeInteger(n))),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(words, tie("value"), { maxKeys: 4 }),
  ),
}));

test("a document that a program writes, in several styles, is read as it was", () => {
  fc.assert(
    fc.property(
      value as fc.Arbitrary<unknown>,
      fc.constantFrom(2, 4),
      fc.boolean(),
      fc.constantFrom("PLAIN", "QUOTE_SINGLE", "QUOTE_DOUBLE"),
      (given, indent, indentSeq, style) => {
        const text = stringify(given, {
          indent,
          indentSeq,
          defaultStringType: style as "PLAIN",
          aliasDuplicateObjects: false,
        });
        const { documents, problems } = parseYaml(text);
        assert.deepEqual(problems, [], text);
        assert.deepEqual(
          documents.map(({ value }) => value),
          [JSON.parse(JSON.stringify(given))],
          text,
        );
      },
    ),
    { numRuns: times(150) },
  );
});

test("a field has a position in either spelling, and so has a missing field", () => {
  const [document] = parseYaml("resources:\n- a: 1\n  b_c: { d: 2 }\n- a: 3\n").documents;
  assert.deepEqual(
    [[], ["resources", 1], ["resources", 0, "b_c", "d"], ["resources", 0, "b_c", "x"]].map((steps) =>
      document?.locate(steps),
    ),
    [0, 36, 27, 20],
  );
});

test("a mistake in the indentation or with a colon is explained in plain words, at its place", () => {
  const said = (text: string) =>
    parseYaml(text).problems.map(
      ({ offset, message }) => `${JSON.stringify(text.slice(offset, offset + 4))}: ${message}`,
    );
  const tooDeep = "a key below a value: indent it less, or take the value away";
  const noColon = "a key stands on one line, with a colon and a space after it";
  assert.deepEqual(said("- name: web\n    type: EDS\n"), [`"type": ${tooDeep}`]);
  assert.deepEqual(said("name: web\n\n   type: EDS\nport: 1\n  host: a\n"), [
    `"type": ${tooDeep}`,
    `"host": ${tooDeep}`,
  ]);
  assert.deepEqual(said("- name: web\n    type: EDS\n    port: 1\n    host: a\n- b: 1\n"), [`"type": ${tooDeep}`]);
  assert.deepEqual(said("time: 10: 20\n"), ['"10: ": a value with ": " in it needs quotes']);
  assert.deepEqual(said("- a\nb: 1\nc: { d: 1 }\n"), [
    '"b: 1": a line that belongs to nothing: is it indented as it must be?',
  ]);
  assert.deepEqual(said('a: "b" c\n'), ['"c\\n": text behind the end of a value']);
  assert.deepEqual(said("name:web\ntype: EDS\n"), [`"name": ${noColon}`]);
  const template = "a key that is no text: is this a template that was not filled in?";
  assert.deepEqual(said("{{ .Values.web }}\n"), [`"{ .V": ${template}`]);
  assert.deepEqual(said("name: {{ web }}\n"), [`"{ we": ${template}`]);
  assert.deepEqual(said("domains: [*]\n"), ['"*]\\n": a text that begins with "*" needs quotes']);
  assert.deepEqual(said("domains:\n- *\n"), ['"*\\n": a text that begins with "*" needs quotes']);
  assert.deepEqual(said("a:\n  b: 1\n c: 2\n"), ['" c: ": All mapping items must start at the same column']);
});

test("a value under a tag of YAML means what Envoy takes, or the error says that it does not fit", () => {
  for (const dialect of ["core", "envoy"] as const) {
    for (const [text, value] of [
      ["!!float 5", 5],
      ["!!float -5", -5],
      ["!!float 5.5", 5.5],
      ["!!float '5'", 5],
      ["!!bool yes", true],
      ["!!bool on", true],
      ["!!bool NO", false],
      ["!!bool off", false],
      ["!!bool true", true],
      ["!!int 5", 5],
      ["!!null ~", null],
      ["!!str yes", "yes"],
    ] as const) {
      const { documents, problems } = parseYaml(`a: ${text}\n`, dialect);
      assert.deepEqual([documents.map((each) => each.value), problems], [[{ a: value }], []], text);
    }
    for (const tag of ["float", "int", "bool", "null"]) {
      const message = `a value that does not fit its tag "!!${tag}"`;
      assert.deepEqual(parseYaml(`a: !!${tag} text\n`, dialect).problems, [{ offset: 3, message }]);
    }
    const [problem] = parseYaml("a: !secret 5\n", dialect).problems;
    assert.equal(problem?.message, 'an unknown tag: a text that begins with "!" needs quotes');
  }
});
