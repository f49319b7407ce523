import assert from "node:assert/strict";
import { it } from "node:test";
import { joinFiles } from "./joined-files.js";

it("joined files are documents of one text, and each line knows its file", () => {
  const { text, placeOf } = joinFiles([
    { name: "shop/clusters.yaml", text: "a: 1\r\nb: 2\r\n" },
    { name: "shop/empty.yaml", text: "" },
    { name: "shop/routes.yaml", text: "c: 3\n\n\n" },
  ]);
  assert.equal(text, "a: 1\nb: 2\n---\n\n---\nc: 3\n");
  assert.deepEqual(placeOf(2), { file: "shop/clusters.yaml", line: 2 });
  assert.equal(placeOf(3), undefined, "what stands between files");
  assert.deepEqual(placeOf(6), { file: "shop/routes.yaml", line: 1 });
  assert.equal(placeOf(7), undefined);
});
