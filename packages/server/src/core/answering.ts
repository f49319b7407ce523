import { createResourceJson, XdskitError } from "@xdskit/api";
import { createFairQueue } from "@xdskit/grpc-server";
import { statusCode } from "@xdskit/protocol";
import type { CallInfo } from "../contracts/nodes/stream-info.js";
import {
  type Accept,
  type CallHandler,
  type DiscoveryCall,
  type Method,
  type Refusal,
  serviceName,
} from "../contracts/transport.js";
import { gated } from "../gate/gated.js";
import { UnprovenCall } from "../gate/unproven-call.js";
import type { Caller } from "../identity/caller.js";
import type { Evidence } from "../identity/evidence.js";
import { withoutSecretType } from "../publication/without-secrets.js";
import { createJsonNotes } from "../rest-polls/json-notes.js";
import { Polls } from "../rest-polls/polls.js";
import { createSharedBodies } from "../rest-polls/shared-bodies.js";
import { createServices, type Services } from "../services/services.js";
import { UnaryFetch } from "../streams/fetch.js";
import { createRetainedMemory } from "../streams/limits/retained-memory.js";
import { createNodeOrders, type NodeOrders } from "../streams/node-orders.js";
import { Session } from "../streams/session.js";
import type { SessionContext } from "../streams/session-context.js";
import type { ServerCore } from "./server-core.js";
import type { FullServerOptions } from "./server-settings.js";

/** Answers discovery: streams, unary calls and polls. */
export interface Discovery {
  readonly accept: Accept;
  readonly polls: Polls;
  readonly orders: NodeOrders;
  /** Streams and calls that are open in this process. */
  readonly open: number;
}

export function createDiscovery(
  { options, types, limits, rest, authorities, clock }: FullServerOptions,
  core: ServerCore,
  catchUp: SessionContext<Session>["catchUp"],
): Discovery {
  const { counters, events, publication, parts, rejections, sessions, loop, nextId } = core;
  const { gate, openCalls, shares } = core;
  const onDemandTypes = parts.supply?.types;
  const onDemandBare = withoutSecretType(onDemandTypes);
  const shared = {
    types,
    limits,
    publication,
    counters,
    events,
    rejections,
    clock,
    catchUp,
    progress: parts.progress,
    onDemand: ({ getsSecrets }: Caller) => (getsSecrets ? onDemandTypes : onDemandBare),
    retainedMemory: createRetainedMemory(limits, () => counters.reachedByIdentity("retained_bytes_per_identity")),
    naming: { authorities, resourceErrors: options.resourceErrors, localityTypes: new Set(options.localityTypes) },
    defaultNode: options.defaultNode,
  };
  const jsonNotes = createJsonNotes(counters, events);
  const polls = new Polls({
    ...shared,
    gate,
    openCalls,
    shares,
    bodies: createSharedBodies(createResourceJson(options.registry, jsonNotes.kept), jsonNotes.leftOut),
    holdMs: rest.holdMs,
    nextId,
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
      openCalls.closed(session);
    },
  };
  /** Unary calls in progress. */
  let calls = 0;
  const acceptFrom = (call: DiscoveryCall, caller: Caller, evidence: () => Evidence): CallHandler => {
    const { only, unary } = call.method;
    if (unary && only !== undefined) {
      calls += 1;
      return new UnaryFetch(context, call, only, nextId(), caller, () => {
        calls -= 1;
      });
    }
    const session = new Session(context, call, nextId(), caller);
    sessions.add(session);
    openCalls.opened(session, { caller, evidence });
    return session;
  };
  /** Calls of which it is not known yet who calls. */
  let waiting = 0;
  const accept: Accept = (call) => {
    return gated(call, {
      gate,
      shares,
      from: { peer: call.peer, called: methodText(call.method) },
      refuse: (refusal) => noteRefused(core, call, refusal),
      accept: (caller, evidence) => acceptFrom(call, caller, evidence),
      waiting() {
        waiting += 1;
        const left = () => {
          waiting -= 1;
        };
        const unproven = new UnprovenCall(call, left, (error) =>
          core.calls.fault(core.calls.info("discovery", call.peer), error),
        );
        if (waiting > maxUnproven) queueMicrotask(() => unproven.end(statusCode.unavailable, tooManyUnproven));
        return unproven;
      },
    });
  };
  return {
    accept,
    polls,
    orders,
    get open() {
      return sessions.size + calls + waiting;
    },
  };
}

