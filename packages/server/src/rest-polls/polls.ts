import { performance } from "node:perf_hooks";
import { type JsonRequest, type Node, readJsonRequest, selectionOf, statusCode } from "@xdskit/protocol";
import { createFairQueue } from "../basics/fair-queue.js";
import { createRateLimit, type RateLimit } from "../basics/rate-limit.js";
import type { PollAnswer, PollCall, PollConnection, PollHandler, PollRefusal } from "../contracts/poll-transport.js";
import { createDelivered, type Poller } from "./delivered.js";
import { HeldPoll, shuttingDown } from "./held-poll.js";
import { type PollContext, pollFault } from "./poll-context.js";

/** Answers polls: at once, when a change concerns them, or when they were held long enough. */
export interface Polls extends PollHandler {
  /** Ends the held polls, and refuses new ones. */
  close(): void;
}

export function createPolls(context: PollContext): Polls {
  const { limits, publication, counters, events } = context;
  const delivered = createDelivered();
  const queue = createFairQueue<HeldPoll>((poll) => poll.work());
  const held = new Set<HeldPoll>();
  const ofAddress = new Map<string, number>();
  const rates = new WeakMap<PollConnection, RateLimit>();
  let closed = false;

  function refuse(refusal: PollRefusal, from: { peer: string; path: string; node?: string | undefined }): PollRefusal {
    const { status, message } = refusal;
    counters.refusePoll(status);
    const { peer, path, node } = from;
    events.emit(() => ({ kind: "poll-refused", peer, path, node, status, message }));
    return refusal;
  }

  /** A program's function that names groups may throw. */
  function guarded(call: PollCall, answer: (answer: PollAnswer) => void): PollRefusal | HeldPoll {
    try {
      return admit(call, answer);
    } catch (error) {
      return pollFault(context, call, error);
    }
  }

  /** The refusal, or what begins the poll. */
  function admit(call: PollCall, answer: (answer: PollAnswer) => void): PollRefusal | HeldPoll {
    if (closed) return shuttingDown;
    const crowd = crowded(call.connection);
    if (crowd !== undefined) return { kind: "refused", status: 429, message: crowd, retryAfterS: 1 };
    const read = readJsonRequest(call.json);
    if (read.kind === "malformed") return bad(`malformed discovery request: ${read.message}`);
    const { request } = read;
    if (request.names.length > limits.namesPerRequest) {
      const message = `a request has more than ${limits.namesPerRequest} resource names`;
      return { kind: "refused", status: 413, message };
    }
    const node = nodeOf(request);
    if (node === undefined) return bad("the request does not say who it is from: node.id is missing");
    if (call.bytes > limits.nodeBytes && nodeLength(node) > limits.nodeBytes) {
      const message = `the node takes more than ${limits.nodeBytes} bytes without its extensions`;
      return { kind: "refused", status: 413, message };
    }
    const admission = publication.admit(node, "poll");
    if ("code" in admission) {
      const { code, message } = admission;
      if (code === statusCode.resourceExhausted) return { kind: "refused", status: 429, message, retryAfterS: 1 };
      return { kind: "refused", status: 403, message };
    }
    return begin(call, request, node, admission.join, answer);
  }

  function begin(
    { api, type, path, connection }: PollCall,
    request: JsonRequest,
    given: Node,
    join: ConstructorParameters<typeof HeldPoll>[1],
    answer: (answer: PollAnswer) => void,
  ): HeldPoll | PollRefusal {
    const subscription = selectionOf(request.names, type);
    const { names } = subscription;
    const memory = context.heldMemory.of(connection.peer);
    const node = memory.sameNode(given);
    const letGo = () => {
      memory.change(names, undefined);
      memory.change(node, undefined);
      memory.leave();
    };
    const much = memory.change(undefined, node) ?? memory.change(undefined, names);
    if (much !== undefined) {
      letGo();
      return { kind: "refused", status: 429, message: much, retryAfterS: 1 };
    }
    const poller: Poller = { node: node.id, connection, api, type, subscription };
    // A held poll would keep the parts of its request that are no longer needed.
    const kept: JsonRequest = { ...request, names: [], node: undefined };
    const { address } = connection;
    const count = counters.poll(type, api);
    const poll = new HeldPoll(
      {
        context,
        queue,
        poller,
        node,
        request: kept,
        verdict: delivered.judge(poller, kept),
        delivers: (version) => delivered.note(poller, kept, version),
        answer: (given) => answer(given.kind === "refused" ? refuse(given, from(connection, path, node)) : given),
        ended() {
          held.delete(poll);
          letGo();
          count.held -= 1;
          const left = (ofAddress.get(address) ?? 1) - 1;
          if (left === 0) ofAddress.delete(address);
          else ofAddress.set(address, left);
        },
      },
      join,
    );
    held.add(poll);
    count.held += 1;
    ofAddress.set(address, (ofAddress.get(address) ?? 0) + 1);
    return poll;
  }

  /** Why no more polls are taken, over all, from an address, or on a connection. */
  function crowded(connection: PollConnection): string | undefined {
    if (held.size >= limits.polls) return `the server has ${held.size} polls under way and takes no more`;
    const here = ofAddress.get(connection.address) ?? 0;
    if (here >= limits.pollsPerAddress) {
      return `${here} polls are under way from ${connection.address}, and no address may have more`;
    }
    let rate = rates.get(connection);
    if (rate === undefined) {
      rate = createRateLimit(limits.requestsPerSecond, limits.requestBurst);
      rates.set(connection, rate);
    }
    if (rate.take(performance.now())) return undefined;
    return `more than ${limits.requestsPerSecond} requests per second on one connection`;
  }

  function nodeOf({ node }: JsonRequest): Node | undefined {
    return node === undefined || node.id === "" ? context.defaultNode : node;
  }

  return {
    poll(call, answer) {
      const { type, api, path, connection } = call;
      const count = counters.poll(type, api);
      count.polls += 1;
      count.requestBytes += call.bytes;
      const poll = guarded(call, answer);
      if (poll instanceof HeldPoll) return () => poll.cancel();
      answer(refuse(poll, from(connection, path, undefined)));
      return () => {};
    },
    refuse,
    close() {
      closed = true;
      for (const poll of [...held]) poll.shutDown();
    },
  };
}

function from({ peer }: PollConnection, path: string, node: Node | undefined) {
  return { peer, path, node: node?.id };
}

function bad(message: string): PollRefusal {
  return { kind: "refused", status: 400, message };
}

/** Roughly the bytes that are kept of a node. */
function nodeLength(node: Node): number {
  try {
    return JSON.stringify(node).length;
  } catch {
    // Nested deeper than the stack goes.
    return Number.POSITIVE_INFINITY;
  }
}
