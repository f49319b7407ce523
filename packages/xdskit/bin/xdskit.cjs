#!/usr/bin/env node
// CommonJS: Node 20 starts such a program without its loader of modules, which takes a twentieth of a start.
const { statSync } = require("node:fs");
const nodeModule = require("node:module");
const { dirname, join } = require("node:path");
const { pathToFileURL } = require("node:url");

// While the modules load there is nothing to end in order, and a stop is no failure. Once the command listens for it
// itself, it says what becomes of it.
const early = (signal) => {
  if (process.listenerCount(signal) === 1) process.exit(0);
};
process.on("SIGTERM", early).on("SIGINT", early);
// What gRPC's client says of its connections comes as errors of ours; GRPC_VERBOSITY=DEBUG shows all of it.
process.env.GRPC_VERBOSITY ??= "NONE";
void run();

async function run() {
  // What ends before it has a result is no success; Node says 13 of a module that does.
  process.exitCode = 13;
  const { main } = await loaded();
  // Of these a stop is the usual end, and most of their modules are still to come; what others were to say they did not
  // say.
  const runsUntilStopped = ["serve", "relay", "watch"].includes(process.argv[2]);
  if (!runsUntilStopped) process.off("SIGTERM", early).off("SIGINT", early);

  process.exitCode = await main(process.argv.slice(2));
  // Whatever a library still holds open, the command is over; output that is on its way gets a moment.
  setTimeout(() => process.exit(), 500).unref();
}

/** The bundle, which starts faster; in a checkout the modules, when something in it is newer now. */
async function loaded() {
  try {
    const bundle = join(__dirname, "../dist/bundle/js/index.js");
    const modules = modulesUnless(bundle);
    // In the tests it is a file of the sources.
    const isOfSources = modules !== undefined && !modules.endsWith(join("/dist", "index.js"));
    const isStale = !isOfSources && !isNewest(bundle);
    const isBundle = modules === undefined || !(isOfSources || isStale);
    if (isBundle && isStale) console.error("xdskit: the bundle is older than what it is made of: npm run build");
    keepCompiled(isBundle ? dirname(bundle) : undefined);
    return isBundle ? require(bundle) : await import(pathToFileURL(modules).href);
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND" && error.code !== "MODULE_NOT_FOUND") throw error;
    console.error(`xdskit: ${error.message}\nIn a checkout, build it first: npm ci && npm run build`);
    process.exit(1);
  }
}

/** The compiled modules. Undefined: there is only the bundle, as after the first `npm start` in a checkout. */
function modulesUnless(bundle) {
  try {
    return require.resolve("xdskit");
  } catch (error) {
    if (timeOf(bundle) === 0) throw error;
    return undefined;
  }
}

/** Whether nothing of which the bundle is made was written after it: modules, messages, the page. */
function isNewest(bundle) {
  const packages = [
    "grpc-server",
    "api",
    "protocol",
    "server",
    "store-sqlite",
    "store-etcd",
    "source-kubernetes",
    "client",
    "admin",
    "fleet",
    "relay",
    "xdskit",
  ];
  const made = [
    ...packages.map((name) => join(name, "tsconfig.tsbuildinfo")),
    // New messages take the packages' files away until these are compiled again.
    "api/gen/.stamp",
    "store-etcd/gen/.stamp",
    "admin/dist/dashboard/index.html",
  ];
  return timeOf(bundle) > Math.max(...made.map((file) => timeOf(join(__dirname, "../..", file))));
}

/** Later starts need not compile the modules again. Nobody else may write into the user's own folder. */
function keepCompiled(bundle) {
  const caches = process.env.XDG_CACHE_HOME || (process.env.HOME && join(process.env.HOME, ".cache"));
  if (!caches) return;
  const folder = join(caches, "xdskit/modules");
  if (nodeModule.enableCompileCache) {
    nodeModule.enableCompileCache(folder);
    return;
  }
  // Node 20 has no such cache. The bundle, of whose files ours can keep the code, brings it.
  const ours = bundle && join(bundle, "code-cache.js");
  if (ours === undefined || timeOf(ours) === 0) return;
  const isKept = (file) => dirname(file) === bundle;
  // Only these start often. Whatever else somebody types shares a folder.
  const command = ["serve", "relay", "watch", "status", "get"].includes(process.argv[2]) ? process.argv[2] : "other";
  require(ours).keepCompiledCode(folder, isKept, command);
}

/** When a file was written last, in milliseconds; 0: there is none. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
