import { logFinding } from "@xdskit/admin/log";
import { printable } from "@xdskit/api";
import { createRelay, createUpstreamMetrics } from "@xdskit/relay";
import { restOptions, runServing, type Serving, type ServingOptions } from "../daemon/serving.js";
import { groupOfFiles } from "../daemon/to-files/to-files.js";
import type { Terminal } from "../output/terminal.js";
import { loadRelaySettings } from "../settings/load-settings.js";
import type { RelaySettings } from "../settings/schema.js";
import { takesRelaySettings } from "./live-relay-settings.js";
import { servedSettings, type UpstreamArguments, upstreamSettings } from "./relay-settings.js";
import { openRelayState, stateOfRelay } from "./relay-state.js";
import { createUpstreamLog } from "./upstream-log.js";
import { upstreamStatus } from "./upstream-status.js";

export interface RelayCommandOptions extends ServingOptions {
  readonly settings?: string;
  readonly upstream: UpstreamArguments;
  /** Where revisions are kept, or `off`; undefined: a folder of the origin's own. */
  readonly state?: string;
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
  const inFiles = toFiles && groupOfFiles(toFiles.group, names);
  const relay = await createRelay({
    ...upstream,
    registry,
    groups: upstream.groups.map((group) => (group.name === inFiles ? { ...group, prefetch: true } : group)),
    server: { ...upstream.server, ...serving.callers, types, rest: restOptions(upstream.server, options) },
    report(_, found) {
      for (const finding of found) logFinding(log, finding);
    },
    rejected: (group, type, reason) =>
      log.warn(
        "origin-told-rejection",
        { group, type: type.name, reason: printable(reason) },
        "the origin is told what clients rejected (NACK)",
      ),
    cacheFailed: (group, error) =>
      log.error(
        "cache-failed",
        { group, reason: (error as Error).message },
        "the cache cannot be written; it is tried again",
      ),
  });
  const { server, groups } = relay;
  serving.closers.push(relay.close);
  for (const { group, client } of groups) client.on(createUpstreamLog(log, group));
  const own = stateOfRelay(upstream, loaded.file);
  const ofState = { option: options.state, own, settings: servedSettings(loaded.settings), registry, log };
  const { state, kept, layers, revisions, begin } = await openRelayState(relay, ofState);
  const { written, history } = state;
  serving.closers.push(() => state.close());
  await serving.serve({
    server,
    registry,
    settingsFile: loaded.file,
    groups: loaded.settings.groups,
    tls: upstream.server.tls,
    layers,
    onRevision: revisions.on,
    storeAway: () => written.away,
    stateTrouble: state.trouble,
    storeNumbers: state.numbers,
    whereIs: () => undefined,
    sources: (about) =>
      groups.map((relayed) => {
        const { group } = relayed;
        const of = kept.get(group);
        const found = [...relayed.findings, ...(of?.problems ?? []), ...about(group)];
        return upstreamStatus(relayed, server.snapshotOf(group), found, of?.rolledBack);
      }),
    metrics: createUpstreamMetrics(groups),
    begin,
    whole(name) {
      const group = groups.find(({ group }) => group === name);
      return group?.isKnown === false ? group.known : undefined;
    },
    banner() {
      const origin = groups[0]?.client.status().map(({ server }) => server) ?? [];
      return { text: `relays ${origin.join(", ")}`, word: "relaying", fields: { origin } };
    },
  });
  const take = takesRelaySettings({ server, history }, loaded.settings);
  // Files for Envoy have what the groups had at the start.
  if (toFiles === undefined)
    serving.takeSettings = (edited) => (edited === undefined ? undefined : take(edited as RelaySettings));
}
