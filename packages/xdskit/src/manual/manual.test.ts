import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { commands } from "../commands.js";
import { programFor } from "../main.js";
import { manual } from "./manual.js";

const nowhere = { out() {}, err() {} };
const programOf = (name: string | undefined) => programFor(name === undefined ? [] : [name], nowhere, () => {});
const pages = await manual(commands, programOf, "1.2.3");
const { man } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { man: string[] };

/** What a page says, without its macros. */
const plainOf = (page: string) =>
  page
    .replaceAll(/^\.(?:B|TP|PP|nf|fi) ?/gm, "")
    .replaceAll("\\-", "-")
    .replaceAll(/\\\[u([0-9A-F]+)\]/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll("\\&", "")
    .replaceAll("\\e", "\\");

describe("the manual", () => {
  it("has a page for the program and for each command, and package.json names them", () => {
    const files = [...pages.keys()].map((file) => `./dist/man/${file}`);
    assert.deepEqual(files, ["./dist/man/xdskit.1", ...commands.map(({ name }) => `./dist/man/xdskit-${name}.1`)]);
    assert.deepEqual(man, files, "package.json: man");
  });

  for (const [file, page] of pages) {
    it(`${file} says what the help says, in the order of a page`, async () => {
      const sections = [...page.matchAll(/^\.SH (.*)$/gm)].map(([, name]) => name);
      assert.deepEqual(sections.slice(0, 3), ["NAME", "SYNOPSIS", "DESCRIPTION"]);
      assert.equal(sections.at(-1), "SEE ALSO");
      assert.equal(new Set(sections).size, sections.length, String(sections));
      const name = /^xdskit-(.*)\.1$/.exec(file)?.[1];
      const program = await programOf(name);
      const command = program.commands.find((one) => one.name() === name) ?? program;
      const plain = plainOf(page);
      for (const { flags, description, hidden } of command.options) {
        if (hidden) continue;
        assert.ok(plain.includes(`\n${flags}\n`), flags);
        for (const line of description.split("\n")) assert.ok(plain.includes(line.trim()), line);
      }
      // A line that begins with a dot or a quote is a request of troff.
      const requests = [...page.matchAll(/^([.'].*)$/gm)].map(([, line = ""]) => line);
      for (const line of requests) assert.match(line, /^\.(?:TH|SH|TP|PP|B|BR|nf|fi)\b/);
    });
  }

  it("is read by groff without a warning", (t) => {
    if (spawnSync("groff", ["--version"]).status !== 0) return t.skip("needs groff");
    for (const [file, page] of pages) {
      const args = ["-man", "-Tutf8", "-ww", "-rLL=80n", "-P-bou"];
      const { status, stderr, stdout } = spawnSync("groff", args, { input: page, encoding: "utf8" });
      assert.deepEqual([status, stderr], [0, ""], file);
      assert.match(stdout, /^SYNOPSIS$/m);
      const wide = stdout.split("\n").filter((line) => line.length > 80);
      assert.deepEqual(wide, [], file);
    }
  });
});