/** So many calls wait at once until it is known who calls: anybody can make them wait. */
const maxUnproven = 1_000;
const tooManyUnproven = "too many calls wait until it is known who calls: try again later";

const methodTexts = new WeakMap<Method, string>();

/** As logs name a method. Each stream keeps it, so there is one text for all of a method. */
function methodText(method: Method): string {
  const known = methodTexts.get(method);
  if (known !== undefined) return known;
  const { api, variant, unary } = method;
  const text = `${api} ${serviceName(method)} ${unary ? "fetch" : variant}`;
  methodTexts.set(method, text);
  return text;
}

/** Records that a stream of discovery was refused before its node was known, and returns that. */
function noteRefused(
  { counters, events, nextId }: Pick<ServerCore, "counters" | "events" | "nextId">,
  { method, peer }: Pick<DiscoveryCall, "method" | "peer">,
  refusal: Refusal,
): Refusal {
  counters.refuse(refusal.code);
  const stream = { id: nextId(), method, peer };
  events.emit("stream-refused", () => ({ stream, node: undefined, ...refusal }));
  return refusal;
}

/** Decides whether another stream or call is admitted. */
export interface AdmissionControl {
  /** Counts also the streams and calls of this one, for the limit of all together. */
  count(from: { readonly open: number }): void;
  /** Why no stream or call is admitted now, if so. */
  refusal(): Refusal | undefined;
  /** Records that a call was refused. */
  refusedCall(call: CallInfo, refusal: Refusal): void;
  /** The server closes. */
  refuseFurther(): void;
  /** Throws an XdskitError once the server is closed. */
  refuseIfClosed(): void;
  /** Passes admitted streams on to `accept`. */
  admitting(accept: Accept): Accept;
}

export function createAdmission(
  { limits }: FullServerOptions,
  { counters, events, nextId, loop }: ServerCore,
): AdmissionControl {
  const counted: { readonly open: number }[] = [];
  let isClosing = false;
  function refusal(): Refusal | undefined {
    if (isClosing) return { code: statusCode.unavailable, message: "the server is shutting down" };
    const open = counted.reduce((sum, from) => sum + from.open, 0);
    if (open < limits.streams) return undefined;
    return { code: statusCode.resourceExhausted, message: `the server has ${open} streams open and takes no more` };
  }
  return {
    count: (from) => void counted.push(from),
    refusal,
    refusedCall(call, { code, message }) {
      counters.refuse(code);
      events.emit("call-refused", () => ({ call, node: undefined, code, message }));
    },
    refuseFurther() {
      isClosing = true;
    },
    refuseIfClosed() {
      if (isClosing) throw XdskitError.of("XDSKIT_SERVER_CLOSED", "the server is closed");
    },
    admitting: (accept) => (connection) => {
      loop?.stir();
      const refused = refusal();
      if (refused === undefined) return accept(connection);
      return noteRefused({ counters, events, nextId }, connection, refused);
    },
  };
}

/** Makes the services that are not discovery. */
export function createOtherServices(
  { options, types }: FullServerOptions,
  { publication, parts, calls, gate, openCalls, shares }: ServerCore,
  { refusal, refusedCall }: AdmissionControl,
): Services {
  return createServices({
    types,
    calls,
    gate,
    openCalls,
    shares,
    registry: options.registry,
    servesReflection: options.reflection !== false,
    offered: parts.services,
    isServing: () => publication.hasBegun,
    admit: refusal,
    refused: refusedCall,
  });
}
