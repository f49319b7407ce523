import { createLog, logFinding } from "@xdskit/admin/log";
import { XdskitError } from "@xdskit/api";
import { createServer, defaultParts, type ServerOptions } from "@xdskit/server";
import { folderVersions } from "../daemon/replicas/folder-comparison.js";
import { RevisionEvents } from "../daemon/revisions/revision-events.js";
import { stateOfFolder } from "../daemon/revisions/state.js";
import { openServedState } from "../daemon/revisions/written-state.js";
import { restOptions, runServing, type Serving } from "../daemon/serving.js";
import { mustNotBeServed } from "../daemon/to-files/not-served.js";
import { workerSlot } from "../daemon/workers/worker-slot.js";
import { mustBeFolder } from "../files/must-be-folder.js";
import { counted } from "../output/counts.js";
import type { Terminal } from "../output/terminal.js";
import { type LoadedSettings, loadSettings, withCluster } from "../settings/load-settings.js";
import type { Settings } from "../settings/schema.js";
import { groupNames, layersOf, serverOptions, serverTls } from "../settings/server-settings.js";
import { limitsOfWorker } from "../settings/worker-limits.js";
import { folderLayers } from "./folder/served-folder.js";
import { type ServedCluster, servedCluster } from "./kubernetes/served-cluster.js";
import { liveFolder } from "./live/live-folder.js";
import type { ServeOptions } from "./options/serve-options.js";
import { workersOf } from "./options/worker-options.js";
import { comparedFolders, peeringOf, rolloutsOfAll, spreadClients } from "./servers/other-servers.js";
import type { Peering } from "./servers/peering.js";

/**
 * Serves until a signal comes; resolves to the exit status.
 *
 * The ports for clients open only once the first configuration is applied: a client never meets a server with nothing,
 * or only a part. The admin port is open from the start, and `/readyz` answers 503 until then, with the errors that
 * must be fixed first.
 */
export async function runServe(options: ServeOptions, terminal: Terminal): Promise<number> {
  const worker = workerSlot();
  // The start below reports errors.
  const count = worker === undefined ? await processCount(options).catch(() => 1) : 1;
  if (count > 1) {
    const { superviseProcesses } = await import("../daemon/workers/supervisor.js");
    const log = createLog(terminal, { level: options.logLevel, format: options.logFormat });
    return await superviseProcesses(count, { terminal, log });
  }
  return await runServing({ command: "serve", worker }, options, terminal, (serving) => startServe(options, serving));
}

async function processCount({ directory, settings, workers, store, replica }: ServeOptions): Promise<number> {
  const { settings: loaded } = await loadSettings(directory, settings);
  return workersOf({ workers: workers ?? loaded.workers, store, replica });
}

