// `npm run soak -- --minutes 60`: servers of one etcd, and members of that etcd, fail again and again while routes move
// twice a second under traffic and rollouts go on. The last lines count faults, writes, requests and failed requests.
// `SEED=7` plays the order of a run before. `--logs DIR` keeps all that the programs print, a file for each.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" }, logs: { type: "string" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error("npm run soak -- --minutes N: N is a number above 0");
const logs = values.logs === undefined ? undefined : resolve(values.logs);
if (logs !== undefined) mkdirSync(logs, { recursive: true });
const state = mkdtempSync(join(tmpdir(), "xdskit-soak-"));
// Not by `test.mjs`, which gives a file ten minutes.
const args = ["--conditions=@xdskit/source", "--import", "tsx", "e2e/src/replicas-soak.test.ts"];
const { status } = spawnSync(process.execPath, args, {
  stdio: "inherit",
  env: {
    ...process.env,
    ...(logs === undefined ? {} : { TEST_LOGS: logs }),
    CI: "true",
    SOAK_MINUTES: `${minutes}`,
    XDG_STATE_HOME: state,
  },
});
rmSync(state, { recursive: true, force: true });
process.exitCode = status ?? 1;
