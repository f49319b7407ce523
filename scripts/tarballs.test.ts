import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const packages = readdirSync(join(root, "packages"));
const isCi = !["", "0", "false", undefined].includes(process.env.CI);

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-tarballs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What npm tells the scripts that it runs would have it look at this checkout. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?:lifecycle|package|command|config_local)|^INIT_CWD|^NODE_TEST/.test(name),
  ),
);

/** TypeScript of pages that imports packages: the documented programs, and parts of programs. */
const programs = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith(".md"))
  .flatMap((path) => Array.from(read(path).matchAll(/^```ts\n(import [\s\S]*?)^```/gm), ([, text = ""]) => text));

/** The lines of a page's section that a reader types. */
function typed(path: string, heading: string): readonly string[] {
  const [, section = ""] = read(path).split(`\n${heading}\n`);
  const blocks = Array.from(
    (section.split("\n## ")[0] ?? "").matchAll(/^```sh\n([\s\S]*?)^```/gm),
    ([, text = ""]) => text,
  );
  return blocks.flatMap((text) => text.trim().split("\n"));
}

describe("packages that are packed", () => {
  it("have what the build makes, or are refused", (t) => {
    const folder = emptyFolder(t);
    for (const name of packages) {
      const { scripts } = JSON.parse(read(`packages/${name}/package.json`));
      const [, program = "", ...files] = scripts.prepack.split(" ");
      writeFileSync(join(folder, "package.json"), read(`packages/${name}/package.json`));
      const args = [join(root, "packages", name, program), ...files];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
      assert.equal(status, 1, name);
      assert.match(stderr, /^@?xds\S+ is not packed: there is no \S+; run npm run build first\n$/);
    }
  });

  it("install where nothing is, without their scripts, and run what the pages say", async (t) => {
    if (!isCi && !existsSync(join(root, "packages/xdskit/dist/bundle"))) return t.skip("needs npm run build");
    const [tarballs, folder] = [join(emptyFolder(t), "tarballs"), emptyFolder(t)];
    execFileSync(process.execPath, ["scripts/tarballs.mjs", tarballs], { cwd: root, env, stdio: "inherit" });
    assert.equal(readdirSync(tarballs).length, packages.length);

    const lines = typed("docs/library.md", "## Install");
    assert.deepEqual(lines.slice(0, 2), ["npm ci && npm run tarballs", "cd YOUR_PROGRAM"]);
    assert.match(lines[2] ?? "", /^npm install --ignore-scripts CLONE\/\.cache\/tarballs\/\*\.tgz /);
    const overrides = pinned(["@bufbuild/protobuf", "@types/node"]);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true, overrides }));
    const quiet = "--no-audit --no-fund --prefer-offline @types/node@20";
    const install = `${lines[2]?.replace("CLONE/.cache/tarballs", tarballs)} ${quiet}`;
    const installed = spawnSync(install, { cwd: folder, env, shell: true, encoding: "utf8" });
    if (!isCi && /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH/.test(installed.stderr))
      return t.skip("needs a registry");
    assert.equal(installed.status, 0, installed.stderr);

    compile(folder);
    await runs(folder);
    await serves(folder);
  });
});

/**
 * The versions that the checkout has of what packages need, as long as there is one: other people's releases break no
 * test. npm allows none for what a program asks for itself.
 */
function pinned(asked: readonly string[]): Record<string, string> {
  const { packages: all } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { version: string; link?: boolean; dev?: boolean }>;
  };
  const versions = new Map<string, string[]>();
  for (const [path, { version, link, dev }] of Object.entries(all)) {
    const [, name] = /^.*node_modules\/(.*)$/.exec(path) ?? [];
    if (name === undefined || link || dev || asked.includes(name)) continue;
    versions.set(name, [...(versions.get(name) ?? []), version]);
  }
  const single = [...versions].filter(([, of]) => of.length === 1);
  return Object.fromEntries(single.map(([name, [version = ""]]) => [name, version]));
}

/** Everything that is published, and the programs of the pages. */
function compile(folder: string): void {
  const entries = packages.flatMap((name) => {
    const { name: full, exports } = JSON.parse(read(`packages/${name}/package.json`));
    return Object.keys(exports)
      .filter((entry) => !/[*]|\.json$/.test(entry))
      .map((entry) => full + entry.slice(1));
  });
  writeFileSync(
    join(folder, "everything.ts"),
    entries.map((entry, at) => `export * as e${at} from "${entry}";\n`).join(""),
  );
  for (const [index, text] of programs.entries()) writeFileSync(join(folder, `page-${index}.ts`), text);
  writeFileSync(join(folder, "example.ts"), read("examples/library/main.ts"));
  // What the pages leave to the reader's program.
  const theirs = ["clusterFromDatabase", "hostFromDatabase"];
  writeFileSync(
    join(folder, "theirs.d.ts"),
    theirs.map((name) => `declare const ${name}: (...given: any[]) => any;`).join(""),
  );
  const strictest = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
  for (const [module, moduleResolution, compiler] of [
    ["nodenext", "nodenext", "typescript"],
    ["esnext", "bundler", "typescript-native"],
  ]) {
    const compilerOptions = { ...strictest, module, moduleResolution, target: "es2022", types: ["node"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const tsc = join(root, `node_modules/${compiler}/bin/tsc`);
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    assert.equal(status, 0, `${moduleResolution}: ${stdout}`);
  }
}

/** The first program of the page, until it serves. */
async function runs(folder: string): Promise<void> {
  const [, text = ""] = /^```ts\n([\s\S]*?)^```/m.exec(read("docs/library.md")) ?? [];
  assert.match(text, /server\.listen\(\{ grpc: "127\.0\.0\.1:18000" \}\);\n$/);
  const program = `${text.replace(":18000", ":0")}console.log("serves");\nawait server.close();\n`;
  writeFileSync(join(folder, "first.mjs"), program);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["first.mjs"], { cwd: folder, encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, "serves\n"], stderr);
}

/** The command, with its state. */
async function serves(folder: string): Promise<void> {
  const config = join(folder, "config");
  mkdirSync(config);
  const options = [
    "--grpc",
    "127.0.0.1:0",
    "--admin",
    "127.0.0.1:0",
    "--state",
    join(folder, "state"),
    "--allow-empty",
  ];
  const child = spawn(join(folder, "node_modules/.bin/xdskit"), ["serve", config, ...options], {
    ...{ env, stdio: ["ignore", "pipe", "pipe"] },
  });
  let said = "";
  const ended = once(child, "close");
  child.stderr.on("data", (text: Buffer) => {
    said += text;
  });
  child.stdout.on("data", (text: Buffer) => {
    said += text;
    if (/^ready$/m.test(said)) child.kill("SIGTERM");
  });
  assert.deepEqual(await ended, [0, null], said);
  assert.match(said, /^ready$/m);
  assert.doesNotMatch(said, /without (?:a )?state|cannot be opened/);
}
