import { resourceTypes, systemClock } from "@xdskit/api";
import { defaultKeepalive } from "@xdskit/grpc-server";
import { defaultOrderingTimes } from "@xdskit/protocol";
import { AddressJudge } from "../addresses/address-judge.js";
import { Arrivals } from "../arrivals/arrivals.js";
import type { ConfigOptions } from "../configuration/create-config.js";
import { createGroups } from "../configuration/groups.js";
import { createLayers, type Layers } from "../configuration/layers.js";
import { checkOptions } from "../configuration/option-checks.js";
import { checkServerCall } from "../configuration/option-tables.js";
import { createEvents, type Events } from "../contracts/events.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { ReportedStream } from "../contracts/nodes/reported-stream.js";
import type { Judge } from "../contracts/parts/judge.js";
import type { LiveOptions, ServerOptions } from "../contracts/xds-server.js";
import { defaultEventLoopOptions } from "../event-loop/event-loop-stats.js";
import { EventLoopWatch } from "../event-loop/event-loop-watch.js";
import { NodeHistories } from "../node-status/node-histories.js";
import { createNodeReports } from "../node-status/node-reports.js";
import { OnDemand } from "../on-demand/on-demand.js";
import { type Counters, createCounters } from "../publication/counters.js";
import { Publication } from "../publication/publication.js";
import { SourceTroubles } from "../publication/source-troubles.js";
import { createIsOwnName } from "../references/own-names.js";
import { ReferenceJudge } from "../references/reference-judge.js";
import { UnknownNameJudge } from "../references/unknown-names.js";
import { createTargets } from "../rollouts/targets.js";
import { defaultServerLimits, type ServerLimits } from "../settings/limits.js";
import { checkLoadReportSettings } from "../settings/load-report-settings.js";
import { defaultRestOptions } from "../settings/rest-options.js";
import { createRejections } from "../streams/rejections.js";
import type { Session } from "../streams/session.js";

import { joinedProgress } from "./joined-progress.js";

export type ServerSettings = ReturnType<typeof readOptions>;
export type ServerCore = ReturnType<typeof createCore>;

/** Checks the options and fills in the defaults. */
export function readOptions(options: ServerOptions) {
  checkServerCall("createServer", options);
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
    referencesExcept: new Set(options.referencesExcept) as ReadonlySet<string>,
    live: {
      groups: options.groups,
      rollout: options.rollout,
      onReject: options.onReject,
      ordering: options.ordering,
    } as LiveOptions,
    loadReports,
    clock: options.clock ?? systemClock,
  };
}

/** Makes the parts between the configuration and the streams. */
export function createCore(settings: ServerSettings) {
  const { options, types, limits, clock, authorities } = settings;
  const counters = createCounters();
  const events = createEvents();
  const layers = createLayers();
  const config: ConfigOptions = { types, registry: options.registry, validate: options.validate ?? true };
  /** After the end no client is left to be told anything. */
  let over = false;
  let lastId = 0;
  const onDemand = createDemand(
    { settings: options.onDemand, layers, config, authorities, clock, events },
    (changes) => {
      if (changes.length > 0 && !over) publication.publish(changes);
    },
  );
  const targets = createTargets(clock, events);
  const groups = createGroups(options.groups, options.ttl, options);
  const drainMs = () => (settings.live.ordering || undefined)?.drainMs ?? defaultOrderingTimes.drain;
  const publication = new Publication(layers, groups, limits, targets, clock, onDemand, drainMs);
  const sessions = new Set<Session>();
  const streams: Iterable<ReportedStream> = sessions;
  const arrivals = new Arrivals(streams, clock, events);
  const histories = new NodeHistories(events);
  return {
    ...{ counters, events, layers, config, onDemand, targets, publication, sessions, streams },
    judges: createJudges(settings, onDemand),
    loop: watchEventLoop(options.eventLoop, counters, events),
    nodeReports: createNodeReports(streams, clock, types),
    ...{ arrivals, histories, progress: joinedProgress([arrivals, histories]) },
    /** The next id of a stream or a call, counted from 1. */
    ids: () => {
      lastId += 1;
      return lastId;
    },
    rejections: createRejections(),
    troubles: new SourceTroubles(),
    end() {
      over = true;
      onDemand?.close();
    },
  };
}

/** The judges of changes; looked up for each change, since `references` may change. */
function createJudges(settings: ServerSettings, onDemand: OnDemand | undefined): () => readonly Judge[] {
  const { authorities, options, types } = settings;
  const { registry } = options;
  const isOwnName = createIsOwnName(onDemand?.types ?? new Set(), authorities);
  const references = new ReferenceJudge({ registry, isOwnName });
  const except = () => settings.referencesExcept;
  const unknownNames = new UnknownNameJudge({ types, registry, isOwnName, except });
  const addresses = new AddressJudge();
  return () => [
    ...(settings.references === "warn" ? [] : [references]),
    ...(settings.references === "strict" ? [unknownNames] : []),
    ...(options.addresses === "refuse" ? [addresses] : []),
  ];
}

function watchEventLoop(options: ServerOptions["eventLoop"], counters: Counters, events: Events) {
  if (options === false) return undefined;
  return new EventLoopWatch(
    { ...defaultEventLoopOptions, ...options },
    () => counters.work(),
    (block) => events.emit("event-loop-blocked", () => ({ block })),
  );
}

interface DemandSettings extends Pick<ServerSettings, "authorities" | "clock"> {
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
      events.emit("on-demand", () => ({ outcome, type, name, group, findings })),
  });
}
