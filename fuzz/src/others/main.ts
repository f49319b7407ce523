import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { attacks } from "./attacks.js";
import { fleet, fleetSynced, largeConfig, pagesAttack } from "./pages.js";
import { openPinger, pingApi } from "./pinger.js";

/*
 * How long do others wait while one attacks? For each attack a server of its own (the built command), a client of it
 * that asks again and again, over gRPC and the API, and an attacker, each in a process of its own. Needs Linux, for
 * the server's memory.
 */
const chosen = process.argv.slice(2);
const known = [...Object.keys(attacks), pagesAttack];
if (chosen.some((name) => !known.includes(name))) {
  console.error(`usage: npm run fuzz:others -- [ATTACK…]\nattacks: ${known.join("; ")}`);
  process.exit(2);
}
/** An attack that is not answered by then has failed. */
const patienceMs = 180_000;
const xdskit = fileURLToPath(new URL("../../../packages/xdskit/bin/xdskit.cjs", import.meta.url));
const attacker = fileURLToPath(new URL("attacker.ts", import.meta.url));

console.log(
  "| attack | answer | after | others wait, median | p99 | longest | API, p99 | longest | the server's memory |",
);
console.log("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const name of ["nothing", ...(chosen.length > 0 ? chosen : known)]) await play(name);

async function play(name: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-others-"));
  const children: ChildProcess[] = [];
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    children.push(child);
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  };
  try {
    const [folder, state] = [join(directory, "config"), join(directory, "state")];
    mkdirSync(folder);
    const cluster = {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name: "a",
      connect_timeout: "1s",
    };
    const isLarge = name === pagesAttack;
    writeFileSync(join(folder, "a.json"), JSON.stringify([cluster, ...(isLarge ? largeConfig() : [])]));
    const anywhere = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
    const server = start(xdskit, "serve", folder, "--state", state, ...anywhere);
    const addresses = new Map<string, string>();
    for (let line = await server.lines.next(); line.value !== "ready"; line = await server.lines.next()) {
      if (line.done) throw new Error("the server ended");
      const [, what = "", address = ""] = /^(\w+) listening on (\S+)$/.exec(line.value) ?? [];
      addresses.set(what, address);
    }
    const [admin = "", grpc = ""] = [addresses.get("admin"), addresses.get("grpc")];
    if (isLarge) {
      start(xdskit, "bench", "--server", grpc, ...fleet);
      await fleetSynced(admin);
    }
    const attack = start(...process.execArgv, attacker, name, admin, grpc);
    await attack.lines.next();
    const pinger = openPinger(grpc);
    await sleep(500);
    const api = pingApi(admin);
    pinger.forget();
    const began = performance.now();
    attack.child.stdin.write("go\n");
    const answered = attack.lines.next().then(({ value }) => String(value));
    const answer = await Promise.race([answered, sleep(patienceMs, "none", { ref: false })]);
    if (name === "nothing") await sleep(3_000);
    const ms = performance.now() - began;
    const isThere = server.child.exitCode === null;
    const memory = isThere ? `${peakMb(server.child.pid ?? 0)} MB` : "it ended";
    const { median, p99, longest } = pinger.close();
    const ofApi = await api.close();
    const figures = [ms, median, p99, longest, ofApi.p99, ofApi.longest].map((one) => `${Math.round(one)} ms`);
    console.log(`| ${[name, answer, ...figures, memory].join(" | ")} |`);
  } finally {
    for (const child of children) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(directory, { recursive: true, force: true });
  }
}

function peakMb(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}
