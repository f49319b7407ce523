import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Runs in a folder of its own, whose tests these are. */
function shared(root: string, files: Readonly<Record<string, string>>, missing: readonly string[] = []) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const program = `import { sharedProcesses } from ${JSON.stringify(here("shared-processes.mjs"))};
    const { run, names } = sharedProcesses(${JSON.stringify(Object.keys(files))}, "together", (peer) =>
      ${JSON.stringify(missing)}.includes(peer));
    console.log(JSON.stringify({ run, names: [...names].map(([path, { first, others }]) => [path, first, others]) }));`;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd: root });
  type Name = readonly [path: string, first: string, others: number];
  return JSON.parse(said.toString()) as { run: readonly string[]; names: readonly Name[] };
}

test("sixteen test files of a package share a process, and those that concern all of it have their own", (t) => {
  const root = mkdtempSync(join(tmpdir(), "xdskit-shared-"));
  t.after(() => rmSync(root, { recursive: true }));
  const units = Array.from({ length: 18 }, (_, index) => `packages/api/dist/${index}.test.js`);
  const { run, names } = shared(root, {
    ...Object.fromEntries(units.map((path) => [path, ""])),
    "packages/api/dist/starts.test.js": 'import { spawn } from "node:child_process";',
    "packages/server/dist/one.test.js": "",
    "e2e/dist/one.test.js": "",
  });
  assert.deepEqual(run, [
    "together/packages/api/dist/0.test.js",
    "together/packages/api/dist/16.test.js",
    "packages/server/dist/one.test.js",
    "packages/api/dist/starts.test.js",
    "e2e/dist/one.test.js",
  ]);
  assert.deepEqual(names, [
    ["together/packages/api/dist/0.test.js", "packages/api/dist/0.test.js", 15],
    ["together/packages/api/dist/16.test.js", "packages/api/dist/16.test.js", 1],
  ]);
  const imports = readFileSync(join(root, "together/packages/api/dist/16.test.js"), "utf8");
  assert.equal(
    imports,
    `${units
      .slice(16)
      .map((path) => `import "../../../../${path}";`)
      .join("\n")}\n`,
  );
});

test("four test files that start the command share a process", (t) => {
  const root = mkdtempSync(join(tmpdir(), "xdskit-shared-"));
  t.after(() => rmSync(root, { recursive: true }));
  const command = 'await xdskitEnds("get");';
  const { names } = shared(root, {
    ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`packages/xdskit/dist/${index}.test.js`, command])),
    "packages/xdskit/dist/plain.test.js": "",
    "packages/xdskit/dist/plain-too.test.js": "",
  });
  assert.deepEqual(
    names.map(([, first, others]) => `${first} and ${others} more`),
    [
      "packages/xdskit/dist/0.test.js and 3 more",
      "packages/xdskit/dist/4.test.js and 1 more",
      "packages/xdskit/dist/plain.test.js and 1 more",
    ],
  );
});

test("test files that are skipped where a peer is missing share a process there, and only there", (t) => {
  const root = mkdtempSync(join(tmpdir(), "xdskit-shared-"));
  t.after(() => rmSync(root, { recursive: true }));
  const files = Object.fromEntries(
    ["envoy-a", "envoy-b", "etcd-a", "etcd-b", "replicas"].map((name) => [`e2e/dist/${name}.test.js`, ""]),
  );
  assert.deepEqual(shared(root, files).run, Object.keys(files));
  assert.deepEqual(shared(root, files, ["envoy"]).run, [
    "together/e2e/dist/envoy-a.test.js",
    "e2e/dist/etcd-a.test.js",
    "e2e/dist/etcd-b.test.js",
    "e2e/dist/replicas.test.js",
  ]);
});
