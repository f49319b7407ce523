// Puts test files of a package together into processes: to load the package takes longer than most of its tests.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { namesSources } from "./compiled-tests.mjs";

/** So many files share a process, and so many of those whose tests start the command: these wait for it. */
const most = 16;
const mostStarting = 4;
/** What concerns the whole process: other programs, threads, memory, the environment, clocks, hooks of no suite. */
const ownProcess =
  /child_process|worker_threads|memoryUsage|cpuUsage|queryObjects|\bgc\b|process\.(?:env|exit|on|once|chdir)|mock\.timers|mock\.method\((?:globalThis|Math|process)|\.prototype,|^(?:before|after)\(/m;
const starting = /testing\/(?:command|served)\.js/;
const compiledUnit = /^(packages\/[^/]+)\/dist\//;
/** Its tests open files and end processes on purpose. */
const alone = /^packages\/store-lmdb\//;
/** Tests that are skipped without a peer, all of them: what they cost then is to load them. */
const skippedWithout = [
  ["envoy", /^e2e\/dist\/envoy-/],
  ["chromium", /^e2e\/dist\/dashboard/],
  ["etcd", /^e2e\/dist\/etcd-/],
];

/**
 * The files to run, each in a process: first files in a folder that import several tests, since these take longest, and
 * then files that stay alone. `names`: what such a file is called. `isMissing` tells whether a peer is.
 */
export function sharedProcesses(files, folder, isMissing = () => false) {
  const names = new Map();
  const groups = new Map();
  const single = [];
  const several = [];
  const skipped = skippedWithout.filter(([peer]) => isMissing(peer)).map(([, pattern]) => pattern);
  for (const file of files) {
    const of = groupOf(file);
    if (of === undefined) {
      single.push(file);
      continue;
    }
    const group = groups.get(of.name) ?? [];
    groups.set(of.name, group);
    if (group.length === 0) several.push(group);
    group.push(file);
    if (group.length === of.most) groups.delete(of.name);
  }
  return { run: [...several.map(together), ...single], names };

  function groupOf(file) {
    if (skipped.some((pattern) => pattern.test(file))) return { name: `skipped ${namesSources(file)}`, most };
    const [, inPackage] = compiledUnit.exec(file) ?? [];
    if (inPackage === undefined || alone.test(file)) return undefined;
    const text = readFileSync(file, "utf8");
    if (ownProcess.test(text)) return undefined;
    const starts = starting.test(text);
    return { name: `${inPackage} ${namesSources(file)} ${starts}`, most: starts ? mostStarting : most };
  }

  function together(group) {
    const [first] = group;
    if (group.length === 1) return first;
    const path = join(folder, first);
    mkdirSync(dirname(path), { recursive: true });
    const imports = group.map((file) => `import ${JSON.stringify(relative(dirname(path), resolve(file)))};\n`);
    writeFileSync(path, imports.join(""));
    names.set(path, `${first} and ${group.length - 1} more`);
    return path;
  }
}
