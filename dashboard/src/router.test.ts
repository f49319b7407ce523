import assert from "node:assert/strict";
import { it } from "node:test";
import { linkTo, placeOf } from "./router.js";

it("a link leads to the place that it was made of, whatever the names", () => {
  const parts = ["a/b c", "ü?#&%", ""];
  const query = { q: "x=1&y", empty: "", none: undefined };
  const { view, parts: found, query: asked } = placeOf(linkTo("node", parts, query));
  assert.equal(view, "node");
  assert.deepEqual(found, parts);
  assert.deepEqual([...asked], [["q", "x=1&y"]]);
  assert.deepEqual(placeOf("").view, "");
  assert.deepEqual(placeOf("#/fleet/%E0%A4%A").parts, ["%E0%A4%A"]);
});
