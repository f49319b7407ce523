import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A test file with this text. */
function fileOf(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-bounds-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const file = join(folder, "some.test.mjs");
  writeFileSync(file, `import { describe, test } from "node:test";\nimport { createServer } from "node:net";\n${text}`);
  return file;
}

const { NODE_TEST_CONTEXT: _, ...env } = process.env;
/** As `scripts/test.mjs` starts it, without what loads TypeScript: that takes longer than these tests. */
const args = (seconds: number, file: string) => {
  const [loading, running] = ["load-sources.mjs", "run-files.mjs"].map((name) => join(root, "scripts/testing", name));
  return ["--import", loading ?? "", running ?? "", "1", "spec", String(seconds), file];
};

function run(seconds: number, file: string): { readonly status: number | null; readonly out: string } {
  const options = { cwd: root, env, encoding: "utf8", timeout: 60_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args(seconds, file), options);
  return { status, out: stdout + stderr };
}

describe("a process of tests that does not end", () => {
  it("fails once its time is over, and the run says which test was running", (t) => {
    const file = fileOf(
      t,
      `describe("a thing", () => {
        test("works", () => {});
        test("answers", () => new Promise((resolve) => setTimeout(resolve, 600_000)));
      });`,
    );
    const { status, out } = run(3, file);
    assert.equal(status, 1);
    assert.match(out, /some\.test\.mjs has not ended after 3 s:\n {2}running: a thing .*\n/);
    assert.match(out, /\n {4}running: answers \(.*some\.test\.mjs:5:9\)\n/);
    assert.match(out, /kept by: timer/);
  });

  it("fails even if all of its tests have ended, and the run says what keeps it", (t) => {
    const file = fileOf(
      t,
      `process.on("SIGTERM", () => {});
      test("leaves a server", (t, done) => { createServer().listen(0, "127.0.0.1", done); });`,
    );
    const { status, out } = run(3, file);
    assert.equal(status, 1);
    assert.match(out, /has not ended after 3 s:\n {2}none of its tests is running\n/);
    assert.match(out, /\n {2}kept by: tcp 127\.0\.0\.1:\d+\n/);
  });

  it("fails even if it never comes back to its event loop", (t) => {
    const file = fileOf(
      t,
      `test("begins", () => new Promise((resolve) => setTimeout(resolve, 500)));
      test("counts for ever", async () => { await new Promise((resolve) => setTimeout(resolve, 500)); for (;;); });`,
    );
    const { status, out } = run(5, file);
    assert.equal(status, 1);
    assert.match(out, /running: counts for ever .*\n {2}it does not come back to its event loop: /);
  });

  it("ends with a run that is ended, which says the same", async (t) => {
    const file = fileOf(
      t,
      `test("answers", async () => {
        console.log("begun");
        await new Promise((resolve) => setTimeout(resolve, 600_000));
      });`,
    );
    const child = spawn(process.execPath, args(60, file), { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.includes("begun")) child.kill("SIGTERM");
    });
    const [status] = await once(child, "close");
    assert.equal(status, 1);
    assert.match(out, /some\.test\.mjs had not ended:\n {2}running: answers .*\n/);
  });
});
