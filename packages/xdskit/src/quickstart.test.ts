import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { xdskitEnds } from "./testing/command.js";

const quickstart = fileURLToPath(new URL("../../../examples/quickstart/", import.meta.url));

test("the quickstart passes its own validation without a warning", async () => {
  const { status, out } = await xdskitEnds("validate", "--strict", join(quickstart, "config"));
  assert.equal(status, 0, out);
  assert.match(out, /4 files, 0 errors, 0 warnings\n {2}group all: /);
});
