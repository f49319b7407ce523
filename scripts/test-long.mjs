// `npm run test:long [EFFORT]`: the tests of which the suite runs only a little. Plays the random tests many times as
// long as the suite (50 times by default), looks for lost changes, and fuzzes. Run it before you call a larger piece of
// work done.
import { spawnSync } from "node:child_process";
import { longSteps } from "./testing/long-steps.mjs";

const steps = longSteps(process.argv[2] ?? "50");
const failed = [];
for (const [index, { what, args, env }] of steps.entries()) {
  console.log(`\n[${index + 1}/${steps.length}] ${what}: ${JSON.stringify(env)}`);
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) failed.push(what);
}
console.log(failed.length === 0 ? "\nAll of it held." : `\nFailed: ${failed.join("; ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
