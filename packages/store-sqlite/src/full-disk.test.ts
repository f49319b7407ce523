import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

describe("transactions on a disk that is full", () => {
  it("each is answered, whenever another one fails, and those that fit are written", {
    timeout: 120_000,
  }, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "xdskit-sqlite-"));
    t.after(() => rm(directory, { recursive: true, force: true }));
    // In the mode of this test: from sources, or as built.
    const program = fileURLToPath(import.meta.url).replace(/full-disk\.test\.(\w+)$/, "testing/too-large-writer.$1");
    const run = [process.execPath, ...process.execArgv, program, join(directory, "a.mdb")];
    const limited = ["-c", 'ulimit -f 8192; exec "$@"', "sh", ...run];
    const { stdout } = await promisify(execFile)("sh", limited, { timeout: 90_000 });
    assert.deepEqual(JSON.parse(stdout), { small: 60, large: 0 });
  });
});