/** An empty folder may be intended: the error says how to start anyway. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof XdskitError) || error.findings.some(({ code }) => !emptiness.has(code))) return error;
  const [first, ...others] = error.findings;
  if (first === undefined) return error;
  const message = `${first.message}; --allow-empty starts all the same, and serves files when they come`;
  return new XdskitError([{ ...first, message }, ...others], { cause: error });
}

const emptiness: ReadonlySet<string> = new Set([
  "XDSKIT_NO_VALID_FILE",
  "XDSKIT_FOLDER_MISSING",
  "XDSKIT_GROUP_FOLDERS",
]);

async function startServe(options: ServeOptions, serving: Serving): Promise<void> {
  const { directory, store: url } = options;
  const cluster = options.kubernetes && (await servedCluster(options.kubernetes, options.allowPartial, serving));
  const loaded = await settingsFor(options, cluster);
  const { settings } = loaded;
  const { registry, types } = await serving.definitions(loaded);
  cluster?.readsWith({ registry, types });
  const tls = serverTls(loaded, "tls");
  const server = createServer({
    ...optionsOfServer(options, serving, settings),
    types,
    registry,
    tls,
    localityTypes: cluster?.localityTypes,
    reviewToken: cluster?.reviewToken,
    parts: cluster && [...defaultParts, cluster.source.part],
    statusPeers: () => peering.statusPeers(),
    ...serving.callers,
  });
  const { worker, sharedLog: log } = serving;
  const revisions = new RevisionEvents();
  let fromFolder: Promise<unknown> = Promise.resolve();
  const state = await openServedState({
    option: options.state,
    own: stateOf(directory, cluster),
    url,
    worker,
    server,
    registry,
    types,
    log,
    settings,
    others: () => fromFolder,
    problem: (finding) => finding && logFinding(log, finding),
    onRevision(revision) {
      revisions.tell(revision);
      live.folder.checkNames();
    },
    timeLeft: (ids) => peering.timeLeft(ids),
    // Without being its replicas, other servers may have an etcd as well.
    isAlone: () => url?.kind !== "etcd" && peering.isSurelyAlone,
  });
  serving.closers.push(() => state.close());
  const peering: Peering = peeringOf(options, serving, { state, tls: tls && { ...tls, replicas: settings.replicas } });
  const { live, layers } = await liveFolder(options, serving, { loaded, server, registry, types, state, revisions });
  serving.rereads.push(() => live.folder.source.retry?.());
  if (settings.rebalance !== "off" && peering.isSpread) spreadClients(server, peering, serving);
  const rollouts = await rolloutsOfAll(options, serving, { server, registry, state, peering });
  const compared = comparedFolders(serving, peering, () => folderVersions(server, folderLayers(live)));
  await serving.serve({
    server,
    registry,
    layers,
    peering,
    rollouts,
    tls,
    folderVersions: compared.own,
    storeAway: () => state.written.away,
    storeNumbers: state.numbers,
    stateTrouble: state.trouble,
    onRevision: revisions.on,
    settingsFile: loaded.file,
    groups: settings.groups,
    whereIs: (group, resource) =>
      live.folder.whereIs(group, resource) ?? cluster?.whereIs(live.settings, group, resource),
    sources(about) {
      const findings = [...about(...groupNames(live.settings)), ...compared.findings()];
      if (directory === undefined) return cluster === undefined ? [] : [cluster.status(findings)];
      const folder = live.folder.status(findings, live.refused);
      return cluster === undefined ? [folder] : [folder, cluster.status([])];
    },
    async begin() {
      fromFolder = server.addSource(live.folder.source).catch((error: unknown) => {
        throw withAdvice(error);
      });
      // Both at once: no client gets the one without the other.
      await Promise.all([fromFolder, server.addSource(state.written), cluster && server.addSource(cluster.source)]);
      // Before that, nodes are told nothing, and no group has a snapshot.
      live.folder.checkNames();
    },
    banner() {
      const ofFolder = directory === undefined ? [] : [`${directory}: ${counted(live.folder.files, "file")}`];
      const text = `serves ${[...ofFolder, ...(cluster?.counts() ?? [])].join(", ")}`;
      return { text, word: "serving", fields: { directory, kubernetes: cluster?.server } };
    },
  });
  serving.takeSettings = (next) => (next === undefined ? live.giveUp() : live.take(next as Settings));
}

/** What the state of what is served is called. */
function stateOf(directory: string | undefined, cluster: ServedCluster | undefined): string {
  return directory === undefined && cluster !== undefined ? cluster.ownState : stateOfFolder(directory ?? ".");
}

/** The settings with which the folder can be served. */
async function settingsFor(
  { directory, settings, toFiles }: ServeOptions,
  cluster: ServedCluster | undefined,
): Promise<LoadedSettings> {
  // First: `--allow-empty` waits for a missing folder, but not for a file to become a folder.
  if (directory !== undefined) await mustBeFolder(directory, true);
  const loaded = await loadSettings(directory, settings);
  const folders = layersOf(loaded.settings);
  if (toFiles !== undefined && directory !== undefined)
    await mustNotBeServed({ served: directory, folders, written: toFiles.directory });
  return cluster === undefined ? loaded : withCluster(loaded, cluster.addsToSettings);
}

function optionsOfServer(options: ServeOptions, serving: Serving, settings: Settings): ServerOptions {
  const fromSettings = serverOptions(settings);
  workersOf({ workers: options.workers ?? settings.workers, store: options.store, replica: options.replica });
  const references = options.references ?? fromSettings.references ?? "refuse";
  // Where errors are skipped, both of two listeners are served, as those of the folder are.
  const addresses = settings.on_invalid === "skip" ? "warn" : "refuse";
  const limits = limitsOfWorker(fromSettings.limits, serving.worker?.count);
  return { ...fromSettings, limits, rest: restOptions(fromSettings, options), references, addresses };
}
