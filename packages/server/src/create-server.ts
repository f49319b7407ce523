import { createDanglingNames } from "@xdskit/protocol";
import { createConfig } from "./configuration/create-config.js";
import { checkListener, checkServerCall, checkSource } from "./configuration/option-tables.js";
import type { ServerOptions, XdsServer } from "./contracts/xds-server.js";
import { createAdmission, createDiscovery, createOtherServices } from "./core/answering.js";
import { createClose } from "./core/closing.js";
import { createCore, readOptions } from "./core/server-core.js";
import { serverStats } from "./core/server-stats.js";
import { createListeners } from "./listeners.js";
import type { LoadReports } from "./load-reports/load-reports.js";
import type { NodeReports } from "./node-status/node-reports.js";
import { Configuring, type Published } from "./publication/configuring.js";
import { SharedRolloutHub } from "./rollouts/shared/shared-rollouts.js";
import { reconfigure } from "./streams/reconfigure.js";

/** Makes a server. Throws an XdskitError if an option, or the settings of the groups or of load reports, are wrong. */
export function createServer(options: ServerOptions = {}): XdsServer {
  const settings = readOptions(options);
  const core = createCore(settings);
  const { types, limits, keepalive, clock } = settings;
  const { events, counters, layers, publication, arrivals, targets, nodeReports, troubles } = core;
  const discovery = createDiscovery(settings, core, () => configuring.catchUp());
  const admission = createAdmission(settings, core, () => discovery.open + services.open);
  const { callInfo, refusedCall, refuseIfClosed } = admission;
  const { loadReports, services } = createOtherServices(settings, core, admission);
  const listeners = createListeners({
    ...{ types, clock, events, limits, keepalive, services, callInfo, refuseIfClosed },
    accept: admission.admitting(discovery.accept),
    polls: discovery.polls,
    refused: (peer, code, message) => refusedCall(callInfo("gRPC", peer), { code, message }),
    rest: settings.rest,
    tls: options.tls,
  });
  const configuring = new Configuring({
    ...{ layers, publication, progress: core.progress, events, counters, troubles, authorities: settings.authorities },
    reading: { registry: options.registry, types },
    judges: () => core.judges(),
    prepared: targets.prepare,
    published: services.update,
  });
  const arrival = ({ revision, change }: Published) => arrivals.of(revision, change);
  const { sources } = configuring;
  const close = createClose({ core, discovery, admission, services, loadReports, listeners, sources });

  return {
    config: createConfig(
      core.config,
      (...change) => arrival(configuring.apply(...change)),
      (layer) => arrival(configuring.drop(layer)),
      (layer, awaited) => publication.awaits(layer, awaited),
    ),
    types,
    get referencesExcept() {
      return settings.referencesExcept;
    },
    async addSource(source) {
      checkSource(source);
      refuseIfClosed();
      await configuring.addSource(source);
    },
    reconfigure(change) {
      refuseIfClosed();
      reconfigure(change, { settings, core, orders: discovery.orders, loadReports });
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
    close,
    on(...listening) {
      checkListener(listening[0]);
      return events.on(...listening);
    },
    stats: () => ({ ...serverStats(core), certificate: listeners.certificate() }),
    snapshotOf: (group) => publication.snapshotOf(group),
    danglingNames: (group) =>
      settings.references === "warn" ? undefined : publication.indexOf(group, createDanglingNames),
    layerSnapshot: (layer) => layers.get(layer),
    preview: configuring.preview,
    ...checkedNodeReports(nodeReports),
    clientStatusPage: services.statusPage,
    nodeHistory: (id) => core.histories.moments(id) ?? [],
    contentArrival: (contents) => arrivals.ofContents(contents),
    rollouts: targets.rollouts,
    async shareRollouts(sharing) {
      refuseIfClosed();
      const hub = await SharedRolloutHub.open(sharing, clock, types);
      targets.share(hub);
      return hub;
    },
    quarantines: targets.quarantines,
    ...checkedLoadReports(loadReports),
  };
}

function checkedNodeReports(nodeReports: NodeReports): NodeReports {
  return {
    ...nodeReports,
    nodes(filter = {}) {
      checkServerCall("server.nodes", filter);
      return nodeReports.nodes(filter);
    },
    nodeConfig(id, filter = {}) {
      checkServerCall("server.nodeConfig", filter);
      return nodeReports.nodeConfig(id, filter);
    },
  };
}

function checkedLoadReports({ reports, totals }: LoadReports): Pick<XdsServer, "loadReports" | "loadTotals"> {
  return {
    loadReports(filter = {}) {
      checkServerCall("server.loadReports", filter);
      return reports(filter);
    },
    loadTotals: totals,
  };
}
