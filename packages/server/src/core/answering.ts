import { createResourceJson, XdskitError } from "@xdskit/api";
import { createFairQueue } from "@xdskit/grpc-server";
import { statusCode } from "@xdskit/protocol";
import type { CallInfo } from "../contracts/nodes/stream-info.js";
import type { Accept, Refusal } from "../contracts/transport.js";
import { createLoadReports } from "../load-reports/load-reports.js";
import { momentOf } from "../node-status/moment.js";
import { createJsonNotes } from "../rest-polls/json-notes.js";
import { Polls } from "../rest-polls/polls.js";
import { createSharedBodies } from "../rest-polls/shared-bodies.js";
import { createServices } from "../services/services.js";
import { UnaryFetch } from "../streams/fetch.js";
import { createHeldMemory } from "../streams/limits/held-memory.js";
import { createNodeOrders } from "../streams/node-orders.js";
import { Session } from "../streams/session.js";
import type { SessionContext } from "../streams/session-context.js";
import type { ServerCore, ServerSettings } from "./server-core.js";

/** Answers discovery: streams, unary calls and polls. */
export function createDiscovery(
  { options, types, limits, rest, authorities, clock }: ServerSettings,
  core: ServerCore,
  catchUp: SessionContext<Session>["catchUp"],
) {
  const { counters, events, publication, onDemand, sessions, loop, ids } = core;
  const { rejections, progress } = core;
  const shared = {
    ...{ types, limits, publication, counters, events, rejections, clock, progress },
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
export function createAdmission(
  { limits }: ServerSettings,
  { counters, events, ids, loop }: ServerCore,
  openHere: () => number,
) {
  let isClosing = false;
  function refusal(): Refusal | undefined {
    if (isClosing) return { code: statusCode.unavailable, message: "the server is shutting down" };
    const open = openHere();
    if (open < limits.streams) return undefined;
    return { code: statusCode.resourceExhausted, message: `the server has ${open} streams open and takes no more` };
  }
  return {
    refusal,
    callInfo: (service: string, peer: string): CallInfo => ({ id: ids(), service, peer }),
    refusedCall(call: CallInfo, { code, message }: Refusal): void {
      counters.refuse(code);
      events.emit("call-refused", () => ({ call, node: undefined, code, message }));
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
        events.emit("stream-refused", () => ({ stream, node: undefined, ...refused }));
        return refused;
      },
  };
}

/** Makes the services that are not discovery. */
export function createOtherServices(
  settings: ServerSettings,
  core: ServerCore,
  { callInfo, refusal, refusedCall }: ReturnType<typeof createAdmission>,
) {
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
      events.emit("fault", () => ({ stream, error }));
    },
  });
  return { loadReports, services };
}
