import { performance } from "node:perf_hooks";
import { getOrInsert } from "@xdskit/api";
import { createFairQueue } from "@xdskit/grpc-server";
import { beyondNames, type JsonRequest, type Node, readJsonRequest, selectionOf, statusCode } from "@xdskit/protocol";
import { Counts } from "../basics/counts.js";
import { RateLimit } from "../basics/rate-limit.js";
import type { PollAnswer, PollCall, PollConnection, PollHandler, PollRefusal } from "../contracts/poll-transport.js";
import { type Caller, notKnown } from "../identity/caller.js";
import { nothingShown } from "../identity/evidence.js";
import type { Membership } from "../publication/membership.js";
import type { GroupClient } from "../publication/stack-part.js";
import { createDelivered, type Poller } from "./delivered.js";
import { ParkedPoll, shuttingDown } from "./parked-poll.js";
import { type PollContext, pollFault } from "./poll-context.js";

/** Answers polls: at once, when a change concerns them, or when they were parked long enough. */
export class Polls implements PollHandler {
  readonly #context: PollContext;
  readonly #delivered = createDelivered();
  readonly #queue = createFairQueue<ParkedPoll>((poll) => poll.work());
  readonly #parked = new Set<ParkedPoll>();
  readonly #ofAddress = new Counts<string>();
  readonly #rates = new WeakMap<PollConnection, RateLimit>();
  /** Polls of which it is not known yet who asks. */
  #deciding = 0;
  #closed = false;

  constructor(context: PollContext) {
    this.#context = context;
  }

  poll(call: PollCall, answer: (answer: PollAnswer) => void): () => void {
    const { type, api, path, connection, bytes } = call;
    const count = this.#context.counters.poll(type, api);
    count.polls += 1;
    count.requestBytes += bytes;
    const { evidence = nothingShown } = call;
    const begin = (caller: Caller | undefined): (() => void) => {
      const poll = caller === undefined ? refused(403, notKnown) : this.#guarded(call, caller, answer);
      if (poll instanceof ParkedPoll) return () => poll.cancel();
      answer(this.refuse(poll, { peer: connection.peer, path }));
      return () => {};
    };
    const caller = this.#context.gate.callerOf(evidence, { peer: connection.peer, called: path });
    return caller instanceof Promise ? this.#later(caller, call, begin, answer) : begin(caller);
  }

