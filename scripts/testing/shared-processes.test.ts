import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Runs in a folder of its own, whose tests these are. */
function shared(root: string, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const program = `import { sharedProcesses } from ${JSON.stringify(here("shared-processes.mjs"))};
    const { run, names } = sharedProcesses(${JSON.stringify(Object.keys(files))}, "together");
    console.log(JSON.stringify({ run, names: [...names] }));`;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd: root });
  return JSON.parse(said.toString()) as { run: readonly string[]; names: readonly (readonly [string, string])[] };
}

test("eight test files of a package share a process, and those that concern all of it have their own", (t) => {
  const root = mkdtempSync(join(tmpdir(), "xdskit-shared-"));
  t.after(() => rmSync(root, { recursive: true }));
  const units = Array.from({ length: 10 }, (_, index) => `packages/api/dist/${index}.test.js`);
  const { run, names } = shared(root, {
    ...Object.fromEntries(units.map((path) => [path, ""])),
    "packages/api/dist/starts.test.js": 'import { spawn } from "node:child_process";',
    "packages/server/dist/one.test.js": "",
    "packages/xdskit/dist/one.test.js": "",
    "e2e/dist/one.test.js": "",
  });
  assert.deepEqual(run, [
    "together/packages/api/dist/0.test.js",
    "together/packages/api/dist/8.test.js",
    "packages/api/dist/starts.test.js",
    "packages/server/dist/one.test.js",
    "packages/xdskit/dist/one.test.js",
    "e2e/dist/one.test.js",
  ]);
  assert.deepEqual(names, [
    ["together/packages/api/dist/0.test.js", "packages/api/dist/0.test.js and 7 more"],
    ["together/packages/api/dist/8.test.js", "packages/api/dist/8.test.js and 1 more"],
  ]);
  const imports = readFileSync(join(root, "together/packages/api/dist/8.test.js"), "utf8");
  assert.equal(
    imports,
    `${units
      .slice(8)
      .map((path) => `import "../../../../${path}";`)
      .join("\n")}\n`,
  );
});
