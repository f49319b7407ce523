import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { isCi, packages, read, root } from "./packed/checkout.js";
import { publintOf, wrongTypesOf } from "./packed/checks.js";
import { compileAll, compileEach } from "./packed/compile.js";
import { install, pack } from "./packed/install.js";
import { typed } from "./packed/pages.js";
import { hasAdmin, hasControlPlane, peerOf, runsAsCommonJs, runsAsModule, serves } from "./packed/run.js";
import { writeSbom } from "./release/sbom.mjs";

const { version } = JSON.parse(read("packages/xdskit/package.json"));
const packedWhole = join(root, "scripts/packed-whole.mjs");

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-tarballs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("packages that are packed", () => {
  it("have what the build makes, or are refused", (t) => {
    const folder = emptyFolder(t);
    for (const [name, { scripts }] of packages) {
      const [, program = "", ...files] = scripts.prepack?.split(" ") ?? [];
      writeFileSync(join(folder, "package.json"), read(`packages/${name}/package.json`));
      const args = [join(root, "packages", name, program), ...files];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
      assert.equal(status, 1, name);
      assert.match(stderr, /^@?xds\S+ is not packed: there is no \S+; run npm run build first\n$/);
    }
  });

  it("have nothing of sources that are gone", (t) => {
    const folder = emptyFolder(t);
    const manifest = { name: "xdskit", exports: { ".": { default: "./dist/index.js" } } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    for (const directory of ["src", "dist/old", "dist/bundle"]) mkdirSync(join(folder, directory), { recursive: true });
    const [kept, gone] = [
      ["index.js", "index.d.ts.map", "bundle/main.js"],
      ["old/was.js", "was.d.ts"],
    ];
    for (const path of ["src/index.ts", ...[...kept, ...gone].map((path) => `dist/${path}`)])
      writeFileSync(join(folder, path), "");
    const { status, stderr } = spawnSync(process.execPath, [packedWhole], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const left = readdirSync(join(folder, "dist"), { recursive: true, withFileTypes: true });
    assert.deepEqual(left.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort(), [
      "index.d.ts.map",
      "index.js",
      "main.js",
    ]);
  });

  it("need no install scripts, in a program or in this checkout", () => {
    const { packages: all } = JSON.parse(read("package-lock.json"));
    const withScripts = Object.keys(all).filter((path) => all[path].hasInstallScript);
    const names = new Set(withScripts.map((path) => path.replace(/^.*node_modules\//, "")));
    // esbuild's makes its start a little faster, that of protobufjs warns of versions, and koffi's compiles it where it
    // has no program. CI installs without scripts.
    assert.deepEqual([...names].sort(), ["esbuild", "koffi", "protobufjs"]);
    assert.match(read(".ci/run"), /^npm ci --ignore-scripts$/m);
  });

  it("install where nothing is, without their scripts, and run what the pages say", async (t) => {
    if (!isCi && !existsSync(join(root, "packages/xdskit/dist/bundle"))) return t.skip("needs npm run build");
    // A release is tested as it will be published.
    const given = process.env.TARBALLS;
    const [tarballs, folder] = [given ?? join(emptyFolder(t), "tarballs"), emptyFolder(t)];
    if (given === undefined) pack(tarballs);
    const files = readdirSync(tarballs).filter((file) => file.endsWith(".tgz"));
    assert.equal(files.length, packages.size);

    for (const file of files) {
      await t.test(`${file} passes publint and attw`, async () => {
        const found = await Promise.all([publintOf, wrongTypesOf].map((check) => check(join(tarballs, file))));
        assert.deepEqual(found.flat(), []);
      });
    }

    const lines = typed("docs/library.md", "## Install");
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^npm install --ignore-scripts CLONE\/\.cache\/tarballs\/\*\.tgz /);
    assert.ok(typed("docs/install.md", "## In a folder of your own").includes("npm run tarballs"));
    const why = install(folder, tarballs, lines[0] ?? "");
    if (why !== undefined) return t.skip(why);

    await t.test("have lists of all parts, with hashes and licences, as CycloneDX and SPDX", (t) => {
      const beside = emptyFolder(t);
      cpSync(tarballs, beside, { recursive: true });
      const fileOf = (name: string) => `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
      const ours = [...packages.values()].map(({ name }) => name);
      writeSbom(root, beside, new Map(ours.map((name) => [name, fileOf(name)])), version);
      const listOf = (form: string) => JSON.parse(readFileSync(join(beside, `xdskit-${version}.${form}.json`), "utf8"));
      const [cyclone, spdx] = [listOf("cdx"), listOf("spdx")];
      assert.deepEqual([cyclone.bomFormat, spdx.spdxVersion], ["CycloneDX", "SPDX-2.3"]);
      const parts: { name: string; hashes: object[]; licenses: object[] }[] = cyclone.components;
      // What they need, and what is built into the page.
      for (const name of [...ours, "jose", "preact"]) {
        assert.ok(
          parts.some((part) => part.name === name && part.hashes.length > 0 && part.licenses.length > 0),
          name,
        );
        assert.ok(
          spdx.packages.some((part: { name: string; checksums: object[] }) => part.name === name),
          name,
        );
      }
      assert.ok(!JSON.stringify([cyclone, spdx]).includes(tmpdir()), "a path of this machine");
    });
    await t.test("compile in the strictest TypeScript, as modules and as CommonJS", () => compileAll(folder));
    await t.test("compile by each entry point alone, without naming types", () => compileEach(folder));
    // The oldest one that is promised, and the newest of each line.
    for (const version of [20, 22, 24, 26]) {
      await t.test(`run on Node ${version}`, async (t) => {
        const node = peerOf(version);
        if (!isCi && !existsSync(node)) return t.skip(`needs ${node}: bash e2e/peers/install.sh`);
        runsAsModule(node, folder);
        runsAsCommonJs(node, folder);
        await hasAdmin(node, folder);
        await hasControlPlane(node, folder);
        await serves(node, folder);
      });
    }
  });
});
