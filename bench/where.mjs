// node where.mjs [--dir CHECKOUT] [--after SECONDS] [--top N] -- XDSLOAD-ARGUMENTS…: the functions in which the bench
// server of a checkout spends its processor time while `bin/xdsload` runs with these arguments, from some seconds after
// its start. What V8 and the kernel do counts for the JavaScript function that asked for it, and the slow functions of
// V8 are listed with their callers. V8's own profiler shows none of that, and keeps the server busy, so that the
// generator never finds it idle. For a reconnect: node where.mjs --after 4 -- -variant delta -streams 1000 -churn 12
// -rounds 1 -load 'clusters=1000&endpoints=2'. Linux only; needs `perf`, a build, and `bin/xdsload` (`run.sh`).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { freePorts, started } from "./scale/processes.mjs";

const hertz = 4_000;
const maxMs = 120_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    after: { type: "string", default: "2" },
    top: { type: "string", default: "25" },
  },
});
const checkout = resolve(values.dir);
const folder = mkdtempSync(join(tmpdir(), "xdskit-where-"));
const data = join(folder, "perf.data");
const [control, grpc] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
const program = join(checkout, "bench/dist/main.js");
// So that `perf` knows functions by name, those that V8 has not compiled too.
const named = ["--perf-basic-prof", "--interpreted-frames-native-stack"];
const server = await started(
  process.execPath,
  ["--expose-gc", ...named, program, "--control", control, "--grpc", grpc],
  "",
);
try {
  const sampling = ["-q", "-e", "cpu-clock", "-F", `${hertz}`, "-g", "-D", `${Number(values.after) * 1_000}`];
  const recorder = run("perf", ["record", ...sampling, "-o", data, "-p", `${server.pid}`], "ignore");
  const generator = fileURLToPath(new URL("bin/xdsload", import.meta.url));
  const load = run(generator, [...positionals, "-control", `http://${control}`, "-addr", grpc], "inherit");
  await load.ended;
  recorder.child.kill("SIGINT");
  await recorder.ended;
  const reader = run("perf", ["script", "-i", data, "-F", "tid,ip,sym,dso"], "pipe");
  const costs = await read(createInterface({ input: reader.child.stdout }));
  for (const [title, counts] of Object.entries(costs)) print(title, counts);
} finally {
  await server.stop("SIGKILL");
  rmSync(folder, { recursive: true });
  rmSync(`/tmp/perf-${server.pid}.map`, { force: true });
}

function run(command, args, stdout) {
  const child = spawn(command, args, { stdio: ["ignore", stdout, "ignore"], timeout: maxMs, killSignal: "SIGKILL" });
  return { child, ended: once(child, "exit") };
}

/** Counts the samples by thread, by function, by system call and by slow function of V8. */
async function read(lines) {
  const costs = { "all threads": {}, "JavaScript functions": {}, "system calls": {}, "slow functions of V8": {} };
  const [threads, functions, calls, slow] = Object.values(costs);
  let thread;
  let frames = [];
  for await (const line of lines) {
    if (line.startsWith("\t")) frames.push(line.trim().replace(/^\S+ /, ""));
    else if (line !== "") thread = Number.parseInt(line, 10);
    else if (frames.length > 0) {
      count();
      frames = [];
    }
  }
  return costs;

  function count() {
    const stack = frames.join("\n");
    const isCollection = /v8::internal::(Heap::|Scaveng|MarkCompact|IncrementalMark|.*Sweep)/.test(stack);
    const what = isCollection ? "garbage collection" : /compiler::|Compilation/.test(stack) ? "compiling" : "the rest";
    add(threads, `${thread === server.pid ? "main thread" : "others"}: ${what}`);
    if (thread !== server.pid || isCollection) return;
    const call = /__x64_sys_(\w+)/.exec(stack)?.[1];
    if (call !== undefined) add(calls, call);
    const at = frames.findIndex((frame) => frame.startsWith("JS:"));
    const caller = at < 0 ? "none: libuv, Node" : nameOf(frames[at]);
    add(functions, caller);
    const asked = frames.slice(0, Math.max(at, 0)).findLast((frame) => /^v8::internal::Runtime_/.test(frame));
    if (asked !== undefined) add(slow, `${/Runtime_\w+/.exec(asked)?.[0]} for ${caller}`);
  }
}

/** The function's name, its file and line, from `JS:*name file:///…:line:column (map)`. */
function nameOf(frame) {
  return frame
    .replace(/ \(\S*\)$/, "")
    .replace(/^JS:[*^~+]?/, "")
    .replace(`file://${checkout}/`, "")
    .replace(/:\d+$/, "");
}

function add(counts, key) {
  counts[key] = (counts[key] ?? 0) + 1;
}

function print(title, counts) {
  console.log(`\n${title}, ms`);
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  for (const [name, samples] of sorted.slice(0, Number(values.top)))
    console.log(`${((samples * 1_000) / hertz).toFixed(0).padStart(7)}  ${name}`);
}
