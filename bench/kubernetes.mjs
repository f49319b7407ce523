/**
 * Serves the Services of a Kubernetes cluster by xdskit and by go-control-plane with client-go's informers, in turns
 * over one API server: from the start until all is served, memory, and how soon clients have what changes.
 *
 *   node bench/kubernetes.mjs [--services 5000] [--endpoints 10] [--rate 100] [--seconds 30] [--turns 3]
 *                             [--streams 200] [--names 50] [--json] [NAME=COMMAND…]
 *
 * Needs `npm run build`, and `bash e2e/peers/install.sh kubernetes`. A COMMAND that is given instead of the two usual
 * servers has the words {kubeconfig} and {grpc}. Prints a table with the medians and extremes of the turns, or JSON.
 */
import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { freePorts, median } from "./scale/processes.mjs";

const root = new URL("..", import.meta.url).pathname;
const peers = join(root, ".cache/peers/bin");
const token = "bench-token";
/** No step takes longer, in milliseconds. */
const longest = 300_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    services: { type: "string", default: "5000" },
    endpoints: { type: "string", default: "10" },
    rate: { type: "string", default: "100" },
    seconds: { type: "string", default: "30" },
    turns: { type: "string", default: "3" },
    streams: { type: "string", default: "200" },
    names: { type: "string", default: "50" },
    json: { type: "boolean", default: false },
  },
});
const xdskit = `${process.execPath} ${join(root, "packages/xdskit/bin/xdskit.cjs")} serve --kubernetes`;
const usual = [
  `go-control-plane=${join(peers, "kube-go-control-plane")} -kubeconfig {kubeconfig} -grpc {grpc}`,
  `xdskit=${xdskit} --kubeconfig {kubeconfig} --grpc {grpc} --rest off --admin 127.0.0.1:0 --state off`,
];
const servers = (positionals.length > 0 ? positionals : usual).map((text) => {
  const [, name, command] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (command === undefined) throw new Error(`${text}: NAME=COMMAND`);
  return { name, command, got: [] };
});
const cluster = ["-services", values.services, "-endpoints", values.endpoints];

/** What is measured: its name, how it is read, and the number of digits. */
const rows = [
  ["start until all is served (ms)", ({ fullMs }) => fullMs, 0],
  ["CPU until then (s)", ({ fullCpu }) => fullCpu, 1],
  ["memory then (MB)", ({ fullMb }) => fullMb, 0],
  ["memory after the changes (MB)", ({ churnedMb }) => churnedMb, 0],
  ["peak of memory (MB)", ({ peakMb }) => peakMb, 0],
  ["CPU under change (cores)", ({ churnCores }) => churnCores, 3],
  ["write until a client has it, p50 (ms)", ({ fromBegin }) => fromBegin.p50, 1],
  ["p99", ({ fromBegin }) => fromBegin.p99, 1],
  ["max", ({ fromBegin }) => fromBegin.max, 1],
  ["answer of the API server until then, p50 (ms)", ({ fromAnswer }) => fromAnswer.p50, 1],
  ["p99", ({ fromAnswer }) => fromAnswer.p99, 1],
  ["the write alone, p50 (ms)", ({ written }) => written.p50, 1],
  ["p99", ({ written }) => written.p99, 1],
  ["changes a second", ({ changesASecond }) => changesASecond, 0],
  ["cores that the machine used", ({ machineCores }) => machineCores, 2],
];

const directory = mkdtempSync(join(tmpdir(), "xdskit-bench-kubernetes-"));
const children = [];
try {
  const kubeconfig = await startCluster();
  await load("-kubeconfig", kubeconfig, "-fill", ...cluster);
  for (let turn = 0; turn < Number(values.turns); turn += 1)
    for (const [index, server] of servers.entries())
      server.got.push(await measured(server, kubeconfig, turn * servers.length + index));
  console.log(values.json ? JSON.stringify(servers) : table());
} finally {
  for (const child of children.toReversed()) await ended(child, "SIGKILL");
  rmSync(directory, { recursive: true, force: true });
}

