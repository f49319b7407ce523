import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { leftOut, runLater } from "./left-out.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");

/** The files that a run with these arguments, or variables, would run. */
function listed(...given: readonly string[]): readonly string[] {
  const variables = given.filter((each) => each.includes("=")).map((each) => each.split("="));
  const args = given.filter((each) => !each.includes("="));
  const env = { ...process.env, CI: "", ...Object.fromEntries(variables) };
  const said = execFileSync(process.execPath, ["scripts/test.mjs", "--list", ...args], { cwd: root, env });
  return said.toString().trim().split("\n");
}

describe("the list of test files that plain npm test leaves out", () => {
  it("names files that exist, and says of each what it looks at", () => {
    for (const [file, what] of leftOut) {
      assert.ok(existsSync(`${root}${file}`), file);
      assert.match(what, /\w+ \w+/, file);
    }
  });

  it("leaves each rule of the protocol a test: a transcript, or a file that always runs", () => {
    const folder = "packages/protocol/rules";
    const points = readdirSync(`${root}${folder}`).flatMap((name) => read(`${folder}/${name}`).split(/\n\s*\n/));
    const named = points.map((point) => Array.from(point.matchAll(/^by ([^:\s]+):/gm), ([, file]) => file ?? ""));
    assert.ok(named.flat().length > 50);
    for (const [index, files] of named.entries()) {
      const left = files.filter((file) => leftOut.has(file) || leftOut.has(`packages/${file}`));
      assert.ok(left.length === 0 || left.length < files.length, points[index]);
    }
  });

  it("is left out by a run that names no files, unless CI or --all asks for everything", () => {
    const [everything, usual] = [listed("--all"), listed()];
    assert.deepEqual(
      everything.filter((file) => !usual.includes(file)),
      [...leftOut.keys()],
    );
    assert.deepEqual(listed("--all", "CI=true"), everything);
    const [first = ""] = leftOut.keys();
    assert.deepEqual(listed(first), [first]);
  });

  it("is no part of what needs an API server of Kubernetes, or SPIRE, which have commands of their own", () => {
    const inCi = new Set(listed("CI=true"));
    const later = listed("--all").filter((file) => !inCi.has(file));
    assert.deepEqual(later, [...runLater]);
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
    const own = ["test:kubernetes", "test:spire"].map((name) => scripts[name] ?? assert.fail(name)).join(" ");
    for (const file of later) assert.ok(own.includes(file), file);
    assert.match(read(".ci/run"), /^ *npm run -s test:kubernetes$/m);
  });
});
