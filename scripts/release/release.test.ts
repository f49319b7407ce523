import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { packages, read, root } from "../packed/checkout.js";
import { readChangesets } from "./changesets.mjs";
import { refusals, sectionOf } from "./refusals.mjs";
import { nextVersion, writeVersion } from "./version.mjs";

/** What a release reads of this checkout, in a folder of its own, with these changesets. */
function checkout(t: TestContext, changesets: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-release-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const manifests = [...packages.keys()].map((name) => `packages/${name}/package.json`);
  const others = ["dashboard", "e2e", "bench"].map((name) => `${name}/package.json`);
  for (const path of [...manifests, ...others, "package.json", "package-lock.json", "CHANGELOG.md"]) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  mkdirSync(join(folder, ".changeset"));
  for (const [name, text] of Object.entries({ "README.md": "# Changesets\n", ...changesets }))
    writeFileSync(join(folder, ".changeset", name), text);
  return folder;
}

const fix = '---\n"xdskit": patch\n---\n`serve` waits.\n';
const addition = '---\n"@xdskit/server": minor\n"@xdskit/api": patch\n---\n\nThere is\nmore.\n';

describe("a release", () => {
  it("has the version of the greatest step", () => {
    const steps = ["patch", "minor", "major"].map((step) => nextVersion("1.2.3", step));
    assert.deepEqual(steps, ["1.2.4", "1.3.0", "2.0.0"]);
    assert.equal(nextVersion("2.0.0-rc.1", "minor"), "2.0.0");
  });

  it("writes its version everywhere, and what changed into the changelog", (t) => {
    const folder = checkout(t, { "fix.md": fix, "addition.md": addition });
    const { version: last } = JSON.parse(read("packages/xdskit/package.json"));
    const next = writeVersion(folder, "2030-01-02");
    assert.equal(next, nextVersion(last, "minor"));

    assert.equal(
      sectionOf(folder, next),
      `## ${next} (2030-01-02)\n\n### New\n\n- **@xdskit/server, @xdskit/api**: There is\n  more.\n\n### Fixed\n\n- **xdskit**: \`serve\` waits.\n\n`,
    );
    assert.match(sectionOf(folder, last) ?? "", /^## /);
    assert.deepEqual(readdirSync(join(folder, ".changeset")), ["README.md"]);
    // Only versions differ: no package asks for the last one of another, and the lock file fits.
    const names = [...packages.values()].map(({ name }) => name);
    for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!path.endsWith("package.json") || path === "package.json") continue;
      const now = readFileSync(join(folder, path), "utf8");
      const ours = names.some((name) => read(path).includes(`"${name}": "${last}"`)) || path.startsWith("packages/");
      assert.equal(now.replaceAll(`"${next}"`, `"${last}"`), read(path), path);
      assert.equal(now.includes(`"${next}"`), ours, path);
    }
    assert.equal(readFileSync(join(folder, "package-lock.json"), "utf8").includes(`"@xdskit/api": "${last}"`), false);
  });

  it("says which line of a changeset is wrong", (t) => {
    const wrong = (text: string) => () => readChangesets(checkout(t, { "wrong.md": text }));
    assert.throws(
      wrong('---\n"xdskit": patch\n"@xdskit/nope": patch\n---\nA\n'),
      /wrong\.md:3: there is no package "@xdskit\/nope"/,
    );
    assert.throws(wrong('---\n"xdskit": huge\n---\nA\n'), /wrong\.md:2: "huge" is none of patch, minor, major/);
    assert.throws(wrong("A\n"), /wrong\.md:1: names no package/);
    assert.throws(wrong('---\n"xdskit": patch\n---\n\n'), /wrong\.md: says nothing/);
    assert.throws(() => writeVersion(checkout(t, {}), "2030-01-02"), /nothing changed since the last release/);
  });

  it("is refused until everything is in order", (t) => {
    const folder = checkout(t, { "fix.md": fix });
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", ...args]);
    const commit = () => git("commit", "-qam", "Everything");
    const version = JSON.parse(read("packages/xdskit/package.json")).version;
    git("init", "-q");
    git("add", ".");
    assert.equal(refusals(folder, version, {}).length, 5);
    commit();
    const next = writeVersion(folder, "2030-01-02");
    commit();
    git("tag", `v${next}`);
    git("remote", "add", "origin", "git@example.org:somebody/else.git");
    const left = refusals(folder, next, { SIGSTORE_ID_TOKEN: "of CI" });
    assert.equal(left.length, 1);
    assert.match(left[0] ?? "", /that it is at example\.org\/somebody\/else: write the right address/);
    const { url } = JSON.parse(read("package.json")).repository;
    git("remote", "set-url", "origin", url.replace("git+https://", "git@").replace("/", ":"));
    assert.deepEqual(refusals(folder, next, { SIGSTORE_ID_TOKEN: "of CI" }), []);
    assert.ok(existsSync(join(folder, ".git")));
  });
});
