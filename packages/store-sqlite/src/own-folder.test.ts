import assert from "node:assert/strict";
import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { openSqliteStore } from "./open-sqlite-store.js";

/** A folder of this process, and one with the state in it. */
function folders(t: TestContext) {
  const outer = mkdtempSync(join(tmpdir(), "xdskit-sqlite-"));
  t.after(() => rmSync(outer, { recursive: true, force: true }));
  const state = join(outer, "state");
  mkdirSync(state, { mode: 0o700 });
  return { outer, state };
}

async function assertRefused(directory: string, reason: RegExp): Promise<void> {
  await assert.rejects(openSqliteStore(directory), { code: "XDSKIT_STORE", message: reason });
  assert.deepEqual(readdirSync(directory), []);
}

async function assertUsed(directory: string): Promise<void> {
  const { store, findings } = await openSqliteStore(directory);
  await store.close();
  assert.deepEqual(findings, []);
}

const other = 65_534;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root gives files to other users" };

describe("the folder of a store", () => {
  it("is not used if everybody may write to it", async (t) => {
    const { state } = folders(t);
    chmodSync(state, 0o1777);
    await assertRefused(state, /other users may write to it \(mode 1777; "chmod go-w"/);
    chmodSync(state, 0o700);
    await assertUsed(state);
  });

  it("is used where the folder around it is open to others, as volumes of Kubernetes are", async (t) => {
    const { outer, state } = folders(t);
    chmodSync(outer, 0o777);
    await assertUsed(state);
  });

  it("is used where only a group of this process may write to it", asRoot, async (t) => {
    const { state } = folders(t);
    chmodSync(state, 0o2770);
    chownSync(state, 0, other);
    await assertRefused(state, /other users may write to it \(mode 2770/);
    chownSync(state, 0, process.getegid?.() ?? 0);
    chmodSync(state, 0o2770);
    await assertUsed(state);
  });

  it("is not used if it belongs to another user", asRoot, async (t) => {
    const { state } = folders(t);
    chownSync(state, other, other);
    await assertRefused(state, /it belongs to another user/);
  });

  it("may be a link of this user or of root, and none of another user", async (t) => {
    const { outer, state } = folders(t);
    const link = join(outer, "link");
    symlinkSync(state, link);
    if (process.geteuid?.() === 0) {
      lchownSync(link, other, other);
      await assertRefused(link, /it, or what it links to, belongs to another user/);
      lchownSync(link, 0, 0);
    }
    await assertUsed(link);
  });
});
