import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { peer, root } from "./harness/basics/peers.js";

const execute = promisify(execFile);

test("xds-conformance is one executable file that needs no Node", { timeout: 120_000 }, async (t) => {
  const node = peer("node-26", t);
  if (node === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), "xdskit-executable-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "xds-conformance");
  await execute(process.execPath, [join(root, "packages/conformance/scripts/executable.mjs"), "--node", node, file]);
  assert.ok(statSync(`${file}.LICENSES.txt`).size > 0);
  const alone = { cwd: folder, env: {} };
  assert.match((await execute(file, ["list"], alone)).stdout, /^sotw-nack-no-loop +SHOULD/m);
  // It reads and writes Envoy's messages, which are in the file.
  const judged = execute(file, ["server", "127.0.0.1:1", "--only", "sotw-named", "--answer-ms", "500"], alone);
  await assert.rejects(judged, ({ code, stdout }: { code: number; stdout: string }) => {
    assert.deepEqual([code, /answers neither SotW nor delta ADS/.test(stdout)], [1, true], stdout);
    return true;
  });
});
