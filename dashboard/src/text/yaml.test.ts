import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { lineOfField, yamlLines, yamlText } from "./yaml.js";

const values = [
  null,
  [],
  {},
  "text",
  { name: "web", connect_timeout: "1s", weight: 3, on: true, off: "off", number: "12", empty: "", none: null },
  { "@type": "type.googleapis.com/a.B", list: [1, "two", [3, [4]], { five: 6, seven: [8] }, [], {}] },
  { text: "a\nb\n", last: "a\n\nb", tail: "a\n\n", tab: "a\tb", colon: "a: b", hash: "a #b", dash: "- a", star: "*a" },
  { "key: odd": 1, "": 2, "~": 3, "1": 4, yes: "yes", spaces: " a ", quote: 'it\'s "so"', unicode: "straße ✓ 🎉" },
  { nested: { in: { lists: [{ a: { b: [{ c: "d" }] } }] } } },
];

describe("YAML", () => {
  it("says the same as the JSON that it is made of", () => {
    for (const value of values) assert.deepEqual(parse(yamlText(value)), value, yamlText(value));
  });

  it("looks as people write it", () => {
    const json = { name: "web", timeout: "0.25s", endpoints: [{ zone: "eu", hosts: ["10.0.0.1"] }] };
    assert.equal(
      yamlText(json),
      'name: web\ntimeout: 0.25s\nendpoints:\n- zone: eu\n  hosts:\n  - "10.0.0.1"\n'.replace(/"/g, '"'),
    );
  });

  it("knows the field of each line, and where its name stands", () => {
    const lines = yamlLines({ a: [{ b: 1 }] });
    assert.deepEqual(
      lines.map(({ path, key, text }) => [path.join("."), key && text.slice(key.from, key.to)]),
      [
        ["a", "a"],
        ["a.b", "b"],
      ],
    );
  });

  it("finds the line of a field as errors name it, in lists and in maps", () => {
    const json = { name: "x", endpoints: [{ priority: 1 }, { priority: 2 }], metadata: { "some.key": { deep: true } } };
    const lines = yamlLines(json);
    const textOf = (field: string) => lines[lineOfField(lines, field)]?.text;
    assert.equal(textOf("endpoints[1].priority"), "- priority: 2");
    assert.equal(textOf("endpoints"), "endpoints:");
    assert.equal(textOf("metadata[some.key].deep"), "    deep: true");
    assert.equal(textOf("endpoints[2].priority"), undefined);
  });
});
