// Asks xdskit and a real Envoy about each resource of the corpus, and prints where they disagree: see CONTRIBUTING.md.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAuthority } from "../../../packages/api/src/testing/certificates.js";
import { corpus } from "../../../packages/api/src/testing/corpus/index.js";
import { mutated } from "../../../packages/api/src/testing/mutations/mutated.js";
import { findPeer } from "../harness/basics/peers.js";
import { isHidden, type Rewritten, rewrittenIn, shown } from "./dump.js";
import { startEnvoyJudge } from "./envoy-judge.js";
import { accountOf, listOf, oneLine, readExplanations, tableOf } from "./explanations.js";
import { type Judged, judgeAll } from "./judged.js";
import { judgeMutants } from "./judged-mutants.js";

const { values } = parseArgs({
  options: { only: { type: "string" }, out: { type: "string" }, mutants: { type: "string" }, list: { type: "string" } },
});
const envoy = findPeer("envoy");
if (envoy === undefined) throw new Error("envoy is not installed: run e2e/peers/install.sh");

const folder = await mkdtemp(join(tmpdir(), "xdskit-corpus-files-"));
const { certificate, key } = createAuthority("corpus").issue("example.org");
const all = corpus({ certificate, key, folder });
const cases = all.filter(({ name }) => values.only === undefined || new RegExp(values.only).test(name));
const explanations = [
  ...readExplanations(),
  ...(values.mutants === undefined ? [] : readExplanations("explained-mutants")),
];
const judge = await startEnvoyJudge(envoy);
const print = async (judged: readonly Judged<{ readonly name: string }>[]): Promise<void> => {
  const account = accountOf(judged, explanations);
  console.log(tableOf(account));
  if (values.list !== undefined)
    await writeFile(
      values.list,
      listOf(account)
        .map((line) => `${line}\n`)
        .join(""),
    );
  if (values.out !== undefined) await writeFile(values.out, judged.map((each) => `${oneLine(each)}\n`).join(""));
};
/** The resources of the corpus, each as it is. */
async function judgeCorpus(): Promise<void> {
  const rewritten: Rewritten[] = [];
  const compare = async (taken: Parameters<typeof rewrittenIn>[0], admin: string): Promise<void> => {
    rewritten.push(...(await rewrittenIn(taken, admin)));
  };
  const judged = await judgeAll(cases, judge, compare);
  const wrapped = judged.flatMap(({ of, envoys }, index) =>
    of.breaks === undefined && envoys.is === "taken" ? (shown(of, index) ?? []) : [],
  );
  await judgeAll(wrapped, judge, compare);
  await print(judged);
  for (const { path, of, sent, given } of rewritten.filter((each) => !isHidden(each)))
    console.log(`Envoy gives back ${path} as ${given}, not ${sent} (${of.name})`);
}

try {
  const { mutants } = values;
  if (mutants === undefined) await judgeCorpus();
  else await print(await judgeMutants(mutated(Number(mutants), { certificate, key, folder }), judge));
} finally {
  await judge.close();
  await rm(folder, { recursive: true, force: true });
}
