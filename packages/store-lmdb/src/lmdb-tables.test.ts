import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "lmdb";
import { LmdbTables } from "./lmdb-tables.js";

test("a new file costs one commit, however many tables it has", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-lmdb-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "state.lmdb");
  await new LmdbTables(file).close();
  const written = open({ path: file, noSubdir: true, readOnly: true });
  const { lastTxnId, entryCount } = written.getStats() as { lastTxnId: number; entryCount: number };
  await written.close();
  assert.ok(entryCount > 1, `${entryCount} tables`);
  assert.equal(lastTxnId, 1);
});
