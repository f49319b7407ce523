// Builds what `npm start` runs, and says what it does; where that was built already, it does and says nothing. `npm run build` builds everything.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inputsOf, isBuilt, rememberBuild } from "./build-state.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packages = ["api", "protocol", "server", "client", "xdskit"];
const steps = packages.length + 2;
const started = performance.now();
const seconds = () => `${Math.round((performance.now() - started) / 1000)} s`;
let step = 0;

/** Standard output is the server's. */
const say = (text) => process.stderr.write(`${text}\n`);

function begin(what) {
  step += 1;
  say(`  [${step}/${steps}] ${what} (${seconds()})`);
}

/** Runs a program of the build to its end; its lines go to `line`. */
async function run(file, args, line = say) {
  const child = spawn(process.execPath, [file, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on("line", line);
  const [code, signal] = await new Promise((resolve) => child.on("close", (...ended) => resolve(ended)));
  if (code === 0) return;
  say(`The build failed${signal === null ? "" : ` (${signal})`}. Nothing was started.`);
  process.exit(code ?? 1);
}

/** Of what the compiler says of its progress, people are told which package it compiles. Errors are shown as they are. */
function compilerLine(line) {
  const building = /Building project '.*\/packages\/(\w+)\/tsconfig\.json'/.exec(line);
  if (building !== null) begin(`compile packages/${building[1]}`);
  else if (/error TS|^\S.*\(\d+,\d+\)/.test(line)) say(line);
}

const inputs = inputsOf(root);
if (!isBuilt(root, inputs)) {
  say("Building xdskit: the first time this takes a minute or two.");
  begin("generate Envoy's messages");
  await run(join(root, "packages/api/scripts/generate.mjs"), []);
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  await run(tsc, ["-b", "--verbose", "packages/xdskit"], compilerLine);
  step = steps - 1;
  begin("bundle the command");
  await run(join(root, "packages/xdskit/scripts/bundle.mjs"), []);
  // What was changed meanwhile is another input: the next start builds again.
  rememberBuild(root, inputs);
  say(`Built in ${seconds()}. The next start does not build, unless something changes.`);
}
