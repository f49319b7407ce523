// `npm run test:long [EFFORT]`: the tests of which the suite runs only a little. Plays the random tests many times as
// long as the suite (50 times by default), looks for lost changes, and fuzzes. Run it before you call a larger piece of
// work done.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { testFiles } from "./testing/test-files.mjs";

const effort = process.argv[2] ?? "50";
const isRandom = (file) => /\b(effort|playSeeds)\b/.test(readFileSync(file, "utf8"));
const isLeftOut = (file) => /harness\/effort\.js/.test(readFileSync(file, "utf8"));
// Fuzzing is a separate step below.
const random = testFiles("packages").filter(isRandom);
const source = ["--conditions=@xdskit/source", "--import", "tsx"];
const steps = [
  {
    what: `random tests, ${effort} times what the suite plays`,
    args: ["scripts/test.mjs", ...random],
    env: { EFFORT: effort },
  },
  {
    what: "the whole corpus, through every form",
    args: ["scripts/test.mjs", "packages/api/src/unknown/corpus-forms.test.ts"],
    env: { EACH: "1" },
  },
  {
    what: "end-to-end tests of which the suite leaves something out: links that go down, a rolling upgrade, variants",
    args: ["scripts/test.mjs", ...testFiles("e2e").filter(isLeftOut)],
    env: { EFFORT: "10", CI: "true" },
  },
  {
    what: "ten minutes in which servers and members of etcd fail, in random order, with 300 nodes",
    args: ["scripts/soak.mjs", "--minutes", "10"],
    env: {},
  },
  {
    what: "ten minutes of fuzzing",
    args: ["--expose-gc", ...source, "fuzz/src/main.ts", "--seconds", "600"],
    env: {},
  },
];

const failed = [];
for (const [index, { what, args, env }] of steps.entries()) {
  console.log(`\n[${index + 1}/${steps.length}] ${what}: ${JSON.stringify(env)}`);
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) failed.push(what);
}
console.log(failed.length === 0 ? "\nAll of it held." : `\nFailed: ${failed.join("; ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
