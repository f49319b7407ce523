import { type ResourceTypes, systemClock, unpackTypes } from "@xdskit/api";
import { createFairQueue } from "@xdskit/grpc-server";
import { type StatusCode, statusCode } from "@xdskit/protocol";
import { createRateLimit } from "../basics/rate-limit.js";
import { createGroups } from "../configuration/groups.js";
import type { Accept, Method } from "../contracts/transport.js";
import { createEventLoopWatch, type EventLoopWatch } from "../event-loop/event-loop-watch.js";
import { createCounters } from "../streams/counters.js";
import { createHeldMemory } from "../streams/held-memory.js";
import { createNodeOrders } from "../streams/node-orders.js";
import { Publication } from "../streams/publication.js";
import { createRejections } from "../streams/rejections.js";
import { serverRefusal } from "../streams/server-refusal.js";
import { Session } from "../streams/session.js";
import type { SessionContext } from "../streams/session-context.js";
import { discoveryMethods } from "../transports/discovery-methods.js";
import { createGrpcTransport } from "../transports/grpc/grpc-transport.js";
import { createAcceptTurns } from "./accept-turns.js";
import { createCallTurns } from "./call-turns.js";
import { frequentEvents } from "./frequent-events.js";
import { takeGiven } from "./listening-socket.js";
import type { Answer, FromWorker, Post, Question, Standings, ToWorker, WorkerSettings } from "./messages.js";
import { createOutbox } from "./outbox.js";
import { createPacking } from "./packed-resources.js";
import { createStatusPacking } from "./packed-status.js";
import { packValue } from "./packed-values.js";
import { createReplicaLayers } from "./replica-layers.js";
import { createSharedNumbers } from "./shared-numbers.js";
import { countersOf } from "./summed-counters.js";
import { createWorkerCalls } from "./worker-calls.js";
import { createWorkerViews } from "./worker-views.js";

/** What a worker is, seen from the thread that it runs in. */
export interface WorkerServer {
  take(post: Post): void;
}

/**
 * The streams of one thread: transport, sessions and the protocol's machines, over layers that are told. What concerns
 * more than one stream is decided in the main thread: who may come, which view a node has, how far a change is.
 */
