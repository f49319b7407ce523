import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CommitInfo, StoredResource } from "@xdskit/server";
import { openSqliteStore } from "../open-sqlite-store.js";
import { WriteThread } from "./write-thread.js";

const info: CommitInfo = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 };
const one: StoredResource = { type: "T", key: "one", version: "1", bytes: Buffer.from("one at 1") };

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "xdskit-sqlite-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("the thread that writes large commits", () => {
  it("the thread commits contents that the file has already, and the other thread reads the commit", async (t) => {
    const directory = await folder(t);
    const { store } = await openSqliteStore(directory);
    t.after(() => store.close());
    const thread = new WriteThread(join(directory, "revisions.db"));
    await store.commit([{ layer: "a", parent: undefined, kind: "patch", upsert: [one] }], info);
    const result = await thread.commit(
      [{ layer: "b", parent: undefined, kind: "patch", upsert: [one] }],
      info,
      undefined,
    );
    assert.ok(result?.kind === "committed");
    assert.deepEqual(await store.head("b"), result.heads[0]);
    assert.deepEqual(await store.read(result.heads[0]?.id ?? ""), [one]);
  });

  it("the thread leaves a commit with missing contents to the caller, and writes nothing of it", async (t) => {
    const directory = await folder(t);
    const { store } = await openSqliteStore(directory);
    t.after(() => store.close());
    const thread = new WriteThread(join(directory, "revisions.db"));
    const result = await thread.commit(
      [{ layer: "a", parent: undefined, kind: "patch", upsert: [one] }],
      info,
      undefined,
    );
    assert.equal(result, undefined);
    assert.deepEqual(await store.heads(), []);
  });

  it("the thread says that the disk is full, so that the caller need not try", { timeout: 120_000 }, async (t) => {
    const directory = await folder(t);
    // In the mode of this test: from sources, or as built.
    const program = fileURLToPath(import.meta.url).replace(/write-thread\/\S+\.(\w+)$/, "testing/full-disk-thread.$1");
    const run = [process.execPath, ...process.execArgv, program, directory];
    const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -f 8192; exec "$@"', "sh", ...run]);
    assert.match(stdout, /revisions\.db: the store cannot be written: .+ \[XDSKIT_STORE\]$/m);
  });

  it("the thread leaves everything to the caller if it cannot open the file", async (t) => {
    const file = join(await folder(t), "a file");
    await writeFile(file, "");
    const thread = new WriteThread(join(file, "revisions.db"));
    assert.equal(await thread.retain({ revisions: 1, since: 0 }), undefined);
  });
});
