import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Store } from "@xdskit/server";
import { FolderLock } from "./folder-lock.js";
import { openSqliteStore, readSqliteStore } from "./open-sqlite-store.js";
import { SqliteTables } from "./sqlite-tables.js";

const info = { author: "", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "xdskit-sqlite-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const fileIn = (directory: string) => join(directory, "revisions.db");

/** Writes another revision of the layer `a`: 200 resources with its number. */
async function commit(store: Store): Promise<void> {
  const head = await store.head("a");
  const number = (head?.number ?? 0) + 1;
  const upsert = Array.from({ length: 200 }, (_, index) => {
    return {
      type: "t",
      key: `r${index}`,
      version: `${number}`,
      bytes: Buffer.from(`r${index} at ${number}`.repeat(9)),
    };
  });
  await store.commit([{ layer: "a", parent: head?.id, kind: "patch", upsert }], info);
}

/** A folder with a store of some revisions. It was closed, unless `isOpen`. */
async function made(t: TestContext, revisions = 2): Promise<string> {
  const directory = folder(t);
  const { store } = await openSqliteStore(directory);
  for (let number = 0; number < revisions; number += 1) await commit(store);
  await store.close();
  return directory;
}

/** What another process would find that begins after this one was killed. */
async function killed(t: TestContext, store: Store, directory: string): Promise<string> {
  const copy = folder(t);
  for (const name of ["revisions.db", "revisions.db-wal", "revisions.db-acknowledged"])
    writeFileSync(join(copy, name), readFileSync(join(directory, name)), { mode: 0o600 });
  await store.close();
  return copy;
}

/** Damages a file: what stands at each place where it says so. */
function overwrite(path: string, what: string, times = Number.POSITIVE_INFINITY): void {
  const bytes = readFileSync(path);
  let at = bytes.indexOf(what);
  assert.ok(at >= 0);
  for (let done = 0; at >= 0 && done < times; at = bytes.indexOf(what, at + 1), done += 1)
    bytes.fill("y", at, at + what.length);
  writeFileSync(path, bytes);
}

const asides = (directory: string) => readdirSync(directory).filter((name) => name.includes(".set-aside-"));

it("is made by the second process if the first one dies while it makes it", async (t) => {
  const directory = folder(t);
  const first = await FolderLock.of(directory);
  const work = new Promise<never>(() => {});
  void first.share(() => work);
  const second = openSqliteStore(directory);
  await new Promise((resolve) => setTimeout(resolve, 50));
  // As the system does for a process that dies.
  first.close();
  const { store, findings } = await second;
  t.after(() => store.close());
  assert.deepEqual(findings, []);
  await commit(store);
  assert.equal((await store.head("a"))?.number, 1);
});

describe("a store that is opened", () => {
  for (const [how, spoil] of Object.entries({
    "cut off": (path: string) => truncate(path, 12_288),
    "something else": (path: string) => writeFileSync(path, "x".repeat(10_000)),
    "a few bytes": (path: string) => writeFileSync(path, "hello"),
    empty: (path: string) => writeFileSync(path, ""),
    "damaged within a value": (path: string) => overwrite(path, "r7 at 1r7 at 1"),
    "damaged within a key": (path: string) => {
      // That of the head of the layer, in the table and in its index.
      const [, name = ""] = /"([\w-]{22})"/.exec(readFileSync(path, "latin1")) ?? [];
      overwrite(path, name);
    },
  })) {
    it(`a file that is ${how} is set aside, and a finding says so`, async (t) => {
      const directory = await made(t);
      await spoil(fileIn(directory));
      const { store, findings, isLost } = await openSqliteStore(directory);
      assert.deepEqual(await store.heads(), []);
      await commit(store);
      await store.close();
      const [finding] = findings;
      assert.deepEqual([finding?.code, finding?.severity, isLost], ["XDSKIT_STORE", "error", true]);
      const [aside = ""] = asides(directory);
      assert.ok(aside !== "" && finding?.message.includes(aside), finding?.message);
      const again = await openSqliteStore(directory);
      assert.deepEqual([again.findings, (await again.store.head("a"))?.number], [[], 1]);
      await again.store.close();
    });
  }

  it("a file that is gone is said to be gone, once", async (t) => {
    const directory = await made(t);
    rmSync(fileIn(directory));
    const { store, findings, isLost } = await openSqliteStore(directory);
    assert.match(findings[0]?.message ?? "", /^it is gone; history begins anew$/);
    assert.ok(isLost);
    await store.close();
    const again = await openSqliteStore(directory);
    assert.deepEqual(again.findings, []);
    await again.store.close();
  });

  it("the newest changes are said to be missing, once, if the log that had them is damaged or gone", async (t) => {
    for (const spoil of [(log: string) => overwrite(log, "r7 at 3r7 at 3", 1), (log: string) => rmSync(log)]) {
      const { store, directory } = await (async () => {
        const path = await made(t);
        const opened = await openSqliteStore(path);
        for (let number = 3; number <= 5; number += 1) await commit(opened.store);
        return { store: opened.store, directory: path };
      })();
      const copy = await killed(t, store, directory);
      spoil(`${fileIn(copy)}-wal`);
      const found = await openSqliteStore(copy);
      assert.match(found.findings[0]?.message ?? "", /^the newest 3 changes are missing, .*; what is left is served$/);
      assert.deepEqual([found.findings[0]?.severity, found.isLost], ["error", false]);
      assert.equal((await found.store.head("a"))?.number, 2);
      await found.store.close();
      const again = await openSqliteStore(copy);
      assert.deepEqual(again.findings, []);
      await commit(again.store);
      assert.equal((await again.store.head("a"))?.number, 3);
      await again.store.close();
    }
  });

  it("a store whose process was killed has all that was acknowledged, and says nothing", async (t) => {
    const directory = await made(t);
    const { store } = await openSqliteStore(directory);
    for (let number = 3; number <= 5; number += 1) await commit(store);
    const copy = await killed(t, store, directory);
    const found = await openSqliteStore(copy);
    assert.deepEqual([found.findings, (await found.store.head("a"))?.number], [[], 5]);
    await found.store.close();
  });

  it("a content that is damaged while the store is open is an error when it is read", async (t) => {
    const directory = await made(t);
    const { store } = await openSqliteStore(directory);
    overwrite(fileIn(directory), "r7 at 1r7 at 1");
    const [head, first] = await store.history("a", { limit: 2 });
    assert.equal((await store.read(head?.id ?? "")).length, 200);
    const damaged = { code: "XDSKIT_STORE", message: /revisions\.db: it is damaged: a row of contents is not what/ };
    await assert.rejects(store.read(first?.id ?? ""), damaged);
    await assert.rejects(store.content("t", "r7", "1"), damaged);
    await store.close();
  });

  it("a damaged file stays where it is as long as somebody has it open", async (t) => {
    const directory = await made(t);
    const { store } = await openSqliteStore(directory);
    writeFileSync(fileIn(directory), "x".repeat(10_000));
    const refused = { code: "XDSKIT_STORE", message: /; it stays where it is, since another process has it open/ };
    await assert.rejects(openSqliteStore(directory), refused);
    assert.deepEqual(asides(directory), []);
    await store.close().catch(() => {});
  });

  it("the file of a process that was killed before it made a table is taken", async (t) => {
    const directory = folder(t);
    writeFileSync(fileIn(directory), "", { mode: 0o600 });
    const { store, findings } = await openSqliteStore(directory);
    assert.deepEqual([findings, await store.heads()], [[], []]);
    await store.close();
  });

  it("many that open it at once make one store, which keeps what each of them writes", async (t) => {
    const directory = folder(t);
    const all = await Promise.all(Array.from({ length: 5 }, () => openSqliteStore(directory)));
    for (const { store } of all) await commit(store);
    for (const { store, findings } of all) {
      assert.deepEqual([findings, (await store.head("a"))?.number], [[], 5]);
      await store.close();
    }
  });

  it("nothing is kept of a transaction whose work fails", async (t) => {
    const tables = new SqliteTables(fileIn(await made(t)));
    const good = tables.write((writer) => writer.put("meta", "b", 1));
    const fail = tables.write((writer) => {
      writer.put("meta", "a", 1);
      throw new Error("half way");
    });
    await assert.rejects(fail, /half way/);
    await good;
    assert.deepEqual(
      tables.read((reader) => ["a", "b"].map((key) => reader.get("meta", key))),
      [undefined, 1],
    );
    await tables.close();
  });

  it("the file of a newer xdskit is refused, and stays", async (t) => {
    const directory = await made(t);
    const tables = new SqliteTables(fileIn(directory));
    await tables.write((writer) => writer.put("meta", "format", 2));
    await tables.close();
    const refused = { code: "XDSKIT_STORE", message: /a newer xdskit wrote it, in format 2; this one reads format 1/ };
    await assert.rejects(openSqliteStore(directory), refused);
    await assert.rejects(readSqliteStore(directory), refused);
    assert.deepEqual(asides(directory), []);
  });

  it("the file of an earlier xdskit stays, and the finding says how to move what it holds", async (t) => {
    const directory = folder(t);
    const earlier = join(directory, "revisions.mdb");
    writeFileSync(earlier, "of LMDB");
    for (let start = 0; start < 2; start += 1) {
      const { store, findings, isLost } = await openSqliteStore(directory);
      assert.match(
        findings[0]?.message ?? "",
        /"xdskit export backup\.json --show-secrets --state .*import backup\.json/,
      );
      assert.deepEqual([findings[0]?.file, isLost], [earlier, true]);
      await store.close();
    }
    assert.ok(existsSync(earlier));
  });

  it("the finding about the file of an earlier xdskit has the line that ends it", async (t) => {
    const directory = join(folder(t), "it's a state");
    mkdirSync(directory, { mode: 0o700 });
    const earlier = join(directory, "revisions.mdb");
    writeFileSync(earlier, "of LMDB");
    const { store, findings } = await openSqliteStore(directory);
    await store.close();
    const [, line = ""] = /run: (rm .*) ; to keep/.exec(findings[0]?.message ?? "") ?? [];
    execFileSync("/bin/sh", ["-c", line]);
    assert.ok(!existsSync(earlier));
    const again = await openSqliteStore(directory);
    assert.deepEqual(again.findings, []);
    await again.store.close();
  });

  it("it rejects with its folder and the reason if it cannot be written", async (t) => {
    const directory = folder(t);
    writeFileSync(join(directory, "file"), "");
    const refused = { code: "XDSKIT_STORE", message: /file\/state: it cannot be opened: ENOTDIR/ };
    await assert.rejects(openSqliteStore(join(directory, "file/state")), refused);
  });

  it("must be a folder, for programs without types too", async () => {
    for (const open of [openSqliteStore, readSqliteStore])
      for (const given of [undefined, "", {}])
        await assert.rejects(open(given as never), {
          code: "XDSKIT_STORE",
          message: /SqliteStore takes a folder, such/,
        });
  });

  it("its files are for their owner", async (t) => {
    const directory = join(folder(t), "state");
    const { store } = await openSqliteStore(directory);
    await commit(store);
    const names = readdirSync(directory);
    assert.ok(names.length >= 5, names.join());
    for (const name of names) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    await store.close();
    chmodSync(directory, 0o700);
  });
});
