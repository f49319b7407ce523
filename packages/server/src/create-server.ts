import { createResourceJson, resourceTypes, XdskitError } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import { systemClock } from "./clock.js";
import { createConfiguring } from "./configuring.js";
import { createCounters } from "./counters.js";
import { type ConfigOptions, createConfig } from "./create-config.js";
import { allEventLoops } from "./event-loop/all-event-loops.js";
import { defaultEventLoopOptions } from "./event-loop/event-loop-stats.js";
import { createEventLoopWatch } from "./event-loop/event-loop-watch.js";
import { createEvents } from "./events.js";
import { createFairQueue } from "./fair-queue.js";
import { answerFetch } from "./fetch.js";
import { createGroups } from "./groups.js";
import { createHeldMemory } from "./held-memory.js";
import { defaultKeepalive, type Keepalive } from "./keepalive.js";
import { createLayers, type LayerChange } from "./layers.js";
import { createArrivals } from "./ledger/arrivals.js";
import { createLedger } from "./ledger/ledger.js";
import type { LedgerStream } from "./ledger/ledger-stream.js";
import { momentOf } from "./ledger/moment.js";
import { defaultServerLimits, type ServerLimits } from "./limits.js";
import { createListeners } from "./listeners.js";
import { checkLoadReportSettings } from "./load-reports/load-report-settings.js";
import { createLoadReports } from "./load-reports/load-reports.js";
import { createNodeOrders } from "./node-orders.js";
import { createOnDemand, type OnDemand } from "./on-demand/on-demand.js";
import type { OnDemandOptions } from "./on-demand/options.js";
import { checkOptions } from "./option-checks.js";
import { checkCall, checkListener, checkSource } from "./option-tables.js";
import { createJsonNotes } from "./polls/json-notes.js";
import { createPolls } from "./polls/polls.js";
import { createSharedBodies } from "./polls/shared-bodies.js";
import { createPublication } from "./publication.js";
import { createRejections } from "./rejections.js";
import { defaultRestOptions } from "./rest-options.js";
import { serverRefusal } from "./server-refusal.js";
import { createServices } from "./services/services.js";
import { Session } from "./session.js";
import type { SessionContext } from "./session-context.js";
import { layerStats } from "./stats.js";
import type { CallInfo } from "./stream-info.js";
import type { Accept, Refusal } from "./transport.js";
import { createViews } from "./views/views.js";
import type { RemoteStream } from "./workers/remote-stream.js";
import { createSharedNumbers } from "./workers/shared-numbers.js";
import { countersOf } from "./workers/summed-counters.js";
import { createWorkerPool, pools } from "./workers/worker-pool.js";
import { bothOf, workerCount, workerSettings } from "./workers/worker-settings.js";
import type { ServerOptions, XdsServer } from "./xds-server.js";

