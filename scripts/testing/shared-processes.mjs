// Puts test files of a package together into processes: to load the package takes longer than most of its tests.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { namesSources } from "./compiled-tests.mjs";

const most = 8;
/** What concerns the whole process: other programs, threads, memory, the environment, clocks. */
const ownProcess =
  /child_process|worker_threads|memoryUsage|cpuUsage|queryObjects|\bgc\b|process\.(?:env|exit|on|once|chdir)|mock\.timers/;
const compiledUnit = /^(packages\/[^/]+)\/dist\//;
/** Most tests of the command start it. */
const alone = /^packages\/(?:xdskit|store-lmdb)\//;

/**
 * The files to run, each in a process: files that stay alone, and files in a folder that import up to eight tests.
 * `names`: what such a file is called.
 */
export function sharedProcesses(files, folder) {
  const names = new Map();
  const groups = new Map();
  const run = [];
  for (const file of files) {
    const [, inPackage] = compiledUnit.exec(file) ?? [];
    if (inPackage === undefined || alone.test(file) || ownProcess.test(readFileSync(file, "utf8"))) {
      run.push(file);
      continue;
    }
    const of = `${inPackage} ${namesSources(file)}`;
    const group = groups.get(of) ?? [];
    groups.set(of, group);
    if (group.length === 0) run.push(group);
    group.push(file);
    if (group.length === most) groups.delete(of);
  }
  return { run: run.map((one) => (typeof one === "string" ? one : together(one))), names };

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