export function createWorkerServer(
  settings: WorkerSettings,
  post: (messages: readonly FromWorker[]) => void,
  reply: (answer: Answer) => void,
): WorkerServer {
  const types = unpackTypes(settings.types);
  const { limits, worker, authorities, resourceErrors, ordering, defaultNode, keepalive } = settings;
  const numbers = createSharedNumbers(settings.numbers);
  const sessions = new Map<number, Session>();
  /** Streams of which the main thread may know less than there is, while it wants to know. */
  const dirty = new Set<Session>();
  const told = new WeakMap<Session, { standing: string; seq: number }>();
  let seq = 0;
  let frequent = false;
  let tellsProgress = false;
  let closing = false;
  const outbox = createOutbox(post, tellProgress);
  const packing = createPacking();
  const statusPacking = createStatusPacking(packing);
  const paths = unaryPaths(types);
  const refusals = createRateLimit(1, 1);
  const calls = createWorkerCalls({
    services: settings.services,
    turns: createCallTurns(settings.calls),
    nextId: numbers.nextId,
    tell: outbox.add,
    refused([service], { peer }, refusal) {
      counters.refuse(refusal.code);
      // Counted are all, told is one a second: a flood is not to be one of messages.
      if (!refusals.take(performance.now())) return;
      const call = { id: numbers.nextId(), service, peer };
      context.events.emit(() => ({ kind: "call-refused", call, node: undefined, ...refusal }));
    },
  });
  const layers = createReplicaLayers(types);
  const views = createWorkerViews(types, {
    opened(session, node, group) {
      const info = packValue({ ...session.info, group: group.name });
      outbox.add({ kind: "opened", id: session.info.id, info, node, at: session.openedAt });
    },
    over(session, group) {
      dirty.delete(session);
      const status = group.onReject === "lastGood" ? statusOf(session) : undefined;
      outbox.add({ kind: "over", id: session.info.id, status });
    },
    left: (session) => outbox.add({ kind: "left", id: session.info.id }),
    rejected(session, type, rejection, isWhole) {
      const packed = statusPacking.rejection(rejection, type, session.newest);
      outbox.add({ kind: "rejected", id: session.info.id, type: type.typeUrl, rejection: packed, isWhole });
    },
  });
  const publication = new Publication(
    layers,
    createGroups(settings.groups, settings.ttl, settings),
    limits,
    views,
    systemClock,
  );
  const release = publication.hold();
  const counters = createCounters();
  /** From when it accepts connections: before that nobody waits. */
  let loop: EventLoopWatch | undefined;
  const context: SessionContext<Session> = {
    types,
    limits,
    publication,
    heldMemory: createHeldMemory(limits),
    counters,
    onDemand: undefined,
    defaultNode,
    clock: systemClock,
    naming: { authorities: authorities && new Set(authorities), resourceErrors },
    rejections: createRejections(),
    orders: createNodeOrders(ordering),
    queue: createFairQueue(
      (session) => {
        loop?.stir();
        session.work();
      },
      { crowdOf: ({ info }) => info.peer },
    ),
    events: {
      on: () => () => {},
      wants: (kind) => frequent || !frequentEvents.has(kind),
      emit(event) {
        const happened = event();
        if (frequent || !frequentEvents.has(happened.kind)) outbox.add({ kind: "event", event: packValue(happened) });
      },
    },
    arrivals: {
      progressed(stream) {
        if (!tellsProgress) return;
        dirty.add(stream as Session);
        outbox.wake();
      },
      left() {},
    },
    ended(session) {
      loop?.stir();
      sessions.delete(session.info.id);
      numbers.setOpen(worker, sessions.size);
    },
  };
  const turns = createAcceptTurns(worker, numbers);
  const transport = createGrpcTransport({
    types,
    keepalive,
    requestBytes: limits.requestBytes,
    limits,
    tls: settings.tls,
    refused(peer, code, message) {
      counters.refuse(code);
      const call = { id: numbers.nextId(), service: "gRPC", peer };
      context.events.emit(() => ({ kind: "call-refused", call, node: undefined, code, message }));
    },
    handshakeFailed(peer, reason) {
      context.events.emit(() => ({ kind: "handshake-failed", peer, reason }));
    },
    fault(peer, error) {
      const stream = { id: numbers.nextId(), service: "HTTP/2", peer };
      context.events.emit(() => ({ kind: "fault", stream, error }));
    },
  });

  const accept: Accept = (connection) => {
    loop?.stir();
    const { method } = connection;
    const path = method.unary ? paths.get(keyOf(method)) : undefined;
    if (path !== undefined) return calls.openUnary(path, connection);
    const refused = serverRefusal(closing, numbers.open(), limits.streams);
    const id = numbers.nextId();
    if (refused !== undefined) {
      counters.refuse(refused.code);
      const stream = { id, method, peer: connection.peer };
      context.events.emit(() => ({ kind: "stream-refused", stream, node: undefined, ...refused }));
      return refused;
    }
    const session = new Session(context, connection, id);
    sessions.set(id, session);
    numbers.setOpen(worker, sessions.size);
    return session;
  };

  function statusOf(session: Session) {
    return statusPacking.status(session.status(), session.newest);
  }

  /** The main thread takes a stream that a change concerns for unsettled until it hears otherwise. */
  function tellProgress(): void {
    for (const session of dirty) {
      if (session.opened === undefined) continue;
      const before = told.get(session);
      const standing = session.standing();
      if (before?.standing === standing && (standing === "pending" || before.seq === seq)) continue;
      told.set(session, { standing, seq });
      outbox.progress(session.info.id, seq, standing);
    }
    dirty.clear();
  }

  function standings(): Standings {
    const row: number[] = [];
    for (const session of sessions.values()) {
      if (session.opened === undefined) continue;
      row.push(session.info.id, session.isSettled ? Number.NaN : session.unsettledSince);
    }
    return Float64Array.from(row);
  }

  function carryOut(message: ToWorker): void {
    switch (message.kind) {
      case "layers":
        publication.publish(layers.take(message.changes));
        break;
      case "open":
        release();
        break;
      case "view":
        views.add(message.view);
        break;
      case "view-gone":
        views.forget(message.id);
        break;
      case "see": {
        const session = sessions.get(message.stream);
        if (session === undefined) break;
        views.see(session, message.view);
        session.changed();
        break;
      }
      case "end":
        counters.refuse(message.code);
        sessions.get(message.stream)?.end(message.code, message.message);
        break;
      case "send":
      case "end-call":
        calls.answer(message);
        break;
      case "tell":
        frequent = message.frequent;
        if (message.progress === tellsProgress) break;
        tellsProgress = message.progress;
        dirty.clear();
        if (tellsProgress) for (const session of sessions.values()) dirty.add(session);
        // What was told the last time that somebody wanted to know holds no more.
        for (const session of dirty) told.delete(session);
        outbox.wake();
        break;
      case "listen":
        if (takeGiven(message.given)) void listen(message.address, message.descriptor);
        break;
      case "renew":
        transport.renew(message.tls);
        break;
      case "ask":
        // What it says next is to fit what it said before.
        outbox.flush();
        numbers.comesAround(worker);
        reply(answerTo(message.id, message.question));
        break;
      case "close":
        void close(message.timeoutMs);
        break;
      default:
        message satisfies never;
    }
  }

  function answerTo(id: number, question: Question): Answer {
    if (question.kind === "counters") {
      const eventLoop = loop?.stats();
      const of = eventLoop && { ...eventLoop, recent: eventLoop.recent.map((block) => ({ ...block, worker })) };
      return { kind: "counters", id, eventLoop: of, counters: countersOf(counters) };
    }
    if (question.kind === "standings") return { kind: "standings", id, standings: standings() };
    const status = question.streams.map((id) => {
      const session = sessions.get(id);
      return session?.opened && statusOf(session);
    });
    return { kind: "status", id, status };
  }

  async function listen(address: string, descriptor: number): Promise<void> {
    if (settings.eventLoop) {
      loop ??= createEventLoopWatch(
        settings.eventLoop,
        () => counters.work(),
        (block) => context.events.emit(() => ({ kind: "event-loop-blocked", block: { ...block, worker } })),
      );
    }
    try {
      await transport.listen(address, accept, calls.services, descriptor);
      for (const server of transport.servers) turns.add(server);
      outbox.add({ kind: "listening" });
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      outbox.add({ kind: "listen-failed", code: code ?? "", message });
    }
  }

  async function close(timeoutMs: number): Promise<void> {
    closing = true;
    turns.close();
    loop?.stop();
    // First: a client that hears of its stream's end before that of its connection opens another one there, in vain.
    const closed = transport.close(timeoutMs);
    for (const session of sessions.values()) session.end(statusCode.ok as StatusCode, "");
    await closed;
    outbox.add({ kind: "ended" });
  }

  return {
    take({ seq: next, messages }) {
      seq = next;
      for (const message of messages) carryOut(message);
    },
  };
}

/** Where the unary methods of discovery are. */
function unaryPaths(types: ResourceTypes): ReadonlyMap<string, readonly [service: string, method: string]> {
  const found = new Map<string, readonly [string, string]>();
  for (const [service, methods] of discoveryMethods(types)) {
    for (const [name, method] of methods) if (method.unary) found.set(keyOf(method), [service, name]);
  }
  return found;
}

function keyOf({ api, only }: Method): string {
  return `${api} ${only?.typeUrl}`;
}
