import { setTimeout as delay } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import {
  type Addresses,
  createFolderSource,
  createServer,
  type FolderSummary,
  listenError,
  type XdsServer,
} from "@xdskit/server";
import { type Address, formatAddress, parseAddress } from "@xdskit/server/address";
import { type AdminServer, type Readiness, startAdminServer } from "../admin/admin-server.js";
import { createMetrics } from "../admin/metrics.js";
import { pendingSource, sourceAfter } from "../admin/source-status.js";
import { registryWith } from "../descriptors.js";
import { exitStatus } from "../exit-status.js";
import { countsOfSnapshot } from "../output/counts.js";
import { reportFailure } from "../output/failure.js";
import { createLog, type Log, type LogFormat, type LogLevel } from "../output/log.js";
import type { Terminal } from "../output/terminal.js";
import { ignoredFiles, loadSettings, pathFromSettings } from "../settings/load-settings.js";
import { folderSettings, groupNames, layersOf, serverOptions, whereServed } from "../settings/server-settings.js";
import { version } from "../version.js";
import { createDanglingCheck } from "./dangling-check.js";
import { createEventLog } from "./event-log.js";
import { listenForStop } from "./signals.js";
import { createSourceLog, logFinding } from "./source-log.js";
import { startSummary } from "./start-summary.js";

