import { type Finding, XdskitError } from "@xdskit/api";
import { createServer, type References, type Revision, type ServerOptions, type XdsServer } from "@xdskit/server";
import { type Address, formatAddress } from "@xdskit/server/address";
import { mustBeFolder } from "../files/must-be-folder.js";
import { counted } from "../output/counts.js";
import { createLog, type Log } from "../output/log.js";
import type { Terminal } from "../output/terminal.js";
import { processPlace } from "../processes/process-place.js";
import { FolderComparison, type FolderVersions, folderVersions } from "../replicas/folder-comparison.js";
import { Rebalancing } from "../replicas/rebalancing.js";
import { logFinding } from "../serving/logs/source-log.js";
import { runServing, type Serving, type ServingOptions } from "../serving/serving.js";
import { loadSettings } from "../settings/load-settings.js";
import type { Settings } from "../settings/schema.js";
import { groupNames, layersOf, serverOptions, serverTls } from "../settings/server-settings.js";
import type { StoreUrl } from "../settings/store-url.js";
import { layerInApi } from "../settings/written-layers.js";
import { RevisionEvents } from "../state/revision-events.js";
import { stateOfFolder } from "../state/state.js";
import { apiLayers, type FilledLayer, openServedState, type StateInUse } from "../state/written-state.js";
import { mustNotBeServed } from "../to-files/not-served.js";
import { LiveSettings } from "./live-settings.js";
import { Peering } from "./peering.js";
import { folderLayers, ServedFolder, type ServedFolderOptions } from "./served-folder.js";
import { workersOf } from "./worker-options.js";

export interface ServeOptions extends ServingOptions, ServedFolderOptions {
  readonly settings?: string;
  /** Where revisions are kept, or `off`; undefined: a folder of the served folder's own. */
  readonly state?: string;
  /** Where they are kept instead. */
  readonly store?: StoreUrl;
  /** The policy for changes that break references; undefined: the settings decide. */
  readonly references?: References;
  /** Undefined: what the settings say. */
  readonly workers?: number | "auto";
  /** Where other servers of the store ask this one; undefined: they do not. */
  readonly replica?: Address;
  /** Where they reach it, if that is another address. */
  readonly advertise?: Address;
}

/**
 * Serves until a signal comes; resolves to the exit status.
 *
 * The ports for clients open only once the first configuration is applied: a client never meets a server with nothing,
 * or only a part. The admin port is open from the start, and `/readyz` answers 503 until then, with the errors that
 * must be fixed first.
 */
export async function runServe(options: ServeOptions, terminal: Terminal): Promise<number> {
  const place = processPlace();
  // The start below reports errors.
  const count = place === undefined ? await processCount(options).catch(() => 1) : 1;
  if (count > 1) {
    const { superviseProcesses } = await import("../processes/supervisor.js");
    const log = createLog(terminal, { level: options.logLevel, format: options.logFormat });
    return await superviseProcesses(count, { terminal, log });
  }
  return await runServing({ command: "serve", place }, options, terminal, (serving) => startServe(options, serving));
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
  const { directory, toFiles } = options;
  // First: `--allow-empty` waits for a missing folder, but not for a file to become a folder.
  await mustBeFolder(directory, true);
  const loaded = await loadSettings(directory, options.settings);
  const { settings } = loaded;
  if (toFiles !== undefined)
    await mustNotBeServed({ served: directory, folders: layersOf(settings), written: toFiles.directory });
  const { registry, types } = await serving.definitions(loaded);
  const tls = serverTls(loaded);
  const server = createServer({
    ...{ ...optionsOfServer(options, serving, settings), types, registry, tls },
    statusPeers: () => peering.statusPeers(),
  });
  const { place, told: log } = serving;
  const problem = (finding: Finding | undefined) => finding && logFinding(log, finding);
  const stateOptions = { option: options.state, own: stateOfFolder(directory), url: options.store, place, problem };
  let fromFolder: Promise<unknown> = Promise.resolve();
  const state = await openServedState({
    ...{ ...stateOptions, server, registry, types, log, settings, others: () => fromFolder },
    changed: (revision) => changed(revision),
    timeLeft: (ids) => peering.timeLeft(ids),
  });
  const { store, heads, isDurable, written, history } = state;
  serving.closers.push(() => state.close());
  // Of a part: the groups that have the rest would lose all of it.
  const hasLastGood = folderLayers(loaded).every((name) => heads.some(({ layer }) => layer === name));
  const revisions = new RevisionEvents();
  const ofFolder = { server, registry, types, log, store, history, onRevision: revisions.tell };
  const folder = new ServedFolder(options, {
    ...{ ...ofFolder, loaded, hasLastGood, before: undefined },
    nothingServed: () => serving.announceAdmin(),
  });
  await folder.kept?.load();
  const changed = (revision: Revision) => {
    revisions.tell(revision);
    live.folder.checkNames();
  };
  const peering: Peering = peeringOf(options, serving, { state, tls, log });
  serving.closers.unshift(() => peering.close());
  if (settings.rebalance !== "off" && peering.isSpread) serving.closers.unshift(rebalanced(server, peering, log));
  // Servers of one etcd that do not ask each other have each their own rollouts: none could count the nodes of all.
  const isForAll = options.store?.kind !== "etcd" || peering.isPossible;
  const { name: replica, rolloutPeers: peers } = peering;
  const shared = { registry, problem, replica, peers };
  const rollouts = isForAll && store ? await server.shareRollouts({ ...shared, store }) : undefined;
  if (rollouts !== undefined) {
    history.share(rollouts);
    serving.closers.unshift(() => rollouts.close());
  }
  const layers = [...apiLayers(settings, written, filledBy(folder, settings), { store, isDurable })];
  const live: LiveSettings = new LiveSettings(
    {
      ...{ server, history, references: options.references, isWhole: toFiles === undefined },
      folderWith(next, nothingServed) {
        // Not the folder itself: each would keep all that were served before it.
        const { revision, rolledBackBy } = live.folder;
        const before = { revision, rolledBackBy };
        const successor = { loaded: { ...loaded, settings: next }, hasLastGood: false, before };
        return new ServedFolder(options, { ...ofFolder, ...successor, nothingServed });
      },
      // The API looks at the list with each request.
      moved: (folder, next) =>
        void layers.splice(0, layers.length, ...apiLayers(next, written, filledBy(folder, next), { store, isDurable })),
    },
    settings,
    folder,
  );
  const compared = comparedFolders(serving, peering, () => folderVersions(server, folderLayers(live)));
  await serving.serve({
    ...{ server, registry, layers, peering, rollouts, tls },
    folderVersions: compared.own,
    storeAway: () => written.away,
    storeNumbers: state.numbers,
    stateTrouble: state.trouble,
    onRevision: revisions.on,
    settingsFile: loaded.file,
    groups: settings.groups,
    whereIs: (group, resource) => live.folder.whereIs(group, resource),
    sources: (about) => [
      live.folder.status([...about(...groupNames(live.settings)), ...compared.findings()], live.refused),
    ],
    async begin() {
      fromFolder = server.addSource(live.folder.source).catch((error: unknown) => {
        throw withAdvice(error);
      });
      // Both at once: no client gets the one without the other.
      await Promise.all([fromFolder, server.addSource(written)]);
      // Before that, nodes are told nothing, and no group has a snapshot.
      live.folder.checkNames();
    },
    banner: () => ({
      text: `serves ${directory}: ${counted(live.folder.files, "file")}`,
      word: "serving",
      fields: { directory },
    }),
  });
  serving.takeSettings = (next) => (next === undefined ? live.giveUp() : live.take(next as Settings));
}

