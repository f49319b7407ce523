/**
 * The time that more processes save when a change is written to all streams, without the clients' work: `xdsload` holds
 * the streams, and stands still (SIGSTOP) while the server writes a change into their sockets, so that the server has
 * both cores. Then it goes on, reads and acknowledges.
 *
 *   node bench/cores.mjs [STREAMS [ROUNDS [eds|cds]]]
 *
 * Needs `npm run build` and `go build` before (see run.sh). Prints a line for each number of processes. SERVER in the
 * environment is the program to measure instead of dist/main.js.
 *
 * `written`: milliseconds from the request of the change until the last of the server's threads that serve has come to
 * rest (read every 5 ms, which takes little of a core, from Linux' schedstat), the median of the rounds with the
 * extremes. `threads`: what those threads ran meanwhile. A round ends only when bytes wait in every client's socket, so
 * that nobody was left out. `acknowledged`: CPU of server and generator from then on until all have
 * acknowledged.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [streams = 2000, rounds = 20] = process.argv.slice(2, 4).map(Number);
const type = process.argv[4] ?? "eds";
/** Changes before those that count. */
const warmup = 10;
const variants = { eds: "delta", cds: "sotw" };
const here = new URL(".", import.meta.url).pathname;

/** Two free ports. */
async function ports() {
  const servers = [createServer(), createServer()];
  const found = [];
  for (const server of servers) {
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    found.push(server.address().port);
  }
  for (const server of servers) server.close();
  return found;
}

/** Milliseconds that each thread of some processes has run, by its id. */
function ranMs(...pids) {
  const ran = new Map();
  for (const [pid, task] of pids.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((task) => [pid, task]))) {
    try {
      ran.set(task, Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6);
    } catch {
      // It ended meanwhile.
    }
  }
  return ran;
}

const sum = (ran) => Array.from(ran.values()).reduce((total, ms) => total + ms, 0);
const sorted = (values) => values.toSorted((a, b) => a - b);
const round = (value) => Math.round(value * 10) / 10;
function figures(values) {
  const [least, middle, most] = [0, values.length >> 1, values.length - 1].map((at) => round(sorted(values)[at]));
  return `${middle} (${least}–${most})`;
}

/** The number of clients of a port, and of those for which bytes wait in the kernel. */
function clientsOf(port) {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  let [connected, holding] = [0, 0];
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)) {
    const [, , remote, state, queues] = line.trim().split(/\s+/);
    if (!remote?.endsWith(hex) || state !== "01") continue;
    connected += 1;
    if (Number.parseInt(queues.split(":")[1], 16) > 0) holding += 1;
  }
  return { connected, holding };
}

/**
 * Waits until this is true and nothing ran for this long, and returns the time at which something ran last. `isDone` is
 * asked only in quiet moments, since it takes time itself. Throws after 60 s.
 */
async function rest(pids, quietMs, everyMs, isDone = () => true) {
  let last = performance.now();
  let before = sum(ranMs(...pids));
  for (const end = last + 60_000; performance.now() < end; ) {
    await sleep(everyMs);
    const now = sum(ranMs(...pids));
    // An idle server's own timers take less than this.
    if (now - before > everyMs / 10) last = performance.now();
    else if (performance.now() - last >= quietMs && isDone()) return last;
    before = now;
  }
  throw new Error("nothing came to rest within a minute");
}

async function isReady(url) {
  for (let tries = 0; tries < 300; tries += 1) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(100);
  }
  throw new Error("the server is not ready after half a minute");
}

async function measure(workers) {
  const [grpc, control] = await ports();
  const started = [];
  const start = (command, args) => {
    const child = spawn(command, args, { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
    started.push(child);
    return child;
  };
  const ask = (path) => fetch(`http://127.0.0.1:${control}${path}`, { method: "POST" });
  try {
    const at = ["--control", `127.0.0.1:${control}`, "--grpc", `127.0.0.1:${grpc}`];
    const server = start(process.execPath, [
      "--expose-gc",
      process.env.SERVER ?? "dist/main.js",
      "--workers",
      String(workers),
      ...at,
    ]);
    await isReady(`http://127.0.0.1:${control}/stats`);
    // It makes no change within an hour: this program does.
    const own = [
      "-load",
      "clusters=100&endpoints=1&payload=1000",
      "-variant",
      variants[type],
      "-streams",
      String(streams),
      "-touch",
      `type=${type}&k=1`,
      "-light",
    ];
    const once = ["-warmup", "10", "-rounds", "2", "-every", "3600s", "-settle=false", "-timeout", "4000s"];
    const client = start("bin/xdsload", [
      "-addr",
      `127.0.0.1:${grpc}`,
      "-control",
      `http://127.0.0.1:${control}`,
      ...own,
      ...once,
    ]);
    const { pids } = await (await fetch(`http://127.0.0.1:${control}/stats`)).json();
    if (!pids.includes(server.pid)) pids.push(server.pid);
    await rest(pids, 2_000, 20, () => clientsOf(grpc).connected === streams);
    const [written, cpu, acknowledged, generator] = [[], [], [], []];
    let most = new Map();
    for (let turn = -warmup; turn < rounds; turn += 1) {
      await rest(pids, 200, 20);
      client.kill("SIGSTOP");
      await sleep(20);
      const before = ranMs(...pids);
      const began = performance.now();
      await ask(`/touch?type=${type}&k=1`);
      const took = (await rest(pids, 60, 5, () => clientsOf(grpc).holding === streams)) - began;
      const then = ranMs(...pids);
      const asleep = sum(ranMs(client.pid));
      client.kill("SIGCONT");
      await rest(pids, 200, 20);
      if (turn < 0) continue;
      written.push(took);
      cpu.push(sum(then) - sum(before));
      most = new Map(Array.from(then, ([task, ms]) => [task, (most.get(task) ?? 0) + ms - (before.get(task) ?? 0)]));
      acknowledged.push(sum(ranMs(...pids)) - sum(then));
      generator.push(sum(ranMs(client.pid)) - asleep);
    }
    const threads = sorted(Array.from(most.values(), (ms) => ms / rounds))
      .reverse()
      .slice(0, 4)
      .map(round);
    console.log(
      `${workers} ${workers === 1 ? "process" : "workers"}: written ${figures(written)} ms, CPU ${figures(cpu)} ms, threads ${threads.join(" + ")} ms; ` +
        `acknowledged for ${figures(acknowledged)} ms of CPU, the generator's own ${figures(generator)} ms`,
    );
  } finally {
    for (const child of started.reverse()) {
      child.kill("SIGCONT");
      child.kill("SIGKILL");
    }
  }
}

for (const workers of [1, 2, 1, 2]) await measure(workers);
