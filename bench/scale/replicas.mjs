/** The cost of an idle replica, and the time until it serves a change that was written at another one. */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { answers, cpuMs, freePorts, median, round, rssKb, started } from "./processes.mjs";

const xdskit = new URL("../../packages/xdskit/bin/xdskit.cjs", import.meta.url).pathname;
const etcd = new URL("../../.cache/peers/bin/etcd", import.meta.url).pathname;
const members = 3;
const idleMs = 20_000;
const changes = 40;

export async function measureReplicas() {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-scale-"));
  const programs = [];
  try {
    const clients = await startEtcd(directory, programs);
    const replicas = [];
    mkdirSync(join(directory, "config"));
    writeFileSync(join(directory, "config", "one.yaml"), `${JSON.stringify(cluster("folder", 1))}\n`);
    for (let index = 0; index < members; index += 1) replicas.push(await startReplica(directory, clients, programs));
    await sleep(5_000);
    const before = replicas.map(({ pid }) => cpuMs(pid));
    const wroteBefore = await revision(clients[0]);
    await sleep(idleMs);
    const wrote = (await revision(clients[0])) - wroteBefore;
    const idle = replicas.map(({ pid }, index) => (cpuMs(pid) - before[index]) / idleMs);
    return {
      members,
      replicas: replicas.length,
      idleCpuPercent: round(median(idle) * 100, 2),
      idleMb: round(median(replicas.map(({ pid }) => rssKb(pid))) / 1024),
      etcdWritesPerSecond: round((wrote * 1000) / idleMs, 2),
      changeMs: await followed(replicas[0], replicas[1]),
    };
  } finally {
    for (const program of programs.reverse()) await program.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startEtcd(directory, programs) {
  const ports = await freePorts(2 * members);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const all = Array.from({ length: members }, (_, index) => `m${index}=${urls[members + index]}`).join(",");
  for (let index = 0; index < members; index += 1) {
    const [client, peer] = [urls[index], urls[members + index]];
    const child = spawn(
      etcd,
      [
        ...["--name", `m${index}`, "--data-dir", join(directory, `m${index}`), "--log-level", "error"],
        ...["--listen-client-urls", client, "--advertise-client-urls", client],
        ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", all],
      ],
      { stdio: "ignore" },
    );
    const end = new Promise((resolve) => child.once("exit", resolve));
    programs.push({ pid: child.pid, stop: () => child.kill("SIGKILL") && end });
  }
  for (const url of urls.slice(0, members)) await answers(`${url}/version`);
  return urls.slice(0, members);
}

async function startReplica(directory, clients, programs) {
  const [grpc, admin, replica] = await freePorts(3);
  const store = `etcd://${clients.map((url) => url.slice("http://".length)).join(",")}/scale`;
  const program = await started(
    process.execPath,
    [
      ...[xdskit, "serve", join(directory, "config"), "--store", store, "--replica", `127.0.0.1:${replica}`],
      ...["--grpc", `127.0.0.1:${grpc}`, "--rest", "127.0.0.1:0", "--admin", `127.0.0.1:${admin}`],
    ],
    "ready",
    { env: { ...process.env, XDG_STATE_HOME: join(directory, `state-${grpc}`) } },
  );
  programs.push(program);
  return { pid: program.pid, grpc, admin };
}

/** The number of writes to etcd so far. */
async function revision(url) {
  const answer = await fetch(`${url}/v3/kv/range`, { method: "POST", body: JSON.stringify({ key: "AA==" }) });
  return Number((await answer.json()).header.revision);
}

function cluster(name, ms) {
  return {
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    connect_timeout: `${1 + ms / 1000}s`,
    type: "STATIC",
    load_assignment: { cluster_name: name },
  };
}

/** From the answer to a write at one replica until a client of another one has it, in milliseconds. */
async function followed(written, watched) {
  const watch = spawn(
    process.execPath,
    [xdskit, "watch", "--server", `127.0.0.1:${watched.grpc}`, "--type", "cluster", "--ads", "--output", "jsonl"],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  try {
    const seen = new Map();
    const waits = new Map();
    createInterface({ input: watch.stdout }).on("line", (line) => {
      const { event, name } = JSON.parse(line);
      if (event !== "upsert") return;
      seen.set(name, performance.now());
      waits.get(name)?.();
    });
    const times = [];
    for (let index = 0; index < changes; index += 1) {
      const name = `written-${index}`;
      const arrived = new Promise((resolve) => waits.set(name, resolve));
      const body = JSON.stringify({ upsert: [cluster(name, index)] });
      const headers = { "content-type": "application/json", "x-xdskit": "1" };
      const url = `http://127.0.0.1:${written.admin}/api/v1/layers/api/changes`;
      const answer = await fetch(url, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(`a change was refused: ${await answer.text()}`);
      const answered = performance.now();
      await Promise.race([
        arrived,
        sleep(20_000).then(() => Promise.reject(new Error(`${name} did not arrive in 20 s`))),
      ]);
      times.push(Math.max(0, seen.get(name) - answered));
    }
    const sorted = times.toSorted((a, b) => a - b);
    return { median: round(median(times)), max: round(sorted.at(-1)) };
  } finally {
    watch.kill("SIGTERM");
  }
}
