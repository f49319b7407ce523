import assert from "node:assert/strict";
import { chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { cachedDataVersionTag } from "node:v8";
import { start, within } from "../testing/command.js";
import { testFolder } from "../testing/folder.js";

const codeCache = new URL(`./code-cache${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url)
  .href;

const program = (said: string) => `exports.say = () => ${JSON.stringify(said)};\n`;

/** Runs a program that loads `said.cjs` with a cache, and gives what it printed and what it kept. */
async function scene() {
  const folder = await testFolder({
    "said.cjs": program("one"),
    "main.mjs": `
import { createRequire } from "node:module";
const { keepCompiledCode } = await import(${JSON.stringify(codeCache)});
keepCompiledCode(process.argv[2], (file) => file.endsWith("said.cjs"), process.argv[3]);
console.log(createRequire(import.meta.url)("./said.cjs").say());
`,
  });
  const cache = join(folder.path, "cache");
  const place = join(cache, `${process.version}-${process.arch}-${cachedDataVersionTag()}-say`);
  return {
    path: folder.path,
    cache,
    run: async (kept = cache, command = "say"): Promise<string> => {
      const args = [...process.execArgv, join(folder.path, "main.mjs"), kept, command];
      await using running = start(process.execPath, args);
      const { status, out, err } = await within(running.ended(), () => `it did not end\n${running.err()}`);
      assert.equal(status, 0, err);
      return out.trim();
    },
    /** Each file that is kept, and the number of the file system for it: a file that is written again has another. */
    kept: async (): Promise<readonly (readonly [path: string, written: bigint])[]> => {
      const paths = (await readdir(place)).map((name) => join(place, name)).sort();
      return await Promise.all(paths.map(async (path) => [path, (await stat(path, { bigint: true })).ino] as const));
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("the code that is kept", () => {
  it("is taken by the next process, which writes it no second time", async () => {
    await using s = await scene();
    assert.equal(await s.run(), "one");
    const first = await s.kept();
    assert.equal(first.length, 1);
    assert.equal((await stat(first[0]?.[0] ?? "")).mode & 0o077, 0);
    assert.equal(await s.run(), "one");
    assert.deepEqual(await s.kept(), first);
  });

  it("is not taken for another text, were it as long", async () => {
    await using s = await scene();
    assert.equal(await s.run(), "one");
    await writeFile(join(s.path, "said.cjs"), program("two"));
    assert.equal(await s.run(), "two");
    assert.equal((await s.kept()).length, 2);
  });

  for (const [damage, damaged] of [
    ["with other bytes", (bytes: Buffer) => bytes.fill(0, bytes.length >> 1)],
    ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    ["empty", () => Buffer.alloc(0)],
  ] as const) {
    it(`is written again where the file is ${damage}`, async () => {
      await using s = await scene();
      await s.run();
      const [[file] = [""]] = await s.kept();
      const whole = await readFile(file);
      await writeFile(file, damaged(Buffer.from(whole)));
      assert.equal(await s.run(), "one");
      assert.equal((await readFile(file)).length, whole.length);
    });
  }

  const skip = process.getuid?.() !== 0 && "only root can give a file away";
  it("is not taken from another user", { skip }, async () => {
    await using s = await scene();
    await s.run();
    const [[file] = [""]] = await s.kept();
    await chown(file, 12_345, 12_345);
    assert.equal(await s.run(), "one");
    assert.equal((await stat(file)).uid, 0);
  });

  it("is only that of files that are asked for", async () => {
    await using s = await scene();
    await mkdir(join(s.path, "other"));
    await writeFile(join(s.path, "other", "more.cjs"), program("more"));
    await writeFile(join(s.path, "said.cjs"), `exports.say = () => require("./other/more.cjs").say();`);
    assert.equal(await s.run(), "more");
    assert.deepEqual(
      (await s.kept()).map(([path]) => basename(path).startsWith("said.cjs")),
      [true],
    );
  });

  it("is another one for another command", async () => {
    await using s = await scene();
    await s.run(s.cache, "whisper");
    assert.equal(await s.run(), "one");
    assert.equal((await s.kept()).length, 1);
    assert.equal((await readdir(s.cache)).length, 2);
  });

  it("is missed where the folder cannot be written", async () => {
    await using s = await scene();
    assert.equal(await s.run(join(s.path, "said.cjs")), "one");
  });
});
