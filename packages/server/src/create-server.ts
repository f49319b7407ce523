import { createResourceJson, resourceTypes, systemClock, XdskitError } from "@xdskit/api";
import { createFairQueue } from "@xdskit/grpc-server";
import { statusCode } from "@xdskit/protocol";
import { AddressJudge, type AddressJudgeOptions } from "./addresses/address-judge.js";
import { Arrivals } from "./arrivals/arrivals.js";
import { type ConfigOptions, createConfig } from "./configuration/create-config.js";
import { createGroups } from "./configuration/groups.js";
import { createLayers, type LayerChange, type Layers } from "./configuration/layers.js";
import { checkOptions } from "./configuration/option-checks.js";
import { checkCall, checkListener, checkSource } from "./configuration/option-tables.js";
import { createEvents, type Events } from "./contracts/events.js";
import type { Source } from "./contracts/source.js";
import { layerStats, type ServerStats } from "./contracts/stats.js";
import type { CallInfo } from "./contracts/stream-info.js";
import type { Accept, Refusal } from "./contracts/transport.js";
import type { LiveOptions, ServerOptions, XdsServer } from "./contracts/xds-server.js";
import { defaultEventLoopOptions } from "./event-loop/event-loop-stats.js";
import { createEventLoopWatch } from "./event-loop/event-loop-watch.js";
import { createListeners } from "./listeners.js";
import { createLoadReports } from "./load-reports/load-reports.js";
import { createLedger, type Ledger } from "./node-status/ledger.js";
import type { LedgerStream } from "./node-status/ledger-stream.js";
import { momentOf } from "./node-status/moment.js";
import { NodeHistories } from "./node-status/node-histories.js";
import { OnDemand } from "./on-demand/on-demand.js";
import { Configuring, type Judge } from "./publication/configuring.js";
import { type Counters, createCounters } from "./publication/counters.js";
import { Publication } from "./publication/publication.js";
import { SourceTroubles } from "./publication/source-troubles.js";
import { ReferenceJudge, type ReferenceJudgeOptions } from "./references/reference-judge.js";
import { createJsonNotes } from "./rest-polls/json-notes.js";
import { Polls } from "./rest-polls/polls.js";
import { createSharedBodies } from "./rest-polls/shared-bodies.js";
import { SharedRolloutHub } from "./rollouts/shared/shared-rollouts.js";
import { createViews } from "./rollouts/views.js";
import { createServices } from "./services/services.js";
import { defaultKeepalive } from "./settings/keepalive.js";
import { defaultServerLimits, type ServerLimits } from "./settings/limits.js";
import { checkLoadReportSettings } from "./settings/load-report-settings.js";
import { defaultRestOptions } from "./settings/rest-options.js";
import { UnaryFetch } from "./streams/fetch.js";
import { createHeldMemory } from "./streams/held-memory.js";
import { createNodeOrders } from "./streams/node-orders.js";
import { reconfigure } from "./streams/reconfigure.js";
import { createRejections } from "./streams/rejections.js";
import { serverRefusal } from "./streams/server-refusal.js";
import { Session } from "./streams/session.js";
import type { SessionContext } from "./streams/session-context.js";

