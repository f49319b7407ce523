import { defaultOrderingTimes, statusCode } from "@xdskit/protocol";
import type { ConfigResourceOptions } from "../configuration/create-config.js";
import { createGroups } from "../configuration/groups.js";
import { createLayers, type Layers } from "../configuration/layers.js";
import { createEvents, type Events } from "../contracts/events.js";
import type { ReportedStream } from "../contracts/nodes/reported-stream.js";
import type { Kernel, KernelCalls } from "../contracts/parts/kernel.js";
import type { Part } from "../contracts/parts/part.js";
import { OpenCalls } from "../gate/open-calls.js";
import { Shares } from "../gate/shares.js";
import { createGate, type Gate } from "../identity/caller.js";
import { BelowLayers } from "../publication/below-layers.js";
import { type Counters, createCounters } from "../publication/counters.js";
import { Publication } from "../publication/publication.js";
import { SourceTroubles } from "../publication/source-troubles.js";
import { createRejections, type NodeRejections } from "../streams/node-rejections.js";
import type { Session } from "../streams/session.js";
import { type JoinedParts, joinedParts } from "./joined-parts.js";
import type { FullServerOptions } from "./server-settings.js";
import { type EventLoopWatch, watchEventLoop } from "./watch-event-loop.js";

/** What those share that take the configuration, and those that answer clients. */
export interface ServerCore {
  readonly counters: Counters;
  readonly events: Events;
  readonly layers: Layers;
  readonly config: ConfigResourceOptions;
  readonly publication: Publication;
  readonly parts: JoinedParts;
  /** Open streams, in the order in which they were opened. */
  readonly sessions: Set<Session>;
  readonly rejections: NodeRejections;
  readonly troubles: SourceTroubles;
  /** Undefined: nobody watches the event loop. */
  readonly loop: EventLoopWatch | undefined;
  readonly calls: KernelCalls;
  /** Decides who calls. */
  readonly gate: Gate;
  readonly openCalls: OpenCalls;
  /** What each identity uses. */
  readonly shares: Shares;
  /** The next id of a stream or a call, counted from 1. */
  nextId(): number;
  /** No client is left to be told anything. */
  end(): void;
}

/** Makes what is between the configuration and the streams, and plugs the parts into it. */
export function createCore(settings: FullServerOptions, parts: readonly Part[]): ServerCore {
  const { options, types, limits, clock, authorities } = settings;
  const counters = createCounters();
  const events = createEvents();
  const layers = createLayers();
  const troubles = new SourceTroubles();
  const sessions = new Set<Session>();
  const drainMs = () => (settings.live.ordering || undefined)?.drainMs ?? defaultOrderingTimes.drain;
  let lastId = 0;
  const nextId = () => {
    lastId += 1;
    return lastId;
  };
  const calls: KernelCalls = {
    info: (service, peer) => ({ id: nextId(), service, peer }),
    refused: counters.refuse,
    fault(stream, error) {
      counters.refuse(statusCode.internal);
      events.emit("fault", () => ({ stream, error }));
    },
  };
  const gate = createGate({
    rules: options.identities,
    tokenName: options.tokenName,
    reviewToken: options.reviewToken,
    refused(refused) {
      counters.refuseCaller(refused.rule);
      events.emit("caller-refused", () => refused);
    },
  });
  const openCalls = new OpenCalls(gate);
  const shares = new Shares(limits, counters.reachedByIdentity);
  const groups = createGroups(options.groups, options.ttl, options);
  const publication = new Publication(layers, limits, clock, drainMs, groups, (made) => {
    const below = new BelowLayers(layers, made);
    const kernel: Kernel = {
      options,
      types,
      limits,
      authorities,
      clock,
      events,
      calls,
      streams: joinedOf(sessions),
      layers: below,
      groups: made,
      get live() {
        return settings.live;
      },
      troubles: () => troubles.all(),
    };
    return { below, ...joinedParts(parts.map((part) => part(kernel))) };
  });
  return {
    counters,
    events,
    layers,
    publication,
    sessions,
    troubles,
    calls,
    gate,
    openCalls,
    shares,
    nextId,
    config: { types, registry: options.registry, validate: options.validate ?? true },
    parts: publication.parts,
    rejections: createRejections(),
    loop: options.eventLoop === false ? undefined : watchEventLoop(counters, events),
    end() {
      openCalls.stop();
      publication.parts.below.end();
      publication.parts.closed();
    },
  };
}

/** The streams whose nodes are known. */
function joinedOf(sessions: ReadonlySet<Session>): Iterable<ReportedStream> {
  return {
    *[Symbol.iterator]() {
      for (const { joined } of sessions) if (joined !== undefined) yield joined;
    },
  };
}
