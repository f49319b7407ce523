import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { XdskitError } from "../errors/errors.js";
import { readDocument } from "./document.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const errorOf = (call: () => unknown): XdskitError => {
  try {
    call();
  } catch (error) {
    if (error instanceof XdskitError) return error;
    throw error;
  }
  return assert.fail("nothing was thrown");
};

test("a document knows the line of each part, in YAML and JSON", () => {
  const yaml = readDocument(bytes("a: 1\nb:\n  - c: x\n"), "f.yaml", "yaml");
  assert.deepEqual(yaml.value, { a: 1, b: [{ c: "x" }] });
  const { findings, message } = yaml.error("XDSKIT_BOOTSTRAP", "is wrong", ["b", 0, "c"]);
  assert.equal(message, "f.yaml:3:5: b[0].c: is wrong [XDSKIT_BOOTSTRAP]");
  assert.deepEqual([findings[0]?.line, findings[0]?.column, findings[0]?.field], [3, 5, "b[0].c"]);
  const json = readDocument(bytes('{\n "a": { "b": 1 } }'), "f.json", "json");
  // A missing part is at the deepest part that exists.
  assert.equal(
    json.error("XDSKIT_BOOTSTRAP", "is missing", ["a", "c"]).message,
    "f.json:2:2: a.c: is missing [XDSKIT_BOOTSTRAP]",
  );
});

test("a part is read as a message, and a finding says where in the file it is", () => {
  const document = readDocument(bytes("node:\n  id: n\n  locality: { zone: z }\n"), "f.yaml", "yaml");
  const { node } = document.value as { node: { id: string } };
  assert.equal(document.message(NodeSchema, node, ["node"]).locality?.zone, "z");
  const wrong = readDocument(bytes("node:\n  id: n\n  locality: { zone: [1] }\n  nothing: S3CR3T\n"), "f.yaml", "yaml");
  const part = (wrong.value as { node: object }).node;
  const { findings, message } = errorOf(() => wrong.message(NodeSchema, { ...part }, ["node"]));
  assert.deepEqual(
    findings.map(({ code, line, field }) => [code, line, field]),
    [
      ["XDSKIT_FIELD_INVALID", 3, "node.locality.zone"],
      ["XDSKIT_FIELD_UNKNOWN", 4, "node.nothing"],
    ],
  );
  assert.doesNotMatch(message, /S3CR3T/);
});

test("a text that is no document is refused with its line", () => {
  const cases = [
    ["a: 1\n  b: 2\n", "yaml", /^f:2:/],
    ["{ 'a': 1 }", "json", /^f:1:3: .*double quotes/],
    ['{"a": [1,]}', "json", /^f:1:10: expected a value, found \]/],
    ['{"a": 1,}', "json", /^f:1:9: expected a key in quotes, found }/],
    ["{a: 1}", "json", /^f:1:2: .*a word without quotes/],
    ['{"a": "\n"}', "json", /^f:1:7: a string without an end/],
    ['{"a": "\t"}', "json", /^f:1:7: a string has an escape/],
    ["a: 1\n---\nb: 2\n", "yaml", /^f:3:1: a second document/],
    ["a: \0", "yaml", /NUL byte/],
  ] as const;
  for (const [text, form, expected] of cases) {
    const error = errorOf(() => readDocument(bytes(text), "f", form));
    assert.equal(error.code, "XDSKIT_SYNTAX");
    assert.match(error.message, expected);
  }
  assert.equal(readDocument(bytes("# nothing\n"), "f", "yaml").value, null);
});
