import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { peer, root } from "./harness/basics/peers.js";

const folder = join(root, "deploy/prometheus");

function run(promtool: string, ...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: "utf8", timeout: 60_000 });
  return { status, text: stdout + stderr };
}

describe("the alert rules in deploy/", () => {
  it("are valid, as promtool says", (t) => {
    const promtool = peer("promtool", t);
    if (promtool === undefined) return;
    const { status, text } = run(promtool, "check", "rules", join(folder, "alerts.yaml"));
    assert.equal(status, 0, text);
    assert.match(text, /SUCCESS: \d+ rules found/);
  });

  it("fire when they should, and not otherwise", (t) => {
    const promtool = peer("promtool", t);
    if (promtool === undefined) return;
    const { status, text } = run(promtool, "test", "rules", join(folder, "alerts.test.yaml"));
    assert.equal(status, 0, text);
    // The same tests fail where a limit is another one.
    const other = mkdtempSync(join(tmpdir(), "xdskit-rules-"));
    try {
      writeFileSync(
        join(other, "alerts.yaml"),
        readFileSync(join(folder, "alerts.yaml"), "utf8").replace("> 30\n", "> 90\n"),
      );
      writeFileSync(join(other, "alerts.test.yaml"), readFileSync(join(folder, "alerts.test.yaml")));
      assert.equal(run(promtool, "test", "rules", join(other, "alerts.test.yaml")).status, 1);
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});
