import { type Finding, mostFindings } from "@xdskit/api";
import { printable } from "../output/printable.js";
import type { Terminal } from "../output/terminal.js";
import { logFinding } from "../serving/logs/source-log.js";
import { runServing, type Serving, type ServingOptions } from "../serving/serving.js";
import { loadRelaySettings } from "../settings/load-settings.js";
import { groupOfFiles } from "../to-files/to-files.js";
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

/**
 * Relays until a signal comes; resolves to the exit status. The ports for clients open once the origin, or the cache,
 * has answered: a client never meets a relay that has nothing to say.
 */
export function runRelay(options: RelayCommandOptions, terminal: Terminal): Promise<number> {
  return runServing({ command: "relay" }, options, terminal, (serving) => startRelay(options, serving));
}

async function startRelay(options: RelayCommandOptions, serving: Serving): Promise<void> {
  const { toFiles } = options;
  const { log } = serving;
  const loaded = await loadRelaySettings(options.settings);
  const { registry, types } = await serving.definitions(loaded);
  const upstream = await upstreamSettings(options.upstream, loaded, types);
  const names = upstream.groups.map(({ name }) => name);
  // An Envoy that reads files asks for nothing: every named resource must be there.
  const written = toFiles && groupOfFiles(toFiles.group, names);
  const findings = new Map<string, Finding[]>();
  const relay = await createRelay({
    ...upstream,
    registry,
    groups: upstream.groups.map((group) => (group.name === written ? { ...group, prefetch: true } : group)),
    server: { ...upstream.server, types, rest: serving.restOptions(upstream.server) },
    report(group, found) {
      for (const finding of found) logFinding(log, finding);
      findings.set(group, [...(findings.get(group) ?? []), ...found].slice(-mostFindings));
    },
    rejected: (group, type, reason) =>
      log.warn(
        { group, type: type.name, reason: printable(reason) },
        "the origin is told what clients rejected (NACK)",
      ),
    cacheFailed: (group, error) =>
      log.error({ group, reason: (error as Error).message }, "the cache cannot be written; it is tried again"),
  });
  const { server, groups } = relay;
  serving.closers.push(relay.close);
  for (const { group, client } of groups) client.on(createUpstreamLog(log, group));
  await serving.serve({
    server,
    registry,
    settingsFile: loaded.file,
    groups: loaded.settings.groups,
    tls: upstream.server.tls,
    // They can be looked at. Resources of an origin have no revisions here, and no layer lies over them.
    layers: upstream.groups.map(({ layer }) => {
      const filled = { by: "source", kept: undefined } as const;
      return { name: layer, layer, place: null, durable: false, store: undefined, filled };
    }),
    whereIs: () => undefined,
    sources: (about) =>
      groups.map((relayed) => {
        const { group } = relayed;
        const found = [...(findings.get(group) ?? []), ...about(group)];
        return upstreamStatus(relayed, server.snapshotOf(group), found);
      }),
    metrics: createUpstreamMetrics(groups),
    begin: relay.start,
    whole(name) {
      const group = groups.find(({ group }) => group === name);
      return group?.isKnown === false ? group.known : undefined;
    },
    banner() {
      const origin = groups[0]?.client.status().map(({ server }) => server) ?? [];
      return { text: `relays ${origin.join(", ")}`, word: "relaying", fields: { origin } };
    },
  });
}
