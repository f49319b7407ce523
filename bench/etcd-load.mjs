/**
 * The time for reading a large layer from etcd, beside `etcdctl get` of the same keys.
 *
 *   node bench/etcd-load.mjs [RESOURCES [ROUNDS]]
 *
 * Needs `npm run build`, and `etcd` and `etcdctl` in .cache/peers/bin (e2e/peers/install.sh). One member of etcd, on a
 * free port of 127.0.0.1, gets RESOURCES (default 100,000) clusters of about 300 bytes in one commit. Then the two read
 * them in turn, ROUNDS times (default 7): `store.read` into this process, and `etcdctl get --prefix`, a separate
 * process, whose output is counted and thrown away. Prints both medians with their extremes, the ratio of the medians,
 * and the bytes that etcdctl brought.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openEtcdStore } from "../packages/store-etcd/dist/index.js";
import { freePorts, median } from "./scale/processes.mjs";

const [count = 100_000, rounds = 7] = process.argv.slice(2).map(Number);
const peers = new URL("../.cache/peers/bin/", import.meta.url).pathname;
const prefix = "bench";
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

async function startEtcd(directory) {
  const [client, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  const etcd = spawn(join(peers, "etcd"), [
    ...["--name", "one", "--data-dir", directory, "--log-level", "error", "--unsafe-no-fsync"],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `one=${peer}`],
  ]);
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`${client}/health`).catch(() => undefined);
    if (answer?.ok) break;
    if (tries > 200 || etcd.exitCode !== null) throw new Error("etcd does not start");
    await sleep(50);
  }
  return { etcd, endpoint: client.slice("http://".length) };
}

/** Milliseconds, and the received bytes. */
async function readWithEtcdctl(endpoint) {
  const began = performance.now();
  const child = spawn(
    join(peers, "etcdctl"),
    ["--command-timeout", "120s", "--endpoints", endpoint, "get", "--prefix", prefix],
    {
      env: { ...process.env, ETCDCTL_API: "3" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let bytes = 0;
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`etcdctl ended with ${code}`);
  return { ms: performance.now() - began, bytes };
}

function textOf(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return `${median(times).toFixed(0)} ms (${sorted[0].toFixed(0)} … ${sorted.at(-1).toFixed(0)})`;
}

const directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-load-"));
const { etcd, endpoint } = await startEtcd(directory);
try {
  const store = await openEtcdStore({ endpoints: [endpoint], prefix });
  const upsert = Array.from({ length: count }, (_, index) => ({
    type,
    key: `cluster-${index}`,
    version: `${index}`.padStart(16, "0"),
    bytes: Buffer.alloc(300, `cluster-${index} `),
  }));
  const info = { author: "bench", cause: { kind: "source", source: "bench" }, message: "", time: Date.now() };
  const { heads } = await store.commit([{ layer: "default", parent: undefined, kind: "replace", upsert }], info);
  const [ours, theirs] = [[], []];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const { length } = await store.read(heads[0].id);
    ours.push(performance.now() - began);
    if (length !== count) throw new Error(`${length} resources were read, not ${count}`);
    const read = await readWithEtcdctl(endpoint);
    theirs.push(read.ms);
    bytes = read.bytes;
  }
  await store.close();
  console.log(`${count} resources, ${bytes} bytes, ${rounds} rounds`);
  console.log(`store.read:           ${textOf(ours)}`);
  console.log(`etcdctl get --prefix: ${textOf(theirs)}`);
  console.log(`ratio of the medians: ${(median(ours) / median(theirs)).toFixed(2)}`);
} finally {
  etcd.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
}
