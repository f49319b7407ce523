import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const packageDir = join(import.meta.dirname, "..");

/** A command that is stopped while it loads what it needs, and listens for nothing yet. */
const loading = `
const spare = setTimeout(() => process.exit(7), 20_000);
export const main = () => new Promise(() => process.kill(process.pid, process.env.STOP_BY));
`;

test("a stop while the command loads is orderly", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "dist"));
  cpSync(join(packageDir, "bin"), join(folder, "bin"), { recursive: true });
  cpSync(join(packageDir, "package.json"), join(folder, "package.json"));
  writeFileSync(join(folder, "dist/index.js"), loading);
  const ended = async (command: string, signal: NodeJS.Signals): Promise<unknown> => {
    const env = { ...process.env, STOP_BY: signal };
    const child = spawn(process.execPath, [join(folder, "bin/xdskit.cjs"), command], { env, stdio: "ignore" });
    const [code, by] = await once(child, "exit");
    return code ?? by;
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    for (const command of ["serve", "relay", "watch"]) {
      await t.test(`${signal} is no failure of ${command}`, async () => {
        assert.equal(await ended(command, signal), 0);
      });
    }
    await t.test(`${signal} ends validate without a verdict`, async () => {
      assert.equal(await ended("validate", signal), signal);
    });
  }
});