interface PeeringNeeds {
  readonly state: StateInUse;
  readonly tls: ServerOptions["tls"];
  readonly log: Log;
}

function peeringOf(
  options: ServeOptions,
  { place, log: own }: Serving,
  { state: { store, directory, isDurable, written }, tls, log }: PeeringNeeds,
): Peering {
  return new Peering({
    ...{ shared: store?.shared, place, tls, listen: options.replica },
    state: directory === undefined ? undefined : { directory, isWritable: isDurable },
    advertise: options.advertise && formatAddress(options.advertise),
    gone(replica) {
      log.info({ replica: replica.name }, "another server of the store is gone");
      written.restartLeases();
    },
    silent(replica, reason) {
      if (reason === undefined) log.info({ replica }, "another server of the store answers again");
      else
        log.warn({ replica, reason }, "another server of the store does not answer: the rollout waits for its nodes");
    },
    problem: (finding) => finding && logFinding(own, finding),
  });
}

function optionsOfServer(options: ServeOptions, serving: Serving, settings: Settings): ServerOptions {
  const fromSettings = serverOptions(settings);
  workersOf({ workers: options.workers ?? settings.workers, store: options.store, replica: options.replica });
  const references = options.references ?? fromSettings.references ?? "refuse";
  // Where errors are skipped, both of two listeners are served, as those of the folder are.
  const addresses = settings.on_invalid === "skip" ? "warn" : "refuse";
  return { ...fromSettings, rest: serving.restOptions(fromSettings), references, addresses };
}

/** The layers of the folder, as the API shows them. */
function filledBy({ kept }: ServedFolder, settings: Settings): readonly FilledLayer[] {
  const folders = folderLayers({ settings });
  return folders.map((layer) => ({ name: layerInApi(layer, folders), layer, kept }));
}

/** Says in the log, and by findings, that another server of the store serves another folder. */
function comparedFolders({ log, closers }: Serving, peering: Peering, own: () => FolderVersions) {
  if (!peering.isPossible) return { own, findings: () => [] };
  let difference: Finding | undefined;
  const comparison = new FolderComparison({
    own,
    others: () => peering.folders(),
    changed(finding) {
      difference = finding;
      if (finding !== undefined) logFinding(log, finding);
      else log.info({}, "the folders of all servers of the store have the same content again");
    },
  });
  closers.unshift(() => comparison.close());
  return { own, findings: () => (difference === undefined ? [] : [difference]) };
}

/** Spreads clients over the servers of the store; returns what ends that. */
function rebalanced(server: XdsServer, peering: Peering, log: Log): () => Promise<void> {
  const rebalancing = new Rebalancing({
    server,
    others: () => peering.connections(),
    asked: (count) => log.info({ count }, "clients were asked to go: other servers of the store have fewer"),
  });
  return () => rebalancing.close();
}
