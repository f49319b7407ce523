import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { open } from "lmdb";
import { LmdbTables } from "./lmdb-tables.js";

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-lmdb-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "state.lmdb");
}

/**
 * Tells all processes that have a file open that the transaction before the newest one is the newest. So does one that
 * opens the file, if another one commits after it has read the head. Until the test ends, the file is not closed: then
 * LMDB's own locks would go.
 */
function tellOlder(t: TestContext, file: string): void {
  const handle = openSync(`${file}-lock`, "r+");
  t.after(() => closeSync(handle));
  // After the magic number and the format.
  const number = Buffer.alloc(8);
  readSync(handle, number, 0, 8, 8);
  number.writeBigUInt64LE(number.readBigUInt64LE() - 1n);
  writeSync(handle, number, 0, 8, 8);
}

test("a write is not lost because another process opens the file at that moment", async (t) => {
  const file = newFile(t);
  const tables = await LmdbTables.open(file);
  const put = (key: string) => tables.write((writer) => writer.put("meta", key, key));
  const held = () => tables.read((reader) => [...reader.range("meta", "")].map(([key]) => key));
  await put("a");
  await put("b");
  tellOlder(t, file);
  await put("c");
  assert.deepEqual(held(), ["a", "b", "c"]);
  tellOlder(t, file);
  await Promise.all([put("d"), put("e")]);
  assert.deepEqual(held(), ["a", "b", "c", "d", "e"]);
  tellOlder(t, file);
  await (await LmdbTables.open(file)).close();
  assert.deepEqual(held(), ["a", "b", "c", "d", "e"]);
  await tables.close();
});

test("a new file costs one commit, however many tables it has", async (t) => {
  const file = newFile(t);
  await (await LmdbTables.open(file)).close();
  const written = open({ path: file, noSubdir: true, readOnly: true });
  const { lastTxnId, entryCount } = written.getStats() as { lastTxnId: number; entryCount: number };
  await written.close();
  assert.ok(entryCount > 1, `${entryCount} tables`);
  assert.equal(lastTxnId, 1);
});
