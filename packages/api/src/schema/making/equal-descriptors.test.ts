import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { descriptorsOf } from "../descriptors.js";
import { parsePackage } from "../parse-facts.js";
import { refuseLosses } from "./equal-descriptors.js";

const text = `package acme.v1
file acme.proto
  message Thing
    1 name string
    2 parts map<string,Thing>
    3 size optional uint32 deprecated
    oneof value
      4 text string
    reserved 10-12 hosts
    enum Kind
      0 NONE
      reserved 1 2-3
`;
const originals = descriptorsOf([parsePackage(text, "acme")]);

describe("the comparison of a table with the descriptors that it was made of", () => {
  it("the comparison finds nothing if nothing is lost", () => {
    refuseLosses(originals, [parsePackage(text, "acme")]);
  });

  for (const [what, from, to] of [
    ["a field", "    1 name string\n", ""],
    ["a number", "1 name", "7 name"],
    ["an option", " deprecated", ""],
    ["a label", "optional ", ""],
    ["a oneof", "oneof value\n  ", "9 other bool\n"],
    ["a reserved name", " hosts", ""],
    ["a reserved number", "2-3", "2"],
    ["a file", text.slice(text.indexOf("file")), "file other.proto\n"],
  ] as const) {
    it(`the comparison finds that ${what} is lost`, () => {
      const other = parsePackage(text.replace(from, to), "acme");
      assert.throws(() => refuseLosses(originals, [other]), /the table (changes|loses) acme\.proto/);
    });
  }
});
