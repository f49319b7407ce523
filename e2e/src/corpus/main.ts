// Asks xdskit and a real Envoy about each resource of the corpus, and prints where they disagree: see CONTRIBUTING.md.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAuthority } from "../../../packages/api/src/testing/certificates.js";
import { corpus } from "../../../packages/api/src/testing/corpus/index.js";
import { findPeer } from "../harness/peers.js";
import { isHidden, type Rewritten, rewrittenIn, shown } from "./dump.js";
import { startEnvoyJudge } from "./envoy-judge.js";
import { accountOf, oneLine, readExplanations, tableOf } from "./explanations.js";
import { judgeAll } from "./judged.js";

const { values } = parseArgs({ options: { only: { type: "string" }, out: { type: "string" } } });
const envoy = findPeer("envoy");
if (envoy === undefined) throw new Error("envoy is not installed: run e2e/peers/install.sh");

const folder = await mkdtemp(join(tmpdir(), "xdskit-corpus-files-"));
const { certificate, key } = createAuthority("corpus").issue("example.org");
const all = corpus({ certificate, key, folder });
const cases = all.filter(({ name }) => values.only === undefined || new RegExp(values.only).test(name));
const explanations = readExplanations();
const judge = await startEnvoyJudge(envoy);
try {
  const rewritten: Rewritten[] = [];
  const compare = async (taken: Parameters<typeof rewrittenIn>[0], admin: string): Promise<void> => {
    rewritten.push(...(await rewrittenIn(taken, admin)));
  };
  const judged = await judgeAll(cases, judge, compare);
  const wrapped = judged.flatMap(({ of, envoys }, index) =>
    of.breaks === undefined && envoys.is === "taken" ? (shown(of, index) ?? []) : [],
  );
  await judgeAll(wrapped, judge, compare);
  console.log(tableOf(accountOf(judged, explanations)));
  for (const { path, of, sent, given } of rewritten.filter((each) => !isHidden(each)))
    console.log(`Envoy gives back ${path} as ${given}, not ${sent} (${of.name})`);
  if (values.out !== undefined) await writeFile(values.out, judged.map((each) => `${oneLine(each)}\n`).join(""));
} finally {
  await judge.close();
  await rm(folder, { recursive: true, force: true });
}
