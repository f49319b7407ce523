import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { peer, root } from "./harness/basics/peers.js";

const command = join(root, "packages/xdskit/bin/xdskit.cjs");

/** A folder with `xdskit` for PATH, and the shell's script in a file. */
function scriptOf(shell: string, t: TestContext): { readonly folder: string; readonly script: string } {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-completion-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { stdout, stderr, status } = spawnSync(process.execPath, [command, "completion", shell], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const script = join(folder, `xdskit.${shell}`);
  writeFileSync(script, stdout);
  return { folder, script };
}

function run(shell: string, args: readonly string[], folder: string): string {
  const env = { ...process.env, HOME: folder, TERM: "dumb" };
  const { stdout, stderr, status } = spawnSync(shell, args, { encoding: "utf8", cwd: folder, env, timeout: 60_000 });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

/** What a user types, and what the shell must offer among other words, and must not. */
const cases: readonly { readonly line: string; readonly offers: readonly string[]; readonly not: readonly string[] }[] =
  [
    { line: "xdskit ro", offers: ["rollback", "rollout"], not: ["validate"] },
    { line: "xdskit apply --pr", offers: ["--prune"], not: ["--dry-run"] },
    { line: "xdskit history --output ", offers: ["json", "text"], not: ["--layer"] },
    { line: "xdskit rollout pro", offers: ["promote"], not: ["undo"] },
    { line: "xdskit get lis", offers: ["listener"], not: ["cluster"] },
    { line: "xdskit watch --type cl", offers: ["cluster"], not: ["listener"] },
    { line: "xdskit completion f", offers: ["fish"], not: ["bash"] },
  ];

function judge(line: string, offered: readonly string[]): void {
  const one = cases.find((each) => each.line === line) ?? assert.fail();
  for (const word of one.offers) assert.ok(offered.includes(word), `${line}: ${offered.join(" ")}`);
  for (const word of one.not) assert.ok(!offered.includes(word), `${line}: ${offered.join(" ")}`);
}

test("bash completes commands, options and their words, and files where a file is meant", (t) => {
  const { folder, script } = scriptOf("bash", t);
  const complete = (line: string) => {
    const words = line.split(" ");
    const ask = `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _xdskit; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run("bash", ["--norc", "-c", ask], folder).trim().split("\n");
  };
  for (const { line } of cases) judge(line, complete(line));
  assert.deepEqual(complete("xdskit apply --filename "), [""], "bash itself completes files");
});

test("zsh completes the same", (t) => {
  const zsh = peer("zsh", t);
  if (zsh === undefined) return;
  const { folder, script } = scriptOf("zsh", t);
  // A real terminal of zsh, in which what it offers is listed: the way of its own tests.
  const driver = join(folder, "driver.zsh");
  writeFileSync(
    driver,
    `zmodload zsh/zpty
zpty z ${zsh} -f -i
zpty -w z 'autoload -Uz compinit; compinit -D -u; source ${script}; PS1="> "; LISTMAX=10000; zstyle ":completion:*" list-grouped false'
zpty -w z 'bindkey "^I" list-choices; stty cols 300; echo be""gin'
local line
zpty -r -m z line '*begin*'
# With more keys waiting, zsh would not list anything.
zpty -w -n z "$1"$'\\t'
zpty -r -m z line "*$2*"
sleep 0.2
local more
zpty -r -t z more
print -r -- "$line$more"
`,
  );
  for (const { line, offers } of cases) {
    const shown = stripVTControlCharacters(run(zsh, ["-f", driver, line, offers.at(-1) ?? ""], folder));
    judge(line, shown.split(/\s+/));
  }
});

test("fish completes the same", (t) => {
  const fish = peer("fish", t);
  if (fish === undefined) return;
  const { folder, script } = scriptOf("fish", t);
  for (const { line } of cases) {
    const lines = run(fish, ["--no-config", "-c", `source ${script}; complete -C '${line}'`], folder).split("\n");
    judge(
      line,
      lines.map((each) => each.split("\t")[0] ?? ""),
    );
  }
});
