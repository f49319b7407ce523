// Puts test files of a package together into processes: a process takes longer to start than most of its tests, and
// what it has compiled and read serves all that follow.
import { readFileSync } from "node:fs";

/** This many files share a process, and this many of those whose tests start the command: these wait for it. */
const most = 48;
const maxStarting = 8;
/** Some of them build a site or packages, for minutes, and the time of a process is bounded. */
const maxScripts = 4;
const maxSkipped = 100;
/** What concerns the whole process: programs, signals, threads, memory, the environment, clocks, hooks of no suite. */
const ownProcess =
  /child_process|worker_threads|memoryUsage|cpuUsage|queryObjects|\bgc\b|process\.(?:exit|on|once|chdir)|process\.kill\(process\.pid|process\.env\.\w+ = |delete process\.env|mock\.timers|mock\.method\((?:globalThis|Math|process)|\.prototype,|^before\(/m;
const starting = /\b(?:xdskit|xdskitEnds|xdskitWithInput|served|servedApart|servesHere)\(/;
/** The compiled tests of a package; the dashboard's modules are bundled, and its tests run from their sources. */
const unit = /^(packages\/[^/]+)\/dist\/|^(dashboard)\/src\//;
/** Tests of scripts start programs and wait for them, and disturb no other. */
const scripts = /^(?:packages\/[^/]+\/)?scripts\//;
/** Its tests open files and end processes on purpose. */
const alone = /^packages\/store-sqlite\//;
/** Tests that are skipped without a peer, all of them: what they cost then is to load them. */
const skippedWithout = [
  ["envoy", /^e2e\/dist\/(?:envoy-|bootstrap|corpus|mutants|quickstart|scale|whole-day)/],
  ["chromium", /^e2e\/dist\/dashboard/],
  ["etcd", /^e2e\/dist\/(?:etcd-|serve-etcd|replicas-(?:cut-off|faults|soak|upgrade))/],
  ["go-control-plane-server", /^e2e\/dist\/\S*go-control-plane/],
  ["node-22", /^e2e\/dist\/node-versions/],
  ["h2spec", /^e2e\/dist\/h2spec/],
  ["promtool", /^e2e\/dist\/alert-rules/],
];

/**
 * The processes of a run, as lists of the test files that each has: first those that several share, since these take
 * longest, and then those that stay alone. `isMissing` tells whether a peer is.
 */
export function sharedProcesses(files, isMissing = () => false) {
  const groups = new Map();
  const single = [];
  const several = [];
  const skipped = skippedWithout.filter(([peer]) => isMissing(peer)).map(([, pattern]) => pattern);
  for (const file of files) {
    const of = groupOf(file, skipped);
    if (of === undefined) {
      single.push([file]);
      continue;
    }
    const group = groups.get(of.name) ?? [];
    groups.set(of.name, group);
    if (group.length === 0) several.push(group);
    group.push(file);
    if (group.length === of.most) groups.delete(of.name);
  }
  return [...several, ...single];
}

function groupOf(file, skipped) {
  if (skipped.some((pattern) => pattern.test(file))) return { name: "skipped", most: maxSkipped };
  if (scripts.test(file)) return { name: "scripts", most: maxScripts };
  const [, inPackage, inDashboard] = unit.exec(file) ?? [];
  if ((inPackage ?? inDashboard) === undefined || alone.test(file)) return undefined;
  const text = readFileSync(file, "utf8");
  if (ownProcess.test(text)) return undefined;
  const starts = starting.test(text);
  return { name: `${inPackage ?? inDashboard} ${starts}`, most: starts ? maxStarting : most };
}
