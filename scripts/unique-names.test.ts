import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("unique-names.mjs", import.meta.url));

/** The script's output for a repository with these files. */
function said(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "unique-names-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  spawnSync("git", ["init", "-q", root]);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  return { status, stderr };
}

describe("unique-names.mjs", () => {
  it("fails for a type that a package declares twice, and says where", (t) => {
    const { status, stderr } = said(t, {
      "packages/a/src/one.ts": "export interface Plan {}\n",
      "packages/a/src/deep/two.ts": "\ntype Plan = string;\n",
    });
    assert.equal(status, 1);
    assert.equal(
      stderr,
      "packages/a/src/one.ts:1: Plan is declared at packages/a/src/deep/two.ts:2 as well: give one of them another name\n",
    );
  });

  it("fails for an exported function whose name another file of the package gives to a function", (t) => {
    const { status, stderr } = said(t, {
      "packages/a/src/one.ts": "export async function read(): Promise<void> {}\n",
      "packages/a/src/three.ts": "export const write = (text: string) => text;\n",
      "packages/a/src/two.ts": "const write = () => {};\nfunction read() {}\n",
    });
    assert.equal(status, 1);
    assert.deepEqual(stderr.trimEnd().split("\n"), [
      "packages/a/src/two.ts:1: write is declared at packages/a/src/three.ts:1 as well: give one of them another name",
      "packages/a/src/two.ts:2: read is declared at packages/a/src/one.ts:1 as well: give one of them another name",
    ]);
  });

  it("lets two files have a function of one name each for themselves, and a type the name of a function", (t) => {
    const { status, stderr } = said(t, {
      "packages/a/src/one.ts": "function read(): void;\nfunction read(text = '') {}\nexport type Read = string;\n",
      "packages/a/src/two.ts": "const read = () => {};\nexport function Read() {}\n",
    });
    assert.deepEqual([status, stderr], [0, ""]);
  });

  it("lets packages, tests, and one file have the same name twice", (t) => {
    const { status, stderr } = said(t, {
      "packages/a/src/one.ts": "export interface Plan {}\nexport class Plan {}\n",
      "packages/a/src/one.test.ts": "interface Plan {}\n",
      "packages/a/src/testing/two.ts": "interface Plan {}\n",
      "packages/b/src/one.ts": "class Plan {}\n  interface Plan {}\n",
    });
    assert.deepEqual([status, stderr], [0, ""]);
  });
});