/** Makes a server. Throws an XdskitError if an option, or the settings of the groups or of load reports, are wrong. */
export function createServer(options: ServerOptions = {}): XdsServer {
  const settings = readOptions(options);
  const core = createCore(settings);
  const { types, limits, keepalive, clock } = settings;
  const { events, counters, layers, publication, arrivals, loop, views, ledger } = core;
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
    ...{ layers, publication, arrivals, events, counters, authorities: settings.authorities },
    troubles: core.troubles,
    judges: () => core.judges(),
    prepared: views.prepare,
    published: services.update,
  });
  let closing: Promise<void> | undefined;

  async function shutDown(timeoutMs: number): Promise<void> {
    loop?.stop();
    arrivals.close();
    views.close();
    discovery.polls.close();
    // This comes first: a client that sees its stream end before its connection would open another stream there, in
    // vain.
    const transportsClosed = listeners.close(timeoutMs);
    services.stop();
    for (const session of core.sessions) session.end(statusCode.ok, "");
    loadReports.close();
    await allClosed(transportsClosed, configuring.sources, timeoutMs, () => core.end());
  }

  const server: XdsServer = {
    config: createConfig(core.config, configuring.apply, configuring.drop, (layer, awaited) => {
      publication.awaits(layer, awaited);
    }),
    types,
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
    async close(options = {}) {
      checkCall("server.close", options);
      const { timeoutMs = 4_000 } = options;
      admission.refuseFurther();
      closing ??= shutDown(timeoutMs);
      await closing;
    },
    on(...listening) {
      checkListener(listening[0]);
      const stop = events.on(...listening);
      return stop;
    },
    stats: () => ({ ...statsOf(core), certificate: listeners.certificate() }),
    snapshotOf: (group) => publication.snapshotOf(group),
    danglingNames: (group) => (settings.references === "refuse" ? publication.namesOf(group) : undefined),
    layerSnapshot: (layer) => layers.get(layer),
    preview: configuring.preview,
    ...checkedLedger(ledger),
    clientStatusPage: services.statusPage,
    nodeHistory: (id) => core.histories.moments(id) ?? [],
    contentArrival: (contents) => arrivals.of(arrivals.revision, contents),
    rollouts: views.rollouts,
    shareRollouts: sharing(settings, core, refuseIfClosed),
    quarantines: views.quarantines,
    loadReports(filter = {}) {
      checkCall("server.loadReports", filter);
      return loadReports.reports(filter);
    },
    loadTotals: loadReports.totals,
  };
  return server;
}

function sharing({ clock, types }: Settings, { views }: Core, refuseIfClosed: () => void): XdsServer["shareRollouts"] {
  return async (sharing) => {
    refuseIfClosed();
    const hub = await SharedRolloutHub.open(sharing, clock, types);
    views.share(hub);
    return hub;
  };
}

type Settings = ReturnType<typeof readOptions>;
type Core = ReturnType<typeof createCore>;
type StreamAdmission = ReturnType<typeof createAdmission>;

/** Checks the options and fills in the defaults. */
function readOptions(options: ServerOptions) {
  checkCall("createServer", options);
  checkOptions(options);
  const loadReports = options.loadReports || undefined;
  checkLoadReportSettings(loadReports, "loadReports");
  return {
    options,
    types: options.types ?? resourceTypes,
    limits: { ...defaultServerLimits, ...options.limits } as ServerLimits,
    keepalive: { ...defaultKeepalive, ...options.keepalive },
    rest: { ...defaultRestOptions, ...options.rest },
    authorities: options.authorities === undefined ? undefined : new Set(options.authorities),
    references: options.references ?? "warn",
    live: { groups: options.groups, rollout: options.rollout, onReject: options.onReject } as LiveOptions,
    loadReports,
    clock: options.clock ?? systemClock,
  };
}

/** Makes the parts between the configuration and the streams. */
function createCore(settings: Settings) {
  const { options, types, limits, clock, authorities } = settings;
  const counters = createCounters();
  const events = createEvents();
  const layers = createLayers();
  const config: ConfigOptions = { types, registry: options.registry, validate: options.validate ?? true };
  /** After the end no client is left to be told anything. */
  let over = false;
  const onDemand = createDemand(
    { settings: options.onDemand, layers, config, authorities, clock, events },
    (changes) => {
      if (changes.length > 0 && !over) publication.publish(changes);
    },
  );
  const views = createViews(clock, events);
  const groups = createGroups(options.groups, options.ttl, options);
  const publication = new Publication(layers, groups, limits, views, clock, onDemand);
  const sessions = new Set<Session>();
  const streams: Iterable<LedgerStream> = sessions;
  return {
    ...{ counters, events, layers, config, onDemand, views, publication, sessions, streams },
    judges: createJudges(settings, { layers, publication, onDemand }),
    loop: watchEventLoop(options.eventLoop, counters, events),
    ledger: createLedger(streams, clock, types),
    arrivals: new Arrivals(streams, clock, events),
    ids: countUp(),
    rejections: createRejections(),
    histories: new NodeHistories(events),
    troubles: new SourceTroubles(),
    end() {
      over = true;
      onDemand?.close();
    },
  };
}

