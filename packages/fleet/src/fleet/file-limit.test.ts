import assert from "node:assert/strict";
import { it } from "node:test";
import { tooManyConnections } from "./file-limit.js";

it("a fleet says how many files it needs if the limit is lower", () => {
  assert.equal(tooManyConnections(1_000, 1_040), undefined);
  assert.match(
    tooManyConnections(1_001, 1_040) ?? "",
    /1001 connections need 1041 open files, and .* 1040 \(ulimit -n\)/,
  );
});
