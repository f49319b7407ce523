import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A folder that has these files. */
function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "xdskit-shared-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const runIn = (cwd: string, program: string) =>
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd }).toString();

/** Which of these tests share processes, if these peers are missing. */
function shared(t: TestContext, files: Readonly<Record<string, string>>, missing: readonly string[] = []) {
  const program = `import { sharedProcesses } from ${JSON.stringify(here("shared-processes.mjs"))};
    const isMissing = (peer) => ${JSON.stringify(missing)}.includes(peer);
    console.log(JSON.stringify(sharedProcesses(${JSON.stringify(Object.keys(files))}, isMissing)));`;
  return JSON.parse(runIn(folderOf(t, files), program)) as readonly (readonly string[])[];
}

describe("sharedProcesses", () => {
  it("puts 48 test files of a package together, and leaves alone those that concern the whole process", (t) => {
    const units = Array.from({ length: 50 }, (_, index) => `packages/api/dist/${index}.test.js`);
    const groups = shared(t, {
      ...Object.fromEntries(units.map((path) => [path, ""])),
      "packages/api/dist/starts.test.js": 'import { spawn } from "node:child_process";',
      "packages/server/dist/one.test.js": "",
      "e2e/dist/one.test.js": "",
    });
    assert.deepEqual(groups, [
      units.slice(0, 48),
      units.slice(48),
      ["packages/server/dist/one.test.js"],
      ["packages/api/dist/starts.test.js"],
      ["e2e/dist/one.test.js"],
    ]);
  });

  it("puts eight test files that start the command together", (t) => {
    const command = 'await xdskitEnds("get");';
    const starting = Array.from({ length: 10 }, (_, index) => `packages/xdskit/dist/${index}.test.js`);
    const plain = ["packages/xdskit/dist/plain.test.js", "packages/xdskit/dist/plain-too.test.js"];
    const text = (path: string) => [path, starting.includes(path) ? command : ""];
    assert.deepEqual(shared(t, Object.fromEntries([...starting, ...plain].map(text))), [
      starting.slice(0, 8),
      starting.slice(8),
      plain,
    ]);
  });

  it("puts together the test files that are skipped where a peer is missing, and only there", (t) => {
    const paths = ["envoy-a", "envoy-b", "etcd-a", "etcd-b", "replicas"].map((name) => `e2e/dist/${name}.test.js`);
    const files = Object.fromEntries(paths.map((path) => [path, ""]));
    assert.deepEqual(
      shared(t, files),
      paths.map((path) => [path]),
    );
    assert.deepEqual(shared(t, files, ["envoy"]), [paths.slice(0, 2), ...paths.slice(2).map((path) => [path])]);
  });
});

describe("processFiles", () => {
  const files = {
    "packages/a/dist/one.test.js": `import { where, count } from "./helper.js";
      import { other } from "../../b/src/other.js";
      console.log("one", where, count(), other);`,
    "packages/a/dist/two.test.js": `import { count } from "./helper.js";
      console.log("two", count(), await Promise.resolve("later"));`,
    "packages/a/dist/memory.test.js": "process.memoryUsage();",
    "packages/a/dist/helper.js": `let calls = 0;
      export const count = () => ++calls;
      export const where = import.meta.url + " import.meta.url";`,
    "packages/b/dist/other.js": "export const other = import.meta.dirname;",
  };

  function processes(t: TestContext, groups: readonly (readonly string[])[]) {
    const root = folderOf(t, {
      ...files,
      "package.json": '{ "type": "module" }',
      "out/package.json": '{ "type": "module" }',
    });
    const program = `import { processFiles } from ${JSON.stringify(here("process-files.mjs"))};
      const { run, names, bundles } = await processFiles(${JSON.stringify(groups)}, ${JSON.stringify(join(root, "out"))});
      console.log(JSON.stringify({ run, names: [...names], bundles: [...bundles] }));`;
    type Made = { run: string[]; names: [string, unknown][]; bundles: [string, string[]][] };
    return { root, ...(JSON.parse(runIn(root, program)) as Made) };
  }

  it("makes one file of a package's tests, which runs those of a process as if each were loaded by itself", (t) => {
    const [one, two] = ["packages/a/dist/one.test.js", "packages/a/dist/two.test.js"];
    const { root, run, names, bundles } = processes(t, [[one, two], [two]]);
    const [both = "", second = ""] = run;
    assert.deepEqual(bundles, [["packages-a", [one, two, two]]]);
    assert.deepEqual(names, [
      [join(root, "out", one), [one, two]],
      [join(root, "out", two), [two]],
    ]);
    const helper = new URL(`file://${root}/packages/a/dist/helper.js`).href;
    rmSync(join(root, "packages"), { recursive: true });
    assert.equal(
      execFileSync(process.execPath, [both]).toString(),
      `one ${helper} import.meta.url 1 ${root}/packages/b/dist\ntwo 2 later\n`,
    );
    assert.equal(execFileSync(process.execPath, [second]).toString(), "two 1 later\n");
  });

  it("leaves a test about memory as it is, which loads nothing that it does not need", (t) => {
    const memory = "packages/a/dist/memory.test.js";
    const { run, names, bundles } = processes(t, [[memory]]);
    assert.deepEqual({ run, names, bundles }, { run: [memory], names: [], bundles: [] });
  });
});

describe("originalPlaces", () => {
  it("says where in the test something is that a stack places in the file made of it", (t) => {
    const test = "packages/a/dist/fails.test.js";
    const root = folderOf(t, {
      "package.json": '{ "type": "module" }',
      "out/package.json": '{ "type": "module" }',
      [test]: '// A comment.\n\nthrow new Error("here");\n',
    });
    const program = `import { spawnSync } from "node:child_process";
      import { originalPlaces } from ${JSON.stringify(here("original-places.mjs"))};
      import { processFiles } from ${JSON.stringify(here("process-files.mjs"))};
      const out = ${JSON.stringify(join(root, "out"))};
      const { run, bundles } = await processFiles([["${test}"]], out);
      const { stderr } = spawnSync(process.execPath, run);
      console.log(await originalPlaces(bundles, out)(String(stderr)));`;
    const said = runIn(root, program);
    assert.ok(said.includes(`${root}/${test}:3:7`), said);
  });
});
