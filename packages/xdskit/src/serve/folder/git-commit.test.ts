import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { testFolder } from "../../testing/folder.js";
import { gitCommit } from "./git-commit.js";

const skip = spawnSync("git", ["--version"]).error === undefined ? false : "there is no git";

describe("the git commit of a folder", { skip }, () => {
  const git = (path: string, ...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd: path,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();

  it("is that of the work tree around it, with +dirty if the folder has something else", async () => {
    await using folder = await testFolder({ "config/a.yaml": "a\n", "other/b.yaml": "b\n" });
    const config = join(folder.path, "config");
    assert.equal(await gitCommit(config), undefined);
    git(folder.path, "init", "-q");
    assert.equal(await gitCommit(config), undefined);
    git(folder.path, "add", ".");
    git(folder.path, "commit", "-qm", "first");
    const first = git(folder.path, "rev-parse", "HEAD");
    assert.equal(await gitCommit(config), first);
    await folder.write("other/b.yaml", "changed\n");
    assert.equal(await gitCommit(config), first);
    await folder.write("config/a.yaml", "changed\n");
    assert.equal(await gitCommit(config), `${first}+dirty`);
    git(folder.path, "add", "config/a.yaml");
    assert.equal(await gitCommit(config), `${first}+dirty`);
    git(folder.path, "commit", "-qm", "second");
    assert.equal(await gitCommit(config), git(folder.path, "rev-parse", "HEAD"));
    await folder.write("config/new.yaml", "new\n");
    assert.match((await gitCommit(config)) ?? "", /^[0-9a-f]{40}\+dirty$/);
  });

  it("is found in a further work tree", async () => {
    await using folder = await testFolder({ "main/a.yaml": "a\n" });
    const main = join(folder.path, "main");
    git(main, "init", "-q");
    git(main, "add", ".");
    git(main, "commit", "-qm", "first");
    git(main, "worktree", "add", "-q", "--detach", "../w");
    assert.equal(await gitCommit(join(folder.path, "w")), git(main, "rev-parse", "HEAD"));
  });

  it("is none where git cannot tell", async () => {
    await using folder = await testFolder();
    mkdirSync(join(folder.path, ".git"));
    assert.equal(await gitCommit(folder.path), undefined);
    assert.equal(await gitCommit(join(folder.path, "gone")), undefined);
  });
});
