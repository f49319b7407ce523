import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { peer, root } from "./harness/peers.js";

test("the list of Envoy's extensions is what Envoy says of itself", { timeout: 120_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      "--conditions=@xdskit/source",
      "--import",
      "tsx",
      "packages/api/src/schema/making/main.ts",
      "--extensions-check",
      path,
    ],
    { cwd: root },
  );
  assert.match(stdout, /^\d{3} extensions of Envoy 1\.40\.0: as in the list\n$/);
});
