import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { readQuickYaml } from "./yaml-block.js";
import { parseAnyYaml, parseYaml } from "./yaml-source.js";

/** The quick reader's values; undefined where it leaves the text to the real parser. It must never read what that one reads otherwise. */
function quick(text: string): unknown {
  const documents = readQuickYaml(text);
  if (documents === undefined) return undefined;
  const real = parseAnyYaml(text);
  assert.deepEqual(real.problems, [], text);
  assert.deepEqual(
    documents.map(({ value }) => value),
    real.documents.map(({ value }) => value),
    text,
  );
  for (const [index, { offset, value, items }] of documents.entries()) {
    if (value !== null) assert.equal(real.documents[index]?.locate([]), offset, `offset of document ${index}: ${text}`);
    const lists = Array.isArray(value)
      ? [[[], value] as const]
      : Object.entries(value ?? {}).map(([key, item]) => [[key], item] as const);
    for (const [steps, list] of lists) {
      if (!Array.isArray(list)) continue;
      for (const [at, start] of (items.get(list) ?? []).entries()) {
        if (list[at] !== null)
          assert.equal(real.documents[index]?.locate([...steps, at]), start, `offset of ${steps}[${at}]: ${text}`);
      }
    }
  }
  return documents.map(({ value }) => value);
}

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
    "<<",
  ),
  fc.string({ maxLength: 5 }),
  fc.string({ unit: fc.constantFrom(..."ab01-:#,[]{}\"' .\n&*!|>%@~?"), maxLength: 6 }),
);
const scalar = fc.oneof(
  words,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
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

suite("the quick reader of YAML reads as the real parser, or not at all", () => {
  test("what a program writes, in several styles", () => {
    let read = 0;
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
          if (quick(text) !== undefined) read++;
        },
      ),
      { numRuns: 600 },
    );
    assert.ok(read > 60, `only ${read} were read quickly`);
  });

  test("lines of odd pieces in odd columns", () => {
    const piece = fc.constantFrom(
      "- ",
      "-",
      "a: ",
      "a:",
      "b: ",
      '"c": ',
      "'d': ",
      "1",
      "x",
      "x y",
      "# e",
      " # e",
      "[1, x]",
      "[]",
      "{}",
      "{a: 1}",
      "{ a: 1, b: [x] }",
      "{a:1}",
      "[a: 1]",
      "[1,]",
      "'q'",
      '"q"',
      "'q''r'",
      '"q\\n"',
      "---",
      "...",
      "|",
      "? ",
      ": ",
      "x: y",
      "-1",
      "- - ",
      "&a ",
      "*a",
      "~",
      "null",
      "0",
      "1.5",
    );
    const line = fc
      .tuple(fc.nat(4), fc.array(piece, { maxLength: 3 }))
      .map(([indent, pieces]) => " ".repeat(indent) + pieces.join(""));
    let read = 0;
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        if (quick(`${lines.join("\n")}\n`) !== undefined) read++;
      }),
      { numRuns: 4_000 },
    );
    assert.ok(read > 200, `only ${read} were read quickly`);
  });

  test("blocks of lines", () => {
    const line = fc
      .tuple(fc.nat(5), fc.constantFrom("", "x", "- x", "a: b", "# e", "a: |", "- |", "b: |-", "c: >", "---", "|"))
      .map(([indent, rest]) => " ".repeat(indent) + rest);
    let read = 0;
    fc.assert(
      fc.property(
        fc.constantFrom("a: |", "- |", "- a: |-", "a:\n  b: |", "- - |-"),
        fc.array(line, { maxLength: 7 }),
        (head, lines) => {
          if (quick(`${head}\n${lines.join("\n")}\n`) !== undefined) read++;
        },
      ),
      { numRuns: 3_000 },
    );
    assert.ok(read > 200, `only ${read} were read quickly`);
    assert.deepEqual(quick("a: |\n  x\n    y\n\n  z\n\nb: |-\n q\n"), [{ a: "x\n  y\n\nz\n", b: "q" }]);
  });

  test("what people write for Envoy is read quickly", () => {
    const text = `# A listener.
---
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: web # the name
address: { socket_address: { address: 0.0.0.0, port_value: 10000 } }
filter_chains:
- filters:
    - name: "envoy.filters.network.http_connection_manager"
      typed_config:
        domains: ["*", 'a.example']
        ratio: 0.5
        empty:

        escaped: "a\\n\\"b\\""
        list:
          -
            a: 1
          - - 1
            - 2
          -  b: x
---
# Nothing.
---
- a: -1
`;
    assert.equal((quick(text) as unknown[] | undefined)?.length, 3);
    assert.equal(quick(text.replace("-1", "&a 1")), undefined);
  });

  test("positions inside of a text that was read quickly", () => {
    const [document] = parseYaml("resources:\n- a: 1\n  b_c: { d: 2 }\n- a: 3\n").documents;
    assert.deepEqual(
      [[], ["resources", 1], ["resources", 0, "b_c", "d"], ["resources", 0, "b_c", "x"]].map((steps) =>
        document?.locate(steps),
      ),
      [0, 36, 27, 20],
    );
  });
});
