import { XdskitError } from "@xdskit/api";
import { createFolderSource, createServer, type FolderSummary } from "@xdskit/server";
import { lazyMetrics } from "../admin/lazy-metrics.js";
import { pendingSource, sourceAfter } from "../admin/source-status.js";
import { mustBeFolder } from "../files/must-be-folder.js";
import { counted, countsOfSnapshot } from "../output/counts.js";
import type { Log } from "../output/log.js";
import type { Terminal } from "../output/terminal.js";
import { version } from "../process/version.js";
import { exampleNode } from "../serving/example-node.js";
import { createJsonFindings } from "../serving/json-findings.js";
import { announceAdmin, openAdmin, openListeners } from "../serving/listeners.js";
import { createEventLog, loggedAt } from "../serving/logs/event-log.js";
import { createSourceLog, logFinding } from "../serving/logs/source-log.js";
import { warnOfOlderEnvoys } from "../serving/older-envoys.js";
import { type Running, runServing } from "../serving/run-serving.js";
import type { ServingOptions } from "../serving/serving-options.js";
import { watchSettings } from "../serving/settings-watch.js";
import { startSummary } from "../serving/start-summary.js";
import { registryWith } from "../settings/descriptors.js";
import { ignoredFiles, loadSettings, pathFromSettings } from "../settings/load-settings.js";
import { typesFor } from "../settings/own-types.js";
import {
  folderSettings,
  groupNames,
  groupsOfLayers,
  layersOf,
  serverOptions,
  serverTls,
  whereServed,
} from "../settings/server-settings.js";
import { mustNotBeServed } from "../to-files/not-served.js";
import { startToFiles } from "../to-files/to-files.js";
import { createDanglingCheck } from "./dangling-check.js";

/** The options of `serve`. */
export interface ServeOptions extends ServingOptions {
  readonly directory: string;
  readonly settings?: string;
  /** Milliseconds; undefined: what the settings say. */
  readonly settle?: number;
  readonly allowEmpty: boolean;
  readonly allowPartial: boolean;
  /** Undefined: what the settings say. */
  readonly workers?: number | "auto";
}

/**
 * Serves until a signal comes; resolves to the exit status.
 *
 * The ports for clients open only once the first configuration is applied: a client never meets a server with nothing,
 * or only a part. The admin port is open from the start, and `/readyz` answers 503 until then, with the errors that
 * must be fixed first.
 */
export function runServe(options: ServeOptions, terminal: Terminal): Promise<number> {
  return runServing("serve", options, terminal, (running, log) => startServe(options, running, log, terminal));
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

async function startServe(options: ServeOptions, running: Running, log: Log, terminal: Terminal): Promise<void> {
  // First: `--allow-empty` waits for a missing folder, but not for a file to become a folder.
  await mustBeFolder(options.directory, true);
  const loaded = await loadSettings(options.directory, options.settings);
  const { settings } = loaded;
  running.closers.push(watchSettings(loaded.disk, log));
  if (options.toFiles !== undefined) {
    const written = options.toFiles.directory;
    await mustNotBeServed({ served: options.directory, folders: layersOf(settings), written });
  }
  const registry = await registryWith([
    ...(settings.descriptors ?? []).map((path) => pathFromSettings(loaded, path)),
    ...options.descriptors,
  ]);
  const types = typesFor(registry, loaded);
  const fromSettings = serverOptions(settings);
  const rest = options.restHold === undefined ? fromSettings.rest : { ...fromSettings.rest, holdMs: options.restHold };
  const workers = options.workers ?? fromSettings.workers;
  const tls = serverTls(loaded);
  const server = createServer({ ...fromSettings, types, registry, rest, workers, tls });
  running.server = server;
  server.on(
    createEventLog(
      log,
      () => running.servesSince,
      (group, type, name) => whereServed(settings, group, (layer) => last?.whereIs(layer, { type, key: name })),
    ),
    loggedAt(options.logLevel),
  );
  const olderEnvoys = warnOfOlderEnvoys(server, log, {
    registry,
    whereIs: (group, resource) => whereServed(settings, group, (layer) => last?.whereIs(layer, resource)),
  });
  let revision = 0;
  server.on(
    (event) => {
      if (event.kind === "configuration-applied") revision = event.revision;
    },
    (kind) => kind === "configuration-applied",
  );

  let last: FolderSummary | undefined;
  const logReading = createSourceLog(log, ({ changedLayers }) => ({
    revision,
    groups: groupsOfLayers(settings, changedLayers),
  }));
  const folder = folderSettings(settings);
  const source = createFolderSource({
    ...folder,
    directory: options.directory,
    ignore: ignoredFiles(loaded),
    allowEmpty: options.allowEmpty,
    allowPartial: options.allowPartial,
    settleMs: options.settle ?? folder.settleMs,
    read: { registry, types },
    onRead: (summary) => {
      last = summary;
      status = sourceAfter(status, summary, new Date());
      logReading(summary);
      if (!summary.serving) announceAdmin(running, terminal);
      checkNames();
    },
  });
  const dangling = createDanglingCheck({
    groups: groupNames(settings),
    snapshotOf: server.snapshotOf,
    types: server.types,
    whereIs: (group, resource) => whereServed(settings, group, (layer) => last?.whereIs(layer, resource)),
  });
  const checkNames = () => {
    // While files with errors are left out, many names are missing only for that reason. Skipped resources count as
    // missing.
    const isWhole = last?.skipped !== undefined && last.applied;
    if (!isWhole && last?.findings.some(({ severity }) => severity === "error")) return;
    for (const finding of dangling.update()) logFinding(log, finding);
  };
  let status = pendingSource(source.name, options.directory);
  const jsonFindings = createJsonFindings(server);
  const sources = () => {
    const inJson = new Set(groupNames(settings).flatMap(jsonFindings));
    return [
      { ...status, findings: [...status.findings, ...dangling.findings(), ...olderEnvoys.findings(), ...inJson] },
    ];
  };
  const readiness = () => running.readiness;
  const metrics = lazyMetrics({ server, readiness, sources });
  const admin = await openAdmin(options.admin, {
    readiness,
    sources,
    metrics: metrics.read,
    nodes: server,
    rollouts: server,
    stats: server.stats,
  });
  running.admin = admin;

  await server.addSource(source).catch((error: unknown) => {
    throw withAdvice(error);
  });
  // Before that, nodes are told nothing, and no group has a snapshot.
  checkNames();
  if (options.toFiles !== undefined) {
    const groups = groupNames(settings);
    const files = await startToFiles({ ...options.toFiles, server, groups, registry, log });
    running.closers.push(files.close);
    await files.settled();
  }
  const open = await openListeners(running, server, admin, options, { terminal, log, isSecured: tls !== undefined });
  if (open === undefined) return;
  const groups = server.stats().groups.map(({ name }) => ({ name, snapshot: server.snapshotOf(name) }));
  if (options.logFormat === "json") {
    const counts = Object.fromEntries(
      groups.map((group) => [group.name, Object.fromEntries(countsOfSnapshot(group.snapshot))]),
    );
    log.info({ version, directory: options.directory, settings: loaded.file, groups: counts }, "serving");
  } else if (options.logLevel !== "silent") {
    const what = `serves ${options.directory}: ${counted(last?.files ?? 0, "file")}`;
    const node = exampleNode(settings.groups);
    terminal.err(
      startSummary({ what, settingsFile: loaded.file, groups, grpc: open.grpc, admin: open.admin, node, tls }),
    );
  }
  running.readiness = "ready";
  running.servesSince = new Date();
}
