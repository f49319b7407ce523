import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePackage } from "../parse-facts.js";
import { formatPackage } from "../write-facts.js";
import type { FileOfPackage } from "./elements.js";
import { type Reading, withLives } from "./lives.js";

/** A file of the package acme.v1 with the given lines. */
function file(...lines: readonly string[]): readonly FileOfPackage[] {
  const text = ["package acme.v1", "file acme.proto", ...lines.map((line) => `  ${line}`)].join("\n");
  return parsePackage(text, "acme").files.map((each) => ({ packageName: "acme.v1", file: each }));
}

/** The lines after the file's own, from the readings. */
function livesOf(...readings: readonly Reading[]): readonly string[] {
  const text = withLives(readings).map(formatPackage).join("");
  return text
    .trim()
    .split("\n")
    .filter((line) => !/^(package|file) /.test(line))
    .map((line) => line.replace(/^ {2}/, ""));
}

describe("what versions of Envoy's API make together", () => {
  it("says since when there is what the oldest did not have", () => {
    const old = { version: "1.32", files: file("message A", "  1 x string", "enum E", "  0 NONE") };
    const now = file("message A", "  1 x string", "  2 y string", "enum E", "  0 NONE", "  1 ONE");
    assert.deepEqual(livesOf(old, { version: "1.35", files: now }, { version: "1.36", files: now }), [
      "message A",
      "  1 x string",
      "  2 y string since=1.35",
      "enum E",
      "  0 NONE",
      "  1 ONE since=1.35",
    ]);
  });

  it("does not repeat at a field what its message says", () => {
    const now = file("message A", "  1 x string", "  message B", "    1 y string");
    assert.deepEqual(livesOf({ version: "1.32", files: [] }, { version: "1.35", files: now }), [
      "message A since=1.35",
      "  1 x string",
      "  message B",
      "    1 y string",
    ]);
  });

  it("keeps what was removed, without what was in it", () => {
    const old = file("message A", "  oneof o", "    1 x string deprecated", "message B", "  1 z string");
    const now = file("message A");
    assert.deepEqual(livesOf({ version: "1.32", files: old }, { version: "1.35", files: now }), [
      "message A",
      "  1 x string removed=1.35",
      "message B removed=1.35",
    ]);
  });

  it("takes a field of another type or number for another field", () => {
    const old = file("message A", "  1 x string", "  2 y string");
    const now = file("message A", "  1 x bytes", "  3 y string");
    assert.deepEqual(livesOf({ version: "1.32", files: old }, { version: "1.35", files: now }), [
      "message A",
      "  1 x bytes since=1.35",
      "  3 y string since=1.35",
      "  1 x string removed=1.35",
      "  2 y string removed=1.35",
    ]);
  });

  it("concludes nothing from versions of which contrib's part is not published", () => {
    const extension = file("message A", "  1 x string");
    const since = [
      { version: "1.32", files: [], contrib: extension },
      { version: "1.35", files: [] },
      { version: "1.36", files: [], contrib: extension },
    ];
    assert.deepEqual(livesOf(...since), ["message A", "  1 x string"]);
  });

  it("knows an extension again that has left contrib", () => {
    const extension = file("message A", "  1 x string");
    const readings = [
      { version: "1.32", files: [], contrib: extension },
      { version: "1.35", files: extension, contrib: file("message Other") },
    ];
    assert.deepEqual(livesOf(...readings), ["message A", "  1 x string", "message Other since=1.35"]);
  });
});
