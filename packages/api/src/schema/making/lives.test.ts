import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePackage } from "../parse-facts.js";
import { formatPackage } from "../write-facts.js";
import type { FileOfPackage } from "./elements.js";
import { type VersionReading, withLives } from "./lives.js";

/** A file of the package acme.v1 with the given lines. */
function file(...lines: readonly string[]): readonly FileOfPackage[] {
  const text = ["package acme.v1", "file acme.proto", ...lines.map((line) => `  ${line}`)].join("\n");
  return parsePackage(text, "acme").files.map((each) => ({ packageName: "acme.v1", file: each }));
}

/** The lines after the file's own, from the readings. */
function livesOf(...readings: readonly VersionReading[]): readonly string[] {
  const text = withLives(readings).map(formatPackage).join("");
  return text
    .trim()
    .split("\n")
    .filter((line) => !/^(package|file) /.test(line))
    .map((line) => line.replace(/^ {2}/, ""));
}

describe("the history of Envoy's API over its versions", () => {
  it("the history says which version first had each part that the oldest lacks", () => {
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

  it("the history does not repeat at a field the version of its message", () => {
    const now = file("message A", "  1 x string", "  message B", "    1 y string");
    assert.deepEqual(livesOf({ version: "1.32", files: [] }, { version: "1.35", files: now }), [
      "message A since=1.35",
      "  1 x string",
      "  message B",
      "    1 y string",
    ]);
  });

  it("the history keeps a removed part, without its content", () => {
    const old = file("message A", "  oneof o", "    1 x string deprecated", "message B", "  1 z string");
    const now = file("message A");
    assert.deepEqual(livesOf({ version: "1.32", files: old }, { version: "1.35", files: now }), [
      "message A",
      "  1 x string removed=1.35",
      "message B removed=1.35",
    ]);
  });

  it("the history treats a field with another type or number as another field", () => {
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

  it("the history concludes nothing from versions whose contrib part is not published", () => {
    const extension = file("message A", "  1 x string");
    const since = [
      { version: "1.32", files: [], contrib: extension },
      { version: "1.35", files: [] },
      { version: "1.36", files: [], contrib: extension },
    ];
    assert.deepEqual(livesOf(...since), ["message A", "  1 x string"]);
  });

  it("the history recognises an extension that has left contrib", () => {
    const extension = file("message A", "  1 x string");
    const readings = [
      { version: "1.32", files: [], contrib: extension },
      { version: "1.35", files: extension, contrib: file("message Other") },
    ];
    assert.deepEqual(livesOf(...readings), ["message A", "  1 x string", "message Other since=1.35"]);
  });
});