/** Starts a server, and returns what kubeload reports of it. */
async function measured({ name, command }, kubeconfig, turn) {
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const [program, ...args] = command.replace("{kubeconfig}", kubeconfig).replace("{grpc}", address).split(" ");
  const begun = Date.now();
  const server = started(program, args);
  const report = await Promise.race([
    load(
      ...["-kubeconfig", kubeconfig, "-addr", address, "-pid", `${server.pid}`, "-begun", `${begun}`, ...cluster],
      ...["-turn", `${turn % 256}`, "-rate", values.rate, "-duration", `${values.seconds}s`],
      ...["-streams", values.streams, "-names", values.names],
    ),
    new Promise((_, reject) => server.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)))),
  ]);
  console.error(`${name}: ${report.trim()}`);
  await ended(server, "SIGTERM");
  return JSON.parse(report);
}

async function load(...args) {
  const { stdout } = await promisify(execFile)(join(peers, "kube-load"), args, { timeout: longest });
  return stdout;
}

function started(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", values.json ? "ignore" : "inherit"] });
  child.ended = new Promise((resolve) => child.once("exit", resolve));
  child.once("error", (error) => {
    throw error;
  });
  children.push(child);
  return child;
}

async function ended(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.removeAllListeners("exit");
  const end = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  const late = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await end;
  clearTimeout(late);
}

/** Starts a kube-apiserver over an etcd, and returns the path of a kubeconfig. */
async function startCluster() {
  const [client, peer, api] = await freePorts(3);
  const at = (port) => `http://127.0.0.1:${port}`;
  const file = (name) => join(directory, name);
  started(join(peers, "kube-etcd"), [
    ...["--name", "one", "--data-dir", file("etcd"), "--log-level", "error", "--unsafe-no-fsync"],
    ...["--listen-client-urls", at(client), "--advertise-client-urls", at(client), "--listen-peer-urls", at(peer)],
    ...["--initial-advertise-peer-urls", at(peer), "--initial-cluster", `one=${at(peer)}`],
  ]);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(file("key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(file("tokens.csv"), `${token},bench,1,"system:masters"\n`);
  started(join(peers, "kube-apiserver"), [
    ...["--etcd-servers", at(client), "--cert-dir", file("certificates"), "--token-auth-file", file("tokens.csv")],
    ...["--bind-address", "127.0.0.1", "--secure-port", `${api}`, "--endpoint-reconciler-type", "none"],
    ...["--service-cluster-ip-range", "10.96.0.0/16", "--advertise-address", "10.0.0.254", "-v", "0"],
    ...["--service-account-issuer", "https://kubernetes.default.svc"],
    ...["--service-account-key-file", file("key.pem"), "--service-account-signing-key-file", file("key.pem")],
  ]);
  const server = `https://127.0.0.1:${api}`;
  const authority = file("certificates/apiserver.crt");
  for (const end = Date.now() + 120_000; !(await isReady(server, authority)); await sleep(200))
    if (Date.now() > end) throw new Error("the API server is not ready");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "bench",
    clusters: [{ name: "bench", cluster: { server, "certificate-authority": authority } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    users: [{ name: "bench", user: { token } }],
  };
  writeFileSync(file("kubeconfig"), JSON.stringify(config));
  return file("kubeconfig");
}

function isReady(server, authority) {
  return new Promise((resolve) => {
    try {
      const options = {
        ca: readFileSync(authority),
        agent: new Agent(),
        headers: { authorization: `Bearer ${token}` },
      };
      get(`${server}/readyz`, options, (answer) => resolve(answer.resume().statusCode === 200)).on("error", () =>
        resolve(false),
      );
    } catch {
      resolve(false);
    }
  });
}

function table() {
  const lines = [`| | ${servers.map(({ name }) => name).join(" | ")} |`, `|---|${servers.map(() => "---:|").join("")}`];
  for (const [label, read, digits] of rows) {
    const cells = servers.map(({ got }) => {
      const each = got.map(read).sort((a, b) => a - b);
      const text = (value) => value.toFixed(digits);
      return each.length === 1 ? text(each[0]) : `${text(median(each))} (${text(each[0])}–${text(each.at(-1))})`;
    });
    lines.push(`| ${label} | ${cells.join(" | ")} |`);
  }
  const missing = servers.map(({ name, got }) => `${name} ${got.reduce((sum, one) => sum + one.missing, 0)}`);
  return [...lines, "", `Changes that did not arrive: ${missing.join(", ")}.`].join("\n");
}
