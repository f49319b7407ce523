import { createConfig } from "./configuration/create-config.js";
import { checkListener, checkSource } from "./configuration/option-tables.js";
import { createIsOwnName } from "./configuration/own-names.js";
import type { ServerOptions } from "./contracts/server-options.js";
import type { Source } from "./contracts/source.js";
import type { XdsServer } from "./contracts/xds-server.js";
import { createAdmission, createDiscovery, createOtherServices } from "./core/answering.js";
import { createClose } from "./core/closing.js";
import { createCore } from "./core/server-core.js";
import { readOptions } from "./core/server-settings.js";
import { serverStats } from "./core/server-stats.js";
import { defaultParts } from "./default-parts.js";
import { createListeners } from "./listeners.js";
import { catchUpAll } from "./publication/catch-up.js";
import { Configuring, type Published } from "./publication/configuring.js";
import { reconfigure } from "./streams/reconfigure.js";

/**
 * Makes a server. Throws an XdskitError if an option, or the settings of the groups or of load reports, are wrong.
 *
 * @example
 * ```ts
 * import { edsCluster, loadAssignment } from "@xdskit/api/builders";
 * import { createServer } from "@xdskit/server";
 *
 * const server = createServer({ references: "refuse" });
 * server.config.set([
 *   edsCluster({ name: "web" }),
 *   loadAssignment({ clusterName: "web", endpoints: [{ address: "10.0.0.1", portValue: 8080 }] }),
 * ]);
 * const { grpc } = await server.listen({ grpc: "127.0.0.1:18000" });
 * ```
 */
export function createServer(options: ServerOptions = {}): XdsServer {
  const settings = readOptions(options);
  const { types, authorities } = settings;
  const core = createCore(settings, options.parts ?? defaultParts);
  const { events, counters, layers, publication, parts, calls, troubles } = core;
  const sources = new Set<Source>();
  const discovery = createDiscovery(settings, core, () => catchUpAll([...sources, parts.policy]));
  const admission = createAdmission(settings, core);
  const services = createOtherServices(settings, core, admission);
  admission.count(discovery);
  admission.count(services);
  const { refusedCall, refuseIfClosed } = admission;
  const listeners = createListeners({
    ...settings,
    events,
    services,
    refuseIfClosed,
    callInfo: calls.info,
    accept: admission.admitting(discovery.accept),
    polls: discovery.polls,
    refused: (peer, code, message) => refusedCall(calls.info("gRPC", peer), { code, message }),
    tls: options.tls,
  });
  const configuring = new Configuring({
    layers,
    publication,
    sources,
    events,
    counters,
    troubles,
    authorities,
    judges: parts.judges,
    progress: parts.progress,
    isOwnName: createIsOwnName(parts.supply?.types ?? new Set(), authorities),
    reading: { registry: options.registry, types },
    prepared: parts.policy.prepare,
    published: services.update,
  });
  const { arrivalOf, ...answers } = parts.answers;
  const arrival = ({ revision, change }: Published) => arrivalOf(revision, change);

  return {
    ...answers,
    config: createConfig(
      core.config,
      (...change) => arrival(configuring.apply(...change)),
      (layer) => arrival(configuring.drop(layer)),
      (layer, awaited) => publication.awaits(layer, awaited),
    ),
    types,
    get referencesExcept() {
      return new Set(settings.live.referencesExcept);
    },
    async addSource(source) {
      checkSource(source);
      refuseIfClosed();
      await configuring.addSource(source);
    },
    reconfigure(change) {
      refuseIfClosed();
      reconfigure(change, { settings, core, orders: discovery.orders });
      configuring.retryRefused();
    },
    checkChange(updates) {
      refuseIfClosed();
      return configuring.check(updates);
    },
    listen: listeners.listen,
    listenOn: listeners.listenOn,
    pollOn: listeners.pollOn,
    connections: listeners.connections,
    askToGo: listeners.askToGo,
    close: createClose({ core, discovery, admission, services, listeners, sources }),
    on(...listening) {
      checkListener(listening[0]);
      return events.on(...listening);
    },
    stats: () => ({ ...serverStats(core), certificate: listeners.certificate() }),
    snapshotOf(group) {
      const [whole] = publication.snapshotsOf(group);
      return whole;
    },
    snapshotsOf: (group) => [...new Set(publication.snapshotsOf(group))],
    layerSnapshot: (layer) => layers.get(layer),
    preview: configuring.preview,
    async shareRollouts(sharing) {
      refuseIfClosed();
      return await answers.shareRollouts(sharing);
    },
  };
}
