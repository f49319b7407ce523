// `npm run soak -- --minutes 60`: servers of one etcd, and members of that etcd, fail again and again while routes move
// twice a second under traffic. The last lines count faults, writes, requests and failed requests. `SEED=7` plays the
// order of a run before.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error("npm run soak -- --minutes N: N is a number above 0");
const { status } = spawnSync(process.execPath, ["scripts/test.mjs", "e2e/src/replicas-soak.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, CI: "true", EFFORT: process.env.EFFORT ?? "50", SOAK_MINUTES: `${minutes}` },
});
process.exitCode = status ?? 1;
