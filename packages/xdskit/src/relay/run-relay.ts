import type { Finding } from "@xdskit/api";
import { lazyMetrics } from "../admin/lazy-metrics.js";
import { countsOfSnapshot } from "../output/counts.js";
import type { Log } from "../output/log.js";
import { printable } from "../output/printable.js";
import type { Terminal } from "../output/terminal.js";
import { version } from "../process/version.js";
import { exampleNode } from "../serving/example-node.js";
import { createJsonFindings } from "../serving/json-findings.js";
import { openAdmin, openListeners } from "../serving/listeners.js";
import { createEventLog } from "../serving/logs/event-log.js";
import { logFinding } from "../serving/logs/source-log.js";
import { warnOfOlderEnvoys } from "../serving/older-envoys.js";
import { type Running, runServing } from "../serving/run-serving.js";
import type { ServingOptions } from "../serving/serving-options.js";
import { watchSettings } from "../serving/settings-watch.js";
import { startSummary } from "../serving/start-summary.js";
import { registryWith } from "../settings/descriptors.js";
import { loadRelaySettings, pathFromSettings } from "../settings/load-settings.js";
import { typesFor } from "../settings/own-types.js";
import { groupOfFiles, startToFiles } from "../to-files/to-files.js";
import { createRelay } from "./relay.js";
import { type UpstreamArguments, upstreamSettings } from "./relay-settings.js";
import { createUpstreamLog } from "./upstream-log.js";
import { createUpstreamMetrics } from "./upstream-metrics.js";
import { upstreamStatus } from "./upstream-status.js";

/** The options of `relay`. */
export interface RelayCommandOptions extends ServingOptions {
  readonly settings?: string;
  readonly upstream: UpstreamArguments;
}

/** Nobody reads more about one group. */
const mostGroupFindings = 100;

/**
 * Relays until a signal comes; resolves to the exit status. The ports for clients open once the origin, or the cache,
 * has answered: a client never meets a relay that has nothing to say.
 */
export function runRelay(options: RelayCommandOptions, terminal: Terminal): Promise<number> {
  return runServing("relay", options, terminal, (running, log) => startRelay(options, running, log, terminal));
}

async function startRelay(options: RelayCommandOptions, running: Running, log: Log, terminal: Terminal): Promise<void> {
  const { toFiles } = options;
  const loaded = await loadRelaySettings(options.settings);
  running.closers.push(watchSettings(loaded.disk, log));
  const registry = await registryWith([
    ...(loaded.settings.descriptors ?? []).map((path) => pathFromSettings(loaded, path)),
    ...options.descriptors,
  ]);
  const types = typesFor(registry, loaded);
  const upstream = await upstreamSettings(options.upstream, loaded, types);
  const names = upstream.groups.map(({ name }) => name);
  // An Envoy that reads files asks for nothing: every named resource must be there.
  const written = toFiles && groupOfFiles(toFiles.group, names);
  const groups = upstream.groups.map((group) => (group.name === written ? { ...group, prefetch: true } : group));
  const findings = new Map<string, Finding[]>();
  const rest =
    options.restHold === undefined ? upstream.server.rest : { ...upstream.server.rest, holdMs: options.restHold };
  const relay = await createRelay({
    ...upstream,
    registry,
    groups,
    server: { ...upstream.server, types, rest },
    report(group, found) {
      for (const finding of found) logFinding(log, finding);
      findings.set(group, [...(findings.get(group) ?? []), ...found].slice(-mostGroupFindings));
    },
    rejected: (group, type, reason) =>
      log.warn(
        { group, type: type.name, reason: printable(reason) },
        "the origin is told what clients rejected (NACK)",
      ),
    cacheFailed: (group, error) =>
      log.error({ group, reason: (error as Error).message }, "the cache cannot be written; it is tried again"),
  });
  const { server } = relay;
  running.server = server;
  running.closers.push(relay.close);
  server.on(createEventLog(log, () => running.servesSince));
  const olderEnvoys = warnOfOlderEnvoys(server, log, { registry, whereIs: () => undefined });
  for (const { group, client } of relay.groups) client.on(createUpstreamLog(log, group));

  const readiness = () => running.readiness;
  const jsonFindings = createJsonFindings(server);
  const sources = () =>
    relay.groups.map((group) => {
      const older = olderEnvoys.findings(group.group);
      const found = [...(findings.get(group.group) ?? []), ...jsonFindings(group.group), ...older];
      return upstreamStatus(group, server.snapshotOf(group.group), found);
    });
  const metrics = lazyMetrics({ server, readiness, sources });
  const upstreamMetrics = createUpstreamMetrics(relay.groups);
  const admin = await openAdmin(options.admin, {
    readiness,
    sources,
    nodes: server,
    rollouts: server,
    stats: server.stats,
    async metrics() {
      const { contentType, text } = await metrics.read();
      return { contentType, text: text + upstreamMetrics() };
    },
  });
  running.admin = admin;

  await relay.start();
  if (toFiles !== undefined) {
    const begin = async () => {
      const files = await startToFiles({ ...toFiles, group: written, server, groups: names, registry, log });
      running.closers.push(files.close);
      await files.settled();
    };
    const group = relay.groups.find(({ group }) => group === groupOfFiles(toFiles.group, names));
    // Files without the unknown resources would remove them from their readers.
    if (group?.isKnown !== false) await begin();
    else
      void group.known
        .then(begin)
        .catch((error: Error) => log.error({ reason: error.message }, "files cannot be written"));
  }
  const open = await openListeners(running, server, admin, options, {
    terminal,
    log,
    isSecured: upstream.server.tls !== undefined,
  });
  if (open === undefined) return;
  const served = server.stats().groups.map(({ name }) => ({ name, snapshot: server.snapshotOf(name) }));
  if (options.logFormat === "json") {
    const counts = Object.fromEntries(
      served.map((group) => [group.name, Object.fromEntries(countsOfSnapshot(group.snapshot))]),
    );
    log.info({ version, origin: originsOf(relay), settings: loaded.file, groups: counts }, "relaying");
  } else if (options.logLevel !== "silent") {
    const what = `relays ${originsOf(relay).join(", ")}`;
    const { tls } = upstream.server;
    const node = exampleNode(loaded.settings.groups);
    terminal.err(
      startSummary({ what, settingsFile: loaded.file, groups: served, grpc: open.grpc, admin: open.admin, node, tls }),
    );
  }
  running.readiness = "ready";
  running.servesSince = new Date();
}

function originsOf({ groups }: Awaited<ReturnType<typeof createRelay>>): readonly string[] {
  return groups[0]?.client.status().map(({ server }) => server) ?? [];
}