/** What `serve` was asked for. */
export interface ServeOptions {
  readonly directory: string;
  readonly grpc: Address;
  /** Undefined: nowhere. */
  readonly rest: Address | undefined;
  /** Milliseconds; undefined: what the settings say. */
  readonly restHold?: number;
  readonly admin: Address;
  readonly settings?: string;
  /** Milliseconds; undefined: what the settings say. */
  readonly settle?: number;
  readonly allowEmpty: boolean;
  readonly descriptors: readonly string[];
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** What the contract gives a stop at most is 5 s: streams and transports get this, the rest is for what stands around them. */
const stopMs = 4_000;

/**
 * Serves until a signal comes; resolves to the exit status.
 *
 * The gRPC port opens only after the first configuration was read: a client never meets a server that cannot tell it anything, and
 * when there is nothing to serve nobody was let in. The admin port is open from the start, `/readyz` says 503 until then.
 */
export async function runServe(options: ServeOptions, terminal: Terminal): Promise<number> {
  const signals = listenForStop();
  const log = createLog(terminal, { level: options.logLevel, format: options.logFormat });
  const running: Running = { readiness: "starting", server: undefined, admin: undefined };
  try {
    const outcome = await Promise.race([
      start(options, running, log, terminal).then(() => "ready" as const),
      signals.stop.then(() => "stopped" as const),
    ]);
    if (outcome === "ready") terminal.out("ready\n");
    const signal = await signals.stop;
    log.info({ signal }, "stopping: streams are ended");
    await stop(running);
    return exitStatus.ok;
  } catch (error) {
    reportFailure(terminal, "serve", error);
    await stop(running);
    return isAddressError(error) ? exitStatus.failed : exitStatus.usage;
  } finally {
    signals.release();
  }
}

interface Running {
  readiness: Readiness;
  server: XdsServer | undefined;
  admin: AdminServer | undefined;
}

async function start(options: ServeOptions, running: Running, log: Log, terminal: Terminal): Promise<void> {
  const loaded = await loadSettings(options.directory, options.settings);
  const { settings } = loaded;
  const registry = await registryWith([
    ...(settings.descriptors ?? []).map((path) => pathFromSettings(loaded, path)),
    ...options.descriptors,
  ]);
  const fromSettings = serverOptions(settings);
  const rest = options.restHold === undefined ? fromSettings.rest : { ...fromSettings.rest, holdMs: options.restHold };
  const server = createServer({ ...fromSettings, registry, rest });
  running.server = server;
  server.on(createEventLog(log));

  let last: FolderSummary | undefined;
  const logReading = createSourceLog(log);
  const folder = folderSettings(settings);
  const source = createFolderSource({
    ...folder,
    directory: options.directory,
    layers: layersOf(settings),
    ignore: ignoredFiles(loaded),
    allowEmpty: options.allowEmpty,
    settleMs: options.settle ?? folder.settleMs,
    read: { registry },
    onRead: (summary) => {
      last = summary;
      status = sourceAfter(status, summary, new Date());
      // Before that, what is wrong is told once: with the start, or with the failure.
      if (running.readiness === "ready" || summary.applied) logReading(summary);
      checkNames();
    },
  });
  const dangling = createDanglingCheck({
    ...{ groups: groupNames(settings), snapshotOf: server.snapshotOf, types: server.types },
    whereIs: (group, resource) => whereServed(settings, group, (layer) => last?.whereIs(layer, resource)),
  });
  const checkNames = () => {
    // While files are left out for their errors, much of what is named is missing for that reason alone.
    if (last?.findings.some(({ severity }) => severity === "error")) return;
    for (const finding of dangling.update()) logFinding(log, finding);
  };
  let status = pendingSource(source.name, options.directory);
  const sources = () => [{ ...status, findings: [...status.findings, ...dangling.findings()] }];
  const readiness = () => running.readiness;
  const metrics = createMetrics({ server, readiness, sources });
  running.admin = await startAdminServer(options.admin, {
    readiness,
    sources,
    metrics: metrics.read,
    nodes: server,
    rollouts: server,
  }).catch((cause) => {
    throw cannotListen("--admin", options.admin, cause);
  });

  await server.addSource(source);
  // Before that, nodes are told nothing, and no group has a snapshot.
  checkNames();
  const grpc = await listen(server, "grpc", options.grpc);
  const polled = options.rest && (await listen(server, "rest", options.rest));
  if (running.readiness === "stopping") return;
  const listeners = { grpc, rest: polled, admin: running.admin.address };
  for (const [name, address] of Object.entries(listeners)) {
    if (address !== undefined) terminal.out(`${name} listening on ${formatAddress(address)}\n`);
  }
  const groups = server.stats().groups.map(({ name }) => ({ name, snapshot: server.snapshotOf(name) }));
  if (options.logFormat === "json") {
    const counts = Object.fromEntries(
      groups.map((group) => [group.name, Object.fromEntries(countsOfSnapshot(group.snapshot))]),
    );
    log.info({ version, directory: options.directory, settings: loaded.file, groups: counts }, "serving");
  } else if (options.logLevel !== "silent") {
    const { directory } = options;
    const files = last?.files ?? 0;
    terminal.err(
      startSummary({ directory, settingsFile: loaded.file, files, groups, grpc, admin: running.admin.address }),
    );
  }
  running.readiness = "ready";
}

async function listen(server: XdsServer, transport: "grpc" | "rest", address: Address): Promise<Address> {
  const listening: Addresses = await server.listen({ [transport]: formatAddress(address) }).catch((error) => {
    throw isAddressError(error) ? cannotListen(`--${transport}`, address, error.cause) : error;
  });
  return parseAddress(listening[transport] ?? "") ?? address;
}

/** The admin pages last until the streams have ended: `/readyz` says 503 meanwhile. */
async function stop(running: Running): Promise<void> {
  running.readiness = "stopping";
  const closing = Promise.allSettled([running.server?.close({ timeoutMs: stopMs })]).then(() => running.admin?.close());
  await Promise.race([closing, delay(stopMs + 500, undefined, { ref: false })]);
}

function cannotListen(option: string, address: Address, cause: unknown): XdskitError {
  return listenError(`${formatAddress(address)} (${option})`, cause as Error);
}

function isAddressError(error: unknown): error is XdskitError {
  return (
    error instanceof XdskitError &&
    (error.code === "XDSKIT_ADDRESS_IN_USE" || error.code === "XDSKIT_ADDRESS_UNAVAILABLE")
  );
}
