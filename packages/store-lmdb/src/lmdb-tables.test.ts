import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext, test } from "node:test";
import { setTimeout as nextTurn } from "node:timers/promises";
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

describe("tables while other processes open the file, and tell all that an older transaction is the newest", () => {
  async function opened(t: TestContext) {
    const file = newFile(t);
    const tables = await LmdbTables.open(file);
    return {
      ...{ tables, file },
      put: (key: string) => tables.write((writer) => writer.put("heads", key, key)),
      held: () => tables.read((reader) => [...reader.range("heads", "")].map(([key]) => key)),
      tellOlder: () => tellOlder(t, file),
    };
  }

  it("lose no write", async (t) => {
    const { tables, put, held, tellOlder } = await opened(t);
    await put("a");
    await put("b");
    tellOlder();
    await put("c");
    assert.deepEqual(held(), ["a", "b", "c"]);
    tellOlder();
    await Promise.all([put("d"), put("e")]);
    assert.deepEqual(held(), ["a", "b", "c", "d", "e"]);
    await tables.close();
  });

  it("read nothing older than before", async (t) => {
    const { tables, put, held, tellOlder } = await opened(t);
    await put("a");
    await put("b");
    assert.deepEqual(held(), ["a", "b"]);
    // A read ends with the turn.
    await nextTurn();
    tellOlder();
    assert.deepEqual(held(), ["a", "b"]);
    await tables.close();
  });

  it("are opened as the newest transaction left them", async (t) => {
    const { tables, put, held, file, tellOlder } = await opened(t);
    await put("a");
    await put("b");
    tellOlder();
    const again = await LmdbTables.open(file);
    assert.deepEqual(held(), ["a", "b"]);
    await again.close();
    await tables.close();
  });
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