  /** Begins a poll once it is known who asks, unless its client is gone by then. */
  #later(
    caller: Promise<Caller | undefined>,
    { connection, path }: PollCall,
    begin: (caller: Caller | undefined) => () => void,
    answer: (answer: PollAnswer) => void,
  ): () => void {
    let cancel: (() => void) | undefined;
    if (this.#deciding >= this.#context.limits.polls) {
      answer(this.refuse(busy("too many polls wait until it is known who asks"), { peer: connection.peer, path }));
      return () => {};
    }
    this.#deciding += 1;
    let isGone = false;
    void caller.then((known) => {
      this.#deciding -= 1;
      if (!isGone) cancel = begin(known);
    });
    return () => {
      isGone = true;
      cancel?.();
    };
  }

  refuse(refusal: PollRefusal, from: { peer: string; path: string; node?: string }): PollRefusal {
    const { status, message } = refusal;
    const { peer, path, node } = from;
    this.#context.counters.refusePoll(status);
    this.#context.events.emit("poll-refused", () => ({ peer, path, node, status, message }));
    return refusal;
  }

  /** Ends the parked polls, and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const poll of [...this.#parked]) poll.shutDown();
  }

  /** A program's function that names groups may throw. */
  #guarded(call: PollCall, caller: Caller, answer: (answer: PollAnswer) => void): PollRefusal | ParkedPoll {
    try {
      return this.#admit(call, caller, answer);
    } catch (error) {
      return pollFault(this.#context, call, error);
    }
  }

  /** Returns the refusal, or begins the poll. */
  #admit(call: PollCall, caller: Caller, answer: (answer: PollAnswer) => void): PollRefusal | ParkedPoll {
    const { limits, publication, defaultNode } = this.#context;
    if (this.#closed) return shuttingDown;
    const crowd = this.#crowded(call.connection, caller);
    if (crowd !== undefined) return busy(crowd);
    const read = readJsonRequest(call.json);
    if (read.kind === "malformed") return refused(400, `malformed discovery request: ${read.message}`);
    const { request } = read;
    const much = beyondNames(request.names, limits.namesPerRequest);
    if (much !== undefined) return refused(413, much);
    const node = request.node === undefined || request.node.id === "" ? defaultNode : request.node;
    if (node === undefined) return refused(400, "the request does not say who it is from: node.id is missing");
    if (call.bytes > limits.nodeBytes && nodeLength(node) > limits.nodeBytes)
      return refused(413, `the node takes more than ${limits.nodeBytes} bytes without its extensions`);
    const admission = publication.admit(caller, node, "poll");
    if (!("code" in admission)) return this.#begin(call, request, caller, node, admission.join, answer);
    const { code, message } = admission;
    return code === statusCode.resourceExhausted ? busy(message) : refused(403, message);
  }

  #begin(
    { api, type, path, connection, evidence = nothingShown }: PollCall,
    request: JsonRequest,
    caller: Caller,
    given: Node,
    join: (subscriber: GroupClient) => Membership,
    answer: (answer: PollAnswer) => void,
  ): ParkedPoll | PollRefusal {
    const subscription = selectionOf(request.names, type);
    const { names } = subscription;
    const memory = this.#context.retainedMemory.of(connection.peer, caller.identity);
    const node = memory.sameNode(given);
    const letGo = () => {
      memory.change(names, undefined);
      memory.change(node, undefined);
      memory.leave();
    };
    const much = memory.change(undefined, node) ?? memory.change(undefined, names);
    if (much !== undefined) {
      letGo();
      return busy(much);
    }
    const poller: Poller = { node: node.id, connection, api, type, subscription };
    // A parked poll would keep the parts of its request that are no longer needed.
    const kept: JsonRequest = { ...request, names: [], node: undefined };
    const from = { peer: connection.peer, path, node: node.id };
    const count = (by: 1 | -1) => {
      this.#context.counters.poll(type, api).parked += by;
      this.#ofAddress.add(connection.address, by);
    };
    const poll = new ParkedPoll(
      {
        context: this.#context,
        queue: this.#queue,
        poller,
        node,
        onDemand: this.#context.onDemand(caller),
        request: kept,
        verdict: this.#delivered.judge(poller, kept),
        delivers: (version) => this.#delivered.note(poller, kept, version),
        answer: (given) => answer(given.kind === "refused" ? this.refuse(given, from) : given),
        ended: () => {
          this.#parked.delete(poll);
          this.#context.openCalls.closed(poll);
          letGo();
          share?.close();
          count(-1);
        },
      },
      join,
    );
    this.#parked.add(poll);
    const share = this.#context.shares.open(caller, "poll");
    this.#context.openCalls.opened(poll, { caller, evidence });
    count(1);
    return poll;
  }

  /** Why no more polls are accepted, in total, from an address, on a connection, or of an identity. */
  #crowded(connection: PollConnection, caller: Caller): string | undefined {
    const { polls, pollsPerAddress, requestsPerSecond, requestBurst } = this.#context.limits;
    if (this.#parked.size >= polls) return `the server has ${this.#parked.size} polls under way and takes no more`;
    const here = this.#ofAddress.of(connection.address);
    if (here >= pollsPerAddress)
      return `${here} polls are under way from ${connection.address}, and no address may have more`;
    const rate = getOrInsert(this.#rates, connection, () => new RateLimit(requestsPerSecond, requestBurst));
    const { shares } = this.#context;
    if (rate.take(performance.now())) return shares.full(caller, "poll") ?? shares.polled(caller);
    return `more than ${requestsPerSecond} requests per second on one connection`;
  }
}

function refused(status: PollRefusal["status"], message: string): PollRefusal {
  return { kind: "refused", status, message };
}

/** A refusal that suggests another try soon. */
function busy(message: string): PollRefusal {
  return { kind: "refused", status: 429, message, retryAfterS: 1 };
}

/** The approximate number of bytes that are kept of a node. */
function nodeLength(node: Node): number {
  try {
    return JSON.stringify(node).length;
  } catch {
    // Nested deeper than the stack goes.
    return Number.POSITIVE_INFINITY;
  }
}
