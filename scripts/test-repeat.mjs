// `npm run test:repeat -- [--times N] [--load N] [PATH…]`: runs the tests again and again (20 times by default; the
// whole suite, or those below the paths) beside as many processes that compute (4 by default), and goes on after a
// failure. Its last lines say which tests failed, and how often.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: "string", default: "20" }, load: { type: "string", default: "4" } },
});
const [times, load] = [Number(values.times), Number(values.load)];
if (!(times > 0 && load >= 0)) throw new Error("npm run test:repeat -- --times N --load N: N is a number");

const folder = mkdtempSync(join(tmpdir(), "xdskit-repeat-"));
const failures = join(folder, "failures.json");
// They end with this process, however that ends: their standard input does.
const compute =
  "process.stdin.on('end', () => process.exit()).resume(); (function turn() { for (const end = Date.now() + 50; Date.now() < end; ); setImmediate(turn); })();";
const computing = Array.from({ length: load }, () =>
  spawn(process.execPath, ["-e", compute], { stdio: ["pipe", "ignore", "inherit"] }),
);
const counts = new Map();
let passed = 0;
for (let time = 1; time <= times; time += 1) {
  console.log(`\n[${time}/${times}] beside ${load} processes that compute`);
  rmSync(failures, { force: true });
  const args = [fileURLToPath(new URL("test.mjs", import.meta.url)), "--built", "--all", ...positionals];
  const env = { ...process.env, XDSKIT_TESTS_FAILURES: failures };
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env });
  if (status === 0) passed += 1;
  else for (const test of failed()) counts.set(test, (counts.get(test) ?? 0) + 1);
}
for (const one of computing) one.kill();
rmSync(folder, { recursive: true, force: true });
console.log(`\n${passed} of ${times} runs passed`);
for (const [test, count] of [...counts].sort(([, a], [, b]) => b - a))
  console.log(`failed in ${count} of ${times} runs: ${test}`);
process.exitCode = passed === times ? 0 : 1;

/** A test that failed twice in a run counts once. */
function failed() {
  try {
    return new Set(JSON.parse(readFileSync(failures, "utf8")));
  } catch {
    return ["the run itself, which ended without a result"];
  }
}
