import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readSqliteStore } from "./open-sqlite-store.js";

const program = fileURLToPath(import.meta.url).replace(/exits\.test\.(\w+)$/, "testing/exiting-writer.$1");

describe("a process that exits in the middle of a commit", () => {
  for (const { how, resources, moments } of [
    { how: "a thread of the package", resources: 3, moments: [1, 2, 3, 4] },
    { how: "the write thread", resources: 2_000, moments: [2, 20, 200, 2_000] },
  ])
    for (const turns of moments)
      it(`ends, and keeps what was acknowledged: ${how}, after ${turns} turns`, async (t) => {
        const directory = mkdtempSync(join(tmpdir(), "xdskit-sqlite-"));
        t.after(() => rmSync(directory, { recursive: true, force: true }));
        const args = [...process.execArgv, program, directory, `${resources}`, `${turns}`];
        const ended = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 30_000, killSignal: "SIGTERM" });
        assert.equal(ended.error, undefined);
        const [acknowledged, exit] = ended.stdout.trim().split("\n");
        assert.equal(exit, "exit", ended.stderr);
        assert.equal(ended.status, 3, `${ended.status} ${ended.signal}`);
        const store = await readSqliteStore(directory);
        t.after(() => store.close());
        const head = await store.head("a");
        assert.ok(head !== undefined && (head.id === acknowledged || head.number === 2), JSON.stringify(head));
      });
});
