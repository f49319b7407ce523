/**
 * Computes from measured.json how many processes a fleet needs, and writes it into docs/scale.md and
 * bench/scale/README.md.
 *
 *   node bench/scale/model.mjs            # writes the tables
 *   node bench/scale/model.mjs --check    # exit status 1 if the page has others
 */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const measuredFile = new URL("measured.json", import.meta.url);
/** The pages, each with the tables whose marks it has. */
const pages = ["../../docs/scale.md", "README.md"].map((page) => new URL(page, import.meta.url));

/** What a plan assumes. Change it for your own fleet. */
export const assumed = {
  fleets: [10_000, 100_000, 1_000_000],
  /** Streams that one process carries at most, while all sites are there: twice as many keep its core busy. */
  streamsPerProcess: 5_000,
  /** Changes that every proxy gets, each second. */
  changesPerSecond: 1,
  /** With more processes than this, relays carry the streams: the questions of replicas grow with their square. */
  maxReplicas: 6,
  sites: 2,
};

/** How many tiers of relays there must be, so that neither a replica nor a relay has too many streams. */
function tiersAbove(relays, replicas, streamsPerProcess) {
  let tiers = 1;
  for (let left = relays; left > replicas * streamsPerProcess; left /= streamsPerProcess) tiers += 1;
  return tiers;
}

/** The plan of a fleet with this number of proxies, each with one stream. Every figure is computed. */
export function planOf(proxies, measured, { streamsPerProcess, changesPerSecond, maxReplicas, sites } = assumed) {
  const { server, relay, replicas } = measured;
  const carriers = Math.max(sites, Math.ceil(proxies / streamsPerProcess));
  const isRelayed = carriers > maxReplicas;
  const carrier = isRelayed ? relay : server;
  const streams = Math.ceil(proxies / carriers);
  const replicasNeeded = isRelayed ? replicas.replicas : Math.max(carriers, replicas.replicas);
  const tiers = isRelayed ? tiersAbove(carriers, replicasNeeded, streamsPerProcess) : 0;
  const own = isRelayed ? streams : Math.ceil(proxies / replicasNeeded);
  const processMb =
    carrier.touchedRssMb - (measured.streams * carrier.streamKb) / 1024 + (own * carrier.streamKb) / 1024;
  const topMs = isRelayed ? (Math.ceil(carriers / replicasNeeded) * server.pushCpuUs) / 1_000 + relay.firstMs : 0;
  const left = own * (sites / (sites - 1));
  return {
    proxies,
    replicas: replicasNeeded,
    relays: isRelayed ? carriers : 0,
    tiers,
    streams: own,
    memoryGb:
      ((isRelayed ? carriers : replicasNeeded) * processMb + (isRelayed ? replicasNeeded * server.touchedRssMb : 0)) /
      1024,
    processMb,
    coresBusy: (proxies * carrier.pushCpuUs * changesPerSecond) / 1e6,
    mbitPerSecond: (proxies * carrier.pushBytes * changesPerSecond * 8) / 1e6,
    betweenMbitPerSecond: (carriers * server.pushBytes * changesPerSecond * 8) / 1e6,
    reachesAllMs: replicas.changeMs.median + topMs + (own * carrier.pushCpuUs) / 1_000,
    recoverMs: ((left - own) * carrier.reconnectCpuUs) / 1_000,
    recoverColdMs: ((left - own) * carrier.connectCpuUs) / 1_000,
  };
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

const count = (value) => Math.round(value).toLocaleString("en-US");
const seconds = (ms) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

function measuredTable({ server, relay }) {
  const row = (name, key, unit, factor = 1) => [
    name,
    ...[server, relay].map((of) => `${Number((of[key] * factor).toPrecision(3))} ${unit}`),
  ];
  return table(
    ["measured", "server", "relay"],
    [
      row("memory without streams", "baseMb", "MB"),
      row("memory of an idle stream", "streamKb", "kB"),
      row("CPU to connect a stream, until it holds everything", "connectCpuUs", "µs"),
      row("bytes to connect a stream", "connectBytes", "kB", 1e-3),
      row("CPU of a push and its acknowledgement", "pushCpuUs", "µs"),
      row("bytes of a push", "pushBytes", "kB", 1e-3),
      row("from a change to its first push", "firstMs", "ms"),
      row("CPU of a stream that reconnects with what it holds", "reconnectCpuUs", "µs"),
      row("bytes of such a reconnect", "reconnectBytes", "bytes"),
    ],
  );
}

function replicaTable({ replicas, large }) {
  return table(
    ["measured", ""],
    [
      ["CPU of an idle replica, of one core", `${replicas.idleCpuPercent} %`],
      ["memory of an idle replica", `${replicas.idleMb} MB`],
      ["writes to etcd while nothing changes", `${replicas.etcdWritesPerSecond} a second`],
      [
        "from the answer to a write at one replica to a client of another one",
        `${replicas.changeMs.median} ms (median), ${replicas.changeMs.max} ms (longest)`,
      ],
      [`memory of a server with ${count(large.clusters)} clusters, without streams`, `${large.baseMb} MB`],
    ],
  );
}

function planTable(measured) {
  const plans = assumed.fleets.map((proxies) => planOf(proxies, measured));
  const row = (name, shown) => [name, ...plans.map(shown)];
  return table(
    ["computed", ...plans.map(({ proxies }) => `${count(proxies)} proxies`)],
    [
      row("replicas", (plan) => count(plan.replicas)),
      row("relays", (plan) => (plan.relays === 0 ? "none" : count(plan.relays))),
      row("tiers of relays", (plan) => (plan.tiers === 0 ? "none" : count(plan.tiers))),
      row("streams of each process that carries proxies", (plan) => count(plan.streams)),
      row("memory of such a process", (plan) => `${count(plan.processMb)} MB`),
      row("memory, all together", (plan) => `${plan.memoryGb.toFixed(1)} GB`),
      row("cores busy with pushes", (plan) => plan.coresBusy.toFixed(1)),
      row("bandwidth to proxies", (plan) => `${count(plan.mbitPerSecond)} Mbit/s`),
      row("bandwidth from replicas to relays", (plan) =>
        plan.relays === 0 ? "none" : `${plan.betweenMbitPerSecond.toFixed(1)} Mbit/s`,
      ),
      row("a change reaches all", (plan) => seconds(plan.reachesAllMs)),
      row("a site is lost: CPU time of each other process until all are back", (plan) => seconds(plan.recoverMs)),
      row("the same if no proxy says what it holds", (plan) => seconds(plan.recoverColdMs)),
    ],
  );
}

/** The page with the tables whose marks it has. */
export function written(text, measured) {
  const tables = {
    streams: measuredTable(measured),
    replicas: replicaTable(measured),
    plan: planTable(measured),
    machine: `${measured.machine}; ${measured.date}; ${measured.configuration}; ${count(measured.streams)} streams.`,
  };
  return text.replaceAll(/(<!-- (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    if (!Object.hasOwn(tables, name)) throw new Error(`there is no table ${name}`);
    return `${begin}${tables[name]}\n${end}`;
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const measured = JSON.parse(readFileSync(measuredFile, "utf8"));
  for (const page of pages) {
    const before = readFileSync(page, "utf8");
    const after = written(before, measured);
    if (process.argv[2] !== "--check") writeFileSync(page, after);
    else if (before !== after) {
      console.error(`${page.pathname} is not what bench/scale/model.mjs computes: run it`);
      process.exitCode = 1;
    }
  }
}
