import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { testFolder } from "../src/testing/folder.js";
import { withSmallParts } from "./small-parts.mjs";

const files = new Map([
  ["index.js", `exports.said = () => [require("./chunk-A.js").a, require("./chunk-LONG.js").long, globalThis.ran];`],
  ["chunk-A.js", `globalThis.ran.push("A"); const { b } = require("./chunk-B.js"); module.exports = { a: b + 1 };`],
  ["chunk-B.js", `globalThis.ran.push("B"); exports.b = 1; // The last line may be a comment.`],
  ["chunk-C.js", `globalThis.ran.push("C");`],
  ["chunk-LONG.js", `exports.long = require("./chunk-B.js").b; // ${"-".repeat(40_000)}`],
]);

describe("the small parts of a bundle", () => {
  it("are in one file, and each runs once, when it is first asked for", async (t) => {
    const together = withSmallParts(files);
    assert.deepEqual([...together.keys()].sort(), ["chunk-LONG.js", "index.js", "parts.js"]);
    await using folder = await testFolder(Object.fromEntries(together));
    const ran: string[] = [];
    Object.assign(globalThis, { ran });
    t.after(() => Reflect.deleteProperty(globalThis, "ran"));
    const { said } = createRequire(import.meta.url)(join(folder.path, "index.js")) as { said(): unknown };
    assert.deepEqual(ran, []);
    assert.deepEqual(said(), [2, 1, ["A", "B"]]);
    assert.deepEqual(said(), [2, 1, ["A", "B"]]);
  });
});
