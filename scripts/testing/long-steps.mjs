import { readFileSync } from "node:fs";
import { testFiles } from "./test-files.mjs";

const isRandom = (file) => /\b(effort|playSeeds)\b/.test(readFileSync(file, "utf8"));
const isLeftOut = (file) => /harness\/basics\/effort\.js/.test(readFileSync(file, "utf8"));
const source = ["--conditions=@xdskit/source", "--import", "tsx"];

/** What `npm run test:long` runs: arguments and environment of Node, from the root of the checkout. */
export const longSteps = (effort) => [
  {
    what: `random tests, ${effort} times what the suite plays`,
    // Fuzzing is a separate step below.
    args: ["scripts/test.mjs", ...testFiles("packages").filter(isRandom)],
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
