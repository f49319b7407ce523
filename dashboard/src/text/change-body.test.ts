import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { changeBody } from "./change-body.js";

const web = '"@type": type.googleapis.com/a.B\nname: web';

describe("the body of a change", () => {
  const upserted = (text: string) => {
    const { body, contentType } = changeBody(text);
    return (contentType === "application/json" ? JSON.parse(body) : parse(body)).upsert;
  };

  it("takes what people paste: one resource, several, lists, JSON", () => {
    const one = { "@type": "type.googleapis.com/a.B", name: "web" };
    assert.deepEqual(upserted(web), [one]);
    assert.deepEqual(upserted(`# why\n\n${web}\n`), [one]);
    assert.deepEqual(upserted(`${web}\n---\n${web}\n`), [one, one]);
    assert.deepEqual(upserted(`---\n${web}\r\n---\n# nothing\n`), [one]);
    assert.deepEqual(upserted(`- name: a\n  list:\n  - 1\n- name: b`), [{ name: "a", list: [1] }, { name: "b" }]);
    assert.deepEqual(upserted("resources:\n- name: a\n- name: b"), [{ name: "a" }, { name: "b" }]);
    assert.deepEqual(upserted("resources:\n  - name: a"), [{ name: "a" }]);
    assert.deepEqual(upserted(JSON.stringify(one)), [one]);
    assert.deepEqual(upserted(JSON.stringify([one])), [one]);
    assert.deepEqual(upserted(JSON.stringify({ resources: [one] })), [one]);
    assert.deepEqual(upserted("text: |\n  a\n  b\nname: x"), [{ text: "a\nb\n", name: "x" }]);
  });

  it("takes several documents in JSON, and JSON among YAML", () => {
    const one = { "@type": "type.googleapis.com/a.B", name: "web" };
    const two = { name: "two" };
    const pretty = (json: unknown) => JSON.stringify(json, undefined, 2);
    assert.deepEqual(upserted(`${pretty(one)}\n---\n${pretty([two, one])}\n`), [one, two, one]);
    assert.deepEqual(upserted(`${pretty({ resources: [one, two] })}\n---\n[]\n---\n${pretty(two)}`), [one, two, two]);
    assert.deepEqual(upserted(`${web}\n---\n${pretty(two)}\n---\n[${pretty(one)}]`), [one, two, one]);
  });

  it("keeps the lines of JSON", () => {
    const text = `\n[\n  { "name": "a" },\n  { "name": "b" }\n]\n---\n{\n  "name": "c"\n}\n`;
    const { body, lines, columns } = changeBody(text);
    const made = body.split("\n");
    for (const name of ["a", "b", "c"]) {
      const line = text.split("\n").findIndex((one) => one.includes(`"${name}"`));
      assert.ok(made[line + lines]?.includes(`"${name}"`), body);
    }
    assert.equal(columns, 0);
  });

  it("leaves a change, and JSON that cannot be read, as it is", () => {
    for (const text of ["upsert: []\ndelete:\n- {type: cds, name: a}", '{"delete": []}', "{ not json"])
      assert.equal(changeBody(text).body, text);
  });

  it("has each line where it was, so that errors have their place", () => {
    const text = `# a\n${web}\n---\n\nname: second`;
    const { body, lines, columns } = changeBody(text);
    const made = body.split("\n");
    for (const [index, line] of text.split("\n").entries()) {
      if (line === "---" || line.trim() === "" || line.startsWith("#")) continue;
      assert.equal(made[index + lines]?.slice(columns), line, body);
    }
  });
});
