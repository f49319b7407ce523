// Builds, and lints meanwhile, before the tests of `npm test`. Says what it does, and shows the output of what
// fails.
import { spawn } from "node:child_process";

const started = performance.now();
const say = (text) => console.log(`[${((performance.now() - started) / 1000).toFixed(1)} s] ${text}`);

/** Runs a script of package.json, and resolves to whether it succeeded. */
async function run(script) {
  const child = spawn("npm", ["run", "--silent", script], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const code = await new Promise((resolve) => child.on("error", resolve).on("close", resolve));
  say(code === 0 ? `${script}: done` : `${script}: failed\n${output}`);
  return code === 0;
}

say("Building and linting, about a minute on two cores");
const results = await Promise.all(["build", "lint"].map(run));
process.exit(results.every(Boolean) ? 0 : 1);
