// Builds the program that `npm start` runs, and prints each step; if it was built already, it does and prints nothing.
// Nothing is type-checked here, and no package is compiled by itself: `npm run build` does both.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inputsOf, isBuilt, rememberBuild } from "./build-state.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const steps = [
  { what: "generate Envoy's messages", program: "packages/api/scripts/generate.mjs", options: [] },
  { what: "generate etcd's messages", program: "packages/store-etcd/scripts/generate.mjs", options: [] },
  { what: "build the dashboard", program: "node_modules/vite/bin/vite.js", options: ["build", "dashboard"] },
  { what: "bundle the command", program: "packages/xdskit/scripts/bundle.mjs", options: ["--from-sources"] },
];
const started = performance.now();
const seconds = () => `${Math.round((performance.now() - started) / 1000)} s`;

/** Standard output is the server's. */
const say = (text) => process.stderr.write(`${text}\n`);

/** Runs a program of the build to its end, and shows its output. */
async function run(program, options) {
  const child = spawn(process.execPath, [join(root, program), ...options], { cwd: root, stdio: ["ignore", 2, 2] });
  const [code, signal] = await new Promise((resolve) => child.on("close", (...ended) => resolve(ended)));
  if (code === 0) return;
  say(`The build failed${signal === null ? "" : ` (${signal})`}. Nothing was started.`);
  process.exit(code ?? 1);
}

const inputs = inputsOf(root);
if (!isBuilt(root, inputs)) {
  say("Building xdskit: the first time this takes half a minute or less.");
  for (const [index, { what, program, options }] of steps.entries()) {
    say(`  [${index + 1}/${steps.length}] ${what} (${seconds()})`);
    await run(program, options);
  }
  // A file that was changed meanwhile is another input: the next start builds again.
  rememberBuild(root, inputs);
  say(`Built in ${seconds()}. The next start does not build, unless something changes.`);
}