/** The judges of changes; looked up for each change, since `references` may change. */
function createJudges(settings: Settings, { layers, publication, onDemand }: Judged): () => readonly Judge[] {
  const { authorities, options } = settings;
  const stacksOf: ReferenceJudgeOptions["stacksOf"] & AddressJudgeOptions["stacksOf"] = (...change) =>
    publication.groupsTouchedBy(...change);
  const references = new ReferenceJudge({ layers, authorities, supplied: onDemand?.types ?? new Set(), stacksOf });
  const addresses = new AddressJudge({ layers, stacksOf });
  return () => [
    ...(settings.references === "refuse" ? [references] : []),
    ...(options.addresses === "refuse" ? [addresses] : []),
  ];
}

interface Judged {
  readonly layers: Layers;
  readonly publication: Publication;
  readonly onDemand: OnDemand | undefined;
}

function watchEventLoop(options: ServerOptions["eventLoop"], counters: Counters, events: Events) {
  if (options === false) return undefined;
  return createEventLoopWatch(
    { ...defaultEventLoopOptions, ...options },
    () => counters.work(),
    (block) => events.emit(() => ({ kind: "event-loop-blocked", block })),
  );
}

interface DemandSettings extends Pick<Settings, "authorities" | "clock"> {
  readonly settings: ServerOptions["onDemand"];
  readonly layers: Layers;
  readonly config: ConfigOptions;
  readonly events: Events;
}

function createDemand(context: DemandSettings, tell: (changes: readonly LayerChange[]) => void): OnDemand | undefined {
  const { settings, layers, config, authorities, clock, events } = context;
  if (settings === undefined) return undefined;
  return new OnDemand(settings, {
    ...{ layers, config, authorities, clock },
    apply: (update) => tell(layers.apply([update])),
    drop(layer) {
      const change = layers.drop(layer);
      if (change !== undefined) tell([change]);
    },
    report: (outcome, group, type, name, findings) =>
      events.emit(() => ({ kind: "on-demand", outcome, type, name, group, findings })),
  });
}

/** Answers discovery: streams, unary calls and polls. */
function createDiscovery(
  { options, types, limits, rest, authorities, clock }: Settings,
  core: Core,
  catchUp: SessionContext<Session>["catchUp"],
) {
  const { counters, events, publication, onDemand, sessions, loop, ids } = core;
  const { rejections, histories, arrivals } = core;
  const shared = {
    ...{ types, limits, publication, counters, events, rejections, histories, clock, arrivals },
    heldMemory: createHeldMemory(limits),
    onDemand: onDemand?.types,
    naming: { authorities, resourceErrors: options.resourceErrors },
    defaultNode: options.defaultNode,
    catchUp,
  };
  const jsonNotes = createJsonNotes(counters, events);
  const polls = new Polls({
    ...shared,
    bodies: createSharedBodies(createResourceJson(options.registry, jsonNotes.kept), jsonNotes.leftOut),
    holdMs: rest.holdMs,
    nextId: ids,
  });
  const orders = createNodeOrders(options.ordering, counters.latencies.waited);
  const work = (session: Session) => {
    loop?.stir();
    session.work();
  };
  const context: SessionContext<Session> = {
    ...shared,
    orders,
    queue: createFairQueue(work, { crowdOf: ({ info }) => info.peer }),
    ended(session) {
      loop?.stir();
      sessions.delete(session);
    },
  };
  /** Unary calls in progress. */
  let calls = 0;
  const accept: Accept = (call) => {
    const { only, unary } = call.method;
    if (unary && only !== undefined) {
      calls += 1;
      return new UnaryFetch(context, call, only, ids(), () => {
        calls -= 1;
      });
    }
    const session = new Session(context, call, ids());
    sessions.add(session);
    return session;
  };
  return {
    accept,
    polls,
    orders,
    /** Streams and calls that are open in this process. */
    get open(): number {
      return sessions.size + calls;
    },
  };
}

