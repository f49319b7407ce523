import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { metric } from "./harness/basics/metrics.js";
import { root } from "./harness/basics/peers.js";
import type { Process } from "./harness/basics/process.js";
import { createScene, type Scene } from "./harness/basics/scene.js";

const packageDir = join(root, "packages/xdskit");
const quickstart = join(root, "examples/quickstart/config");

/**
 * The package as it is when it is installed: the command's file, and a bundle beside modules that say that they were
 * loaded.
 */
async function installed(scene: Scene): Promise<string> {
  const folder = join(scene.directory, "xdskit");
  mkdirSync(join(folder, "dist"), { recursive: true });
  cpSync(join(packageDir, "bin"), join(folder, "bin"), { recursive: true });
  cpSync(join(packageDir, "package.json"), join(folder, "package.json"));
  writeFileSync(
    join(folder, "dist/index.js"),
    'export const main = () => { console.log("the modules"); return 0; };\n',
  );
  const { bundle } = (await import(join(packageDir, "scripts/bundle.mjs"))) as {
    bundle(folder: string): Promise<void>;
  };
  await bundle(join(folder, "dist/bundle"));
  return folder;
}

test("what npm start builds where nothing was built", async (t) => {
  const scene = await createScene(t);
  const clone = join(scene.directory, "clone");
  // The files as they are now, those that nobody committed yet too.
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", listed, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 }).split("\0");
  for (const file of files)
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(clone, file), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  const args = [join(clone, "scripts/build-for-start.mjs")];
  const build = scene.start({ name: "the build for npm start", command: process.execPath, args, cwd: clone });
  const { code } = await build.ended;
  assert.equal(code, 0, build.stderr.join("\n"));
  assert.ok(existsSync(join(clone, "packages/xdskit/dist/bundle/js/index.js")));
});

test("the bundle that is published", async (t) => {
  const scene = await createScene(t);
  const folder = await installed(scene);
  const loaded = join(scene.directory, "loaded.txt");
  const caches = join(scene.directory, "caches");
  const run = (...args: readonly string[]): Process =>
    scene.start({
      name: `xdskit ${args[0]}`,
      command: process.execPath,
      env: { ...(process.env as Record<string, string>), RECORDED_FILES: loaded, XDG_CACHE_HOME: caches },
      args: [
        ...["--import", join(packageDir, "src/testing/record-files.mjs")],
        ...[join(folder, "bin/xdskit.cjs"), ...args],
      ],
    });
  const printed = async (...args: readonly string[]): Promise<string> => {
    const process = run(...args);
    const { code } = await process.ended;
    assert.equal(code, 0, process.stderr.join("\n"));
    return process.stdout.join("\n");
  };

  await scene.step("consists of a few files, their data, and the licenses of their content", async () => {
    const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { version: string };
    assert.equal(await printed("--version"), version);
    const bundle = join(folder, "dist/bundle");
    for (const file of readdirSync(join(bundle, "js"))) {
      const text = readFileSync(join(bundle, "js", file), "utf8");
      // In memory it takes a byte for each character then, not two.
      assert.equal(Buffer.byteLength(text), text.length, `${file} has a character that is not ASCII`);
      for (const [, name = ""] of text.matchAll(/new URL\("([^"]+)", importMetaUrl\)/g)) {
        // The sources' own way to a thread, which compiled ones do not take.
        if (!name.endsWith(".ts")) statSync(join(bundle, "js", name));
      }
    }
    const licenses = readFileSync(join(bundle, "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["@bufbuild/protobuf", "@grpc/grpc-js", "commander", "prom-client", "re2js", "yaml", "zod"]) {
      assert.match(licenses, new RegExp(`^${name} \\d`, "m"));
    }
  });

  await scene.step("starts where no module was compiled, as after the first `npm start` of a checkout", async () => {
    const modules = join(folder, "dist/index.js");
    renameSync(modules, `${modules}.aside`);
    assert.match(await printed("--version"), /^\d/);
    renameSync(`${modules}.aside`, modules);
  });

  await scene.step("each command of the bundle does the same as from the modules", async () => {
    const settings = join(scene.directory, "settings.yaml");
    writeFileSync(settings, "limits:\n  streams: 1000\n");
    writeFileSync(loaded, "");
    const ports = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    const server = run("serve", quickstart, ...ports);
    await server.line(/^ready$/);
    // Each costs its opening: the modules that are in them are a thousand. A dozen is of the bundle.
    const opened = readFileSync(loaded, "utf8").match(/^file:/gm)?.length ?? 0;
    assert.ok(opened > 3 && opened < 30, `${opened} files`);
    await server.stop();
    // What it compiled is kept.
    assert.ok(readdirSync(join(caches, "xdskit/modules")).length > 0);

    const limited = run("serve", quickstart, "--settings", settings, ...ports);
    const [, grpc = ""] = await limited.line(/^grpc listening on (\S+)$/);
    const [, admin = ""] = await limited.line(/^admin listening on (\S+)$/);
    await limited.line(/^ready$/);
    assert.equal(await metric(admin, "xdskit_ready"), 1);
    const got = await printed("get", "--type", "cluster", "--server", grpc, "--output", "name");
    assert.equal(got, "cluster/one\ncluster/two");
    const relay = run("relay", "--server", grpc, ...ports);
    const [, relayed = ""] = await relay.line(/^grpc listening on (\S+)$/);
    await relay.line(/^ready$/);
    // Once it is ready it has what the origin has.
    assert.equal(await printed("get", "--type", "cluster", "--server", relayed, "--output", "name"), got);
    assert.match(await printed("status", "--all", "--server", grpc), /xdskit-relay/);
    assert.match(await printed("validate", quickstart), /valid/);
    await printed("plan", quickstart, quickstart);
    assert.match(await printed("bootstrap"), /^node:$/m);
  });

  await scene.step("is not used silently if something was compiled, generated or built after it", async () => {
    for (const path of [
      ...["api/tsconfig.tsbuildinfo", "api/gen/.stamp", "store-etcd/gen/.stamp"],
      "admin/dist/dashboard/index.html",
    ]) {
      const made = join(scene.directory, path);
      mkdirSync(dirname(made), { recursive: true });
      writeFileSync(made, "");
      utimesSync(made, 0, 0);
      assert.notEqual(await printed("--version"), "the modules");
      const later = Date.now() / 1_000 + 60;
      utimesSync(made, later, later);
      assert.equal(await printed("--version"), "the modules", path);
      const modules = join(folder, "dist/index.js");
      renameSync(modules, `${modules}.aside`);
      const alone = run("--version");
      assert.equal((await alone.ended).code, 0);
      assert.match(alone.stderr.join("\n"), /^xdskit: the bundle is older than .*npm run build$/);
      renameSync(`${modules}.aside`, modules);
      rmSync(made);
    }
  });
});