/** Makes a server. Throws an XdskitError if an option, or the settings of the groups or of load reports, are wrong. */
export function createServer(options: ServerOptions = {}): XdsServer {
  checkCall("createServer", options);
  const types = options.types ?? resourceTypes;
  const limits: ServerLimits = { ...defaultServerLimits, ...options.limits };
  const keepalive: Keepalive = { ...defaultKeepalive, ...options.keepalive };
  checkOptions(options);
  const loadReportSettings = options.loadReports || undefined;
  checkLoadReportSettings(loadReportSettings, "loadReports");
  const workers = workerCount(options);
  const clock = options.clock ?? systemClock;
  const counters = createCounters();
  const events = createEvents();
  const layers = createLayers();
  const loop =
    options.eventLoop === false
      ? undefined
      : createEventLoopWatch(
          { ...defaultEventLoopOptions, ...options.eventLoop },
          () => counters.work(),
          (block) => events.emit(() => ({ kind: "event-loop-blocked", block })),
        );
  const config: ConfigOptions = { types, registry: options.registry, validate: options.validate ?? true };
  const authorities = options.authorities === undefined ? undefined : new Set(options.authorities);
  const onDemand = createDemand(options.onDemand);
  const groups = createGroups(options.groups, options.ttl, options);
  const views = createViews(clock, events);
  const publication = createPublication(layers, groups, limits, views, clock, onDemand);
  const sessions = new Set<Session>();
  const remoteStreams = new Set<RemoteStream>();
  const streams: Iterable<LedgerStream> = workers > 1 ? bothOf(sessions, remoteStreams) : sessions;
  const ledger = createLedger(streams, clock, types);
  const arrivals = createArrivals(streams, clock, events, (isAwaited) => pool?.awaited(isAwaited));
  const numbers = createSharedNumbers();
  /** Unary calls under way. */
  let calls = 0;
  let closing: Promise<void> | undefined;
  /** Nobody is left who could be told anything. */
  let over = false;

  const shared = {
    types,
    limits,
    publication,
    heldMemory: createHeldMemory(limits),
    counters,
    events,
    onDemand: onDemand?.types,
    naming: { authorities, resourceErrors: options.resourceErrors },
    defaultNode: options.defaultNode,
    rejections: createRejections(),
    clock,
    arrivals,
  };
  const restOptions = { ...defaultRestOptions, ...options.rest };
  const jsonNotes = createJsonNotes(counters, events);
  const polls = createPolls({
    ...shared,
    bodies: createSharedBodies(createResourceJson(options.registry, jsonNotes.kept), jsonNotes.leftOut),
    holdMs: restOptions.holdMs,
    nextId: numbers.nextId,
  });
  const context: SessionContext<Session> = {
    ...shared,
    orders: createNodeOrders(options.ordering),
    queue: createFairQueue(
      (session) => {
        loop?.stir();
        session.work();
      },
      { crowdOf: ({ info }) => info.peer },
    ),
    ended(session) {
      loop?.stir();
      sessions.delete(session);
    },
  };

  /** Why no further stream or call is let in, if so. */
  function refusal(): Refusal | undefined {
    numbers.setOpen(0, openHere());
    return serverRefusal(closing !== undefined, numbers.open(), limits.streams);
  }

  function refusedCall(call: CallInfo, { code, message }: Refusal): void {
    counters.refuse(code);
    events.emit(() => ({ kind: "call-refused", call, node: undefined, code, message }));
  }

  /** What is open in this thread. */
  const openHere = () => sessions.size + calls + services.open;
  const callInfo = (service: string, peer: string): CallInfo => ({ id: numbers.nextId(), service, peer });
  const loadReports = createLoadReports({
    limits,
    publication,
    events,
    defaultNode: options.defaultNode,
    settings: loadReportSettings,
    clusters: types.find("cluster"),
    refused: counters.refuse,
  });
  const services = createServices({
    types,
    loadReports,
    serves: {
      loadReports: options.loadReports !== false,
      clientStatus: options.clientStatus !== false,
      reflection: options.reflection !== false,
    },
    callInfo,
    registry: options.registry,
    clients: { streams, now: () => momentOf(clock), mostBytes: limits.clientStatusBytes },
    isServing: () => publication.isOpen,
    admit: refusal,
    refused: refusedCall,
    fault(stream, error) {
      counters.refuse(statusCode.internal);
      events.emit(() => ({ kind: "fault", stream, error }));
    },
  });

  const accept: Accept = (connection) => {
    loop?.stir();
    const { method, peer } = connection;
    const { only, unary } = method;
    const refused = refusal();
    if (refused !== undefined) {
      counters.refuse(refused.code);
      const stream = { id: numbers.nextId(), method, peer };
      events.emit(() => ({ kind: "stream-refused", stream, node: undefined, ...refused }));
      return refused;
    }
    if (unary && only !== undefined) {
      calls += 1;
      return answerFetch(context, connection, only, numbers.nextId(), () => {
        calls -= 1;
      });
    }
    const session = new Session(context, connection, numbers.nextId());
    sessions.add(session);
    return session;
  };

  const pool =
    workers > 1
      ? createWorkerPool({
          count: workers,
          types,
          clock,
          layers,
          publication,
          arrivals,
          events,
          counters,
          numbers,
          openHere,
          ...{
            rejections: shared.rejections,
            streams: remoteStreams,
            settings: workerSettings(options, limits, keepalive),
          },
        })
      : undefined;

  const listeners = createListeners({
    types,
    clock,
    events,
    limits,
    keepalive,
    pool,
    accept,
    services,
    polls,
    callInfo,
    refused: (peer, code, message) => refusedCall(callInfo("gRPC", peer), { code, message }),
    refuseIfClosed,
    rest: restOptions,
    tls: options.tls,
  });

  function createDemand(settings: OnDemandOptions | undefined): OnDemand | undefined {
    if (settings === undefined) return undefined;
    const tell = (changes: readonly LayerChange[]) => {
      if (changes.length > 0 && !over) publication.publish(changes);
    };
    return createOnDemand(settings, {
      layers,
      config,
      authorities,
      clock,
      apply: (update) => tell(layers.apply([update])),
      drop(layer) {
        const change = layers.drop(layer);
        if (change !== undefined) tell([change]);
      },
      report: (outcome, group, type, name, findings) =>
        events.emit(() => ({ kind: "on-demand", outcome, type, name, group, findings })),
    });
  }

  const configuring = createConfiguring({
    layers,
    publication,
    arrivals,
    events,
    counters,
    authorities,
    pool,
    published: services.update,
  });

  function refuseIfClosed(): void {
    if (closing !== undefined) throw XdskitError.of("XDSKIT_SERVER_CLOSED", "the server is closed");
  }

  async function shutDown(timeoutMs: number): Promise<void> {
    loop?.stop();
    arrivals.close();
    views.close();
    polls.close();
    // First: a client that hears of its stream's end before that of its connection opens another one there, in vain.
    const transportsClosed = listeners.close(timeoutMs);
    services.stop();
    for (const session of sessions) session.end(statusCode.ok, "");
    loadReports.close();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    const closed = await Promise.allSettled([
      ...transportsClosed,
      // A source may hang, a transport may not: it keeps to the time by its contract.
      ...configuring.sources.map((source) => Promise.race([source.close(), late])),
    ]);
    clearTimeout(timer);
    // Not before: unary calls may still wait for a decision.
    over = true;
    onDemand?.close();
    for (const result of closed) if (result.status === "rejected") throw result.reason;
  }

  const server: XdsServer = {
    config: createConfig(config, configuring.apply, configuring.drop, (layer, awaited) => {
      if (pool !== undefined)
        throw XdskitError.of("XDSKIT_SERVER_OPTION", "awaits cannot be called where there are workers");
      publication.awaits(layer, awaited);
    }),
    types,
    async addSource(source) {
      checkSource(source);
      refuseIfClosed();
      await configuring.addSource(source);
    },
    listen: listeners.listen,
    listenOn: listeners.listenOn,
    pollOn: listeners.pollOn,
    async close(options = {}) {
      checkCall("server.close", options);
      const { timeoutMs = 4_000 } = options;
      closing ??= shutDown(timeoutMs);
      await closing;
    },
    on(...listening) {
      checkListener(listening[0]);
      const stop = events.on(...listening);
      pool?.update();
      return stop;
    },
    stats: () => ({
      ...countersOf(pool?.counters() ?? counters),
      polls: counters.polls,
      pollsRefused: counters.pollsRefused,
      workers: pool?.workers ?? [],
      nodes: publication.nodes,
      groups: publication.groups,
      onDemand: onDemand?.stats(),
      views: views.stats(),
      eventLoop: loop && allEventLoops([loop.stats(), ...(pool?.eventLoops ?? [])]),
      configuration: {
        applied: counters.configurationsApplied,
        refused: counters.configurationsRefused,
        layers: layers.names.map((name) => layerStats(name, layers.get(name))),
      },
    }),
    snapshotOf: publication.snapshotOf,
    ...ledger,
    nodes(filter = {}) {
      checkCall("server.nodes", filter);
      return ledger.nodes(filter);
    },
    nodeConfig(id, filter = {}) {
      checkCall("server.nodeConfig", filter);
      return ledger.nodeConfig(id, filter);
    },
    contentArrival: (contents) => arrivals.of(arrivals.revision, contents),
    rollouts: views.rollouts,
    quarantines: views.quarantines,
    loadReports(filter = {}) {
      checkCall("server.loadReports", filter);
      return loadReports.reports(filter);
    },
    loadTotals: loadReports.totals,
  };
  if (pool !== undefined) pools.set(server, pool);
  return server;
}