/** Decides whether another stream or call is admitted. `openHere` is how many this process has open. */
function createAdmission({ limits }: Settings, { counters, events, ids, loop }: Core, openHere: () => number) {
  let isClosing = false;
  function refusal(): Refusal | undefined {
    return serverRefusal(isClosing, openHere(), limits.streams);
  }
  return {
    openHere,
    refusal,
    callInfo: (service: string, peer: string): CallInfo => ({ id: ids(), service, peer }),
    refusedCall(call: CallInfo, { code, message }: Refusal): void {
      counters.refuse(code);
      events.emit(() => ({ kind: "call-refused", call, node: undefined, code, message }));
    },
    refuseFurther(): void {
      isClosing = true;
    },
    refuseIfClosed(): void {
      if (isClosing) throw XdskitError.of("XDSKIT_SERVER_CLOSED", "the server is closed");
    },
    /** Passes admitted streams on to `accept`. */
    admitting:
      (accept: Accept): Accept =>
      (connection) => {
        loop?.stir();
        const refused = refusal();
        if (refused === undefined) return accept(connection);
        counters.refuse(refused.code);
        const { method, peer } = connection;
        const stream = { id: ids(), method, peer };
        events.emit(() => ({ kind: "stream-refused", stream, node: undefined, ...refused }));
        return refused;
      },
  };
}

/** Makes the services that are not discovery. */
function createOtherServices(settings: Settings, core: Core, { callInfo, refusal, refusedCall }: StreamAdmission) {
  const { options, types, limits, clock } = settings;
  const { counters, events, publication, streams, troubles } = core;
  const loadReports = createLoadReports({
    ...{ limits, publication, events, defaultNode: options.defaultNode },
    settings: settings.loadReports,
    clusters: types.find("cluster"),
    refused: counters.refuse,
  });
  const services = createServices({
    ...{ types, loadReports, callInfo, registry: options.registry },
    serves: {
      loadReports: options.loadReports !== false,
      clientStatus: options.clientStatus !== false,
      reflection: options.reflection !== false,
    },
    clients: {
      ...{ streams, mostBytes: limits.clientStatusBytes },
      now: () => momentOf(clock),
      troubles: () => troubles.all(),
    },
    statusPeers: options.statusPeers ?? (() => []),
    isServing: () => publication.hasBegun,
    admit: refusal,
    refused: refusedCall,
    fault(stream, error) {
      counters.refuse(statusCode.internal);
      events.emit(() => ({ kind: "fault", stream, error }));
    },
  });
  return { loadReports, services };
}

function statsOf(core: Core): Omit<ServerStats, "certificate"> {
  const { counters, publication, onDemand, views, loop, layers } = core;
  return {
    ...countersOf(counters),
    polls: counters.polls,
    pollsRefused: counters.pollsRefused,
    nodes: publication.nodes,
    groups: publication.groups,
    onDemand: onDemand?.stats(),
    views: views.stats(),
    eventLoop: loop?.stats(),
    configuration: {
      applied: counters.configurationsApplied,
      refused: counters.configurationsRefused,
      layers: layers.names.map((name) => layerStats(name, layers.get(name))),
    },
  };
}

/** The stream counters as of this call. */
function countersOf({ streams, types, fetches, refused, waitsEnded, latencies }: Counters) {
  const { lags, stageWaits } = latencies;
  return { streams, types, lags, stageWaits, fetches, refused, waitsEnded };
}

/** The next id of a stream or a call, counted from 1. */
function countUp(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

function checkedLedger(ledger: Ledger): Ledger {
  return {
    ...ledger,
    nodes(filter = {}) {
      checkCall("server.nodes", filter);
      return ledger.nodes(filter);
    },
    nodeConfig(id, filter = {}) {
      checkCall("server.nodeConfig", filter);
      return ledger.nodeConfig(id, filter);
    },
  };
}

/** Waits until transports and sources are closed, then calls `over`. Throws if one of them failed. */
async function allClosed(
  transports: readonly Promise<void>[],
  sources: readonly Source[],
  timeoutMs: number,
  over: () => void,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  const closed = await Promise.allSettled([
    ...transports,
    // A source may hang, a transport may not: its contract bounds the time.
    ...sources.map((source) => Promise.race([source.close(), late])),
  ]);
  clearTimeout(timer);
  // Not earlier: unary calls may still wait for a decision.
  over();
  for (const result of closed) if (result.status === "rejected") throw result.reason;
}
