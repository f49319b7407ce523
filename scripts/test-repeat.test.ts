import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("test-repeat.mjs", import.meta.url));

it("npm run test:repeat goes on after a failure, and says which tests failed how often", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-repeated-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  // In the first run it fails; in each of them one passes.
  writeFileSync(
    join(folder, "some.test.ts"),
    `import assert from "node:assert";
    import { existsSync, writeFileSync } from "node:fs";
    import { describe, test } from "node:test";
    describe("a thing", () => {
      test("passes", () => {});
      test("passes the second time", () => {
        const before = existsSync("before");
        writeFileSync("before", "");
        assert.ok(before);
      });
    });`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [program, "--times", "3", "--load", "1", "some.test.ts"], {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.equal(status, 1);
  assert.deepEqual(stdout.trim().split("\n").slice(-2), [
    "2 of 3 runs passed",
    "failed in 1 of 3 runs: some.test.ts: passes the second time",
  ]);
});
