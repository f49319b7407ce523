import { parseArgs } from "node:util";
import { runTarget } from "./kit/run-target.js";
import { createWatchdog } from "./kit/watchdog.js";
import { targets } from "./targets/index.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string" }, seed: { type: "string" }, path: { type: "string" } },
});
const known = targets.map(({ name }) => name);
const unknown = positionals.filter((name) => !known.includes(name));
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
if (unknown.length > 0 || !(seconds > 0) || !Number.isSafeInteger(seed)) {
  console.error(`usage: npm run fuzz -- [--seconds N] [--seed S] [--path P] [TARGET…]\ntargets: ${known.join(", ")}`);
  process.exit(2);
}

const chosen = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const watchdog = createWatchdog(120_000);
const refused: unknown[] = [];
process.on("unhandledRejection", (reason) => refused.push(reason));
let failed = false;
for (const target of chosen) {
  const runs = 1_000_000_000;
  const budgetMs = (seconds * 1_000) / chosen.length;
  const result = await runTarget(target, { seed, path: values.path, runs, budgetMs, watchdog });
  console.log(`${target.name}: ${result.runs} inputs in ${Math.round(result.ms / 1_000)} s, seed ${seed}`);
  for (const what of [result.failure, ...refused.splice(0).map((reason) => `unhandled rejection: ${String(reason)}`)]) {
    if (what === undefined) continue;
    failed = true;
    console.error(`FAILED ${target.name}\n${what}`);
  }
}
await watchdog.close();
process.exitCode = failed ? 1 : 0;
