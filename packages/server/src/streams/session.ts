import { performance } from "node:perf_hooks";
import type { ResourceName, ResourceType } from "@xdskit/api";
import {
  createStream,
  type Node,
  type Snapshot,
  type StatusCode,
  type Stream,
  type StreamEffect,
  type StreamEvent,
  statusCode,
  type TypeStatus,
} from "@xdskit/protocol";
import { RateLimit } from "../basics/rate-limit.js";
import type { ReportedStream, RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { NodeStreamInfo, StreamInfo } from "../contracts/nodes/stream-info.js";
import type { StreamRecorder } from "../contracts/parts/progress.js";
import type { NameDecision } from "../contracts/parts/supply.js";
import type { MemberStanding } from "../contracts/parts/target-policy.js";
import type { CallHandler, DiscoveryCall, PeerIdentity } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
import { type Counters, countResponse } from "../publication/counters.js";
import type { PulseListener } from "../publication/pulse.js";
import type { GroupClient } from "../publication/shared-stacks.js";
import type { LayerName } from "../settings/group-settings.js";
import { AbsentNames } from "./absent-names.js";
import { GivenTarget } from "./given-target.js";
import { type Joined, type JoiningStream, joinAgain, joinNode, leaveOrder } from "./joining.js";
import type { StreamMemory } from "./limits/held-memory.js";
import { memberStandingOf } from "./member-standing.js";
import type { SessionContext } from "./session-context.js";
import { tellEffect } from "./session-effects.js";

/** The bytes of a message that gRPC's clients take unless they are told otherwise. */
const usualMessageBytes = 4 * 1024 * 1024;

/**
 * One client's stream in the server. It joins three parts: the protocol's machine (`Stream`), which makes the
 * responses; the transport's call, which has room for it or not; and the membership in the node's group, which gives
 * the target snapshot. It runs in turns that the fair queue gives it, and does the counting and reporting.
 */
export class Session implements CallHandler, GroupClient, PulseListener, ReportedStream {
  readonly #context: SessionContext<Session>;
  readonly #call: DiscoveryCall;
  readonly caller: Caller;
  readonly #stream: Stream;
  readonly #given: GivenTarget;
  readonly #memory: StreamMemory;
  readonly #rate: RateLimit;
  readonly #counter: ReturnType<Counters["stream"]>;
  readonly #info: StreamInfo;
  /** Undefined before its node is known, and once the call is gone. */
  #joined: Joined | undefined;
  /** Undefined if none is kept. */
  #recorder: StreamRecorder | undefined;
  /** Undefined until a name is decided as absent. */
  #absent: AbsentNames | undefined;
  /** Whether the connection takes another response. */
  #room = true;
  #halfClosed = false;
  /** A response that many clients do not take, until its client says something. */
  #large: { readonly type: ResourceType; readonly bytes: number } | undefined;
  /** Whether the stream ended. Its client may still have to read responses. */
  #over = false;
  #released = false;
  readonly openedAt = Date.now();
  #unsettledSince: number;
  /** Whether the client used exactly its target at the last look (`#progress`). */
  #wasSettled = false;

  constructor(context: SessionContext<Session>, call: DiscoveryCall, id: number, caller: Caller) {
    this.caller = caller;
    const { types, limits, defaultNode, onDemand, naming, heldMemory } = context;
    const { method, peer } = call;
    const { variant, api, only } = method;
    this.#context = context;
    this.#call = call;
    this.#info = { id, method, peer };
    this.#memory = heldMemory.of(peer, caller.identity);
    this.#stream = createStream({
      variant,
      api,
      only,
      types,
      limits,
      defaultNode,
      onDemand: onDemand(caller),
      isNodeFixed: caller.isRestricted,
      ...naming,
      heldMemory: this.#memory,
      mayGoOn: () => this.#wantsWork("answers"),
    });
    this.#unsettledSince = context.clock.now();
    this.#given = new GivenTarget(Math.floor(this.#unsettledSince));
    this.#rate = new RateLimit(limits.requestsPerSecond, limits.requestBurst);
    this.#counter = context.counters.stream(method);
    this.#counter.open += 1;
    this.#counter.opened += 1;
  }

  received(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#counter.requests += 1;
    this.#counter.requestBytes += bytes.byteLength;
    this.#large = undefined;
    if (!this.#rate.take(performance.now())) {
      const { requestsPerSecond } = this.#context.limits;
      this.#refuse(statusCode.resourceExhausted, `more than ${requestsPerSecond} requests per second on one stream`);
      return;
    }
    let isAcknowledgement = false;
    try {
      const effects = this.#step({ kind: "request", bytes });
      this.#progress();
      isAcknowledgement = effects.length === 1 && effects[0]?.kind === "acknowledged";
    } catch (error) {
      this.#failed(error);
    }
    // After the last acknowledgement of a change the stream needs no turn.
    if (isAcknowledgement && this.#wasSettled && this.#room) this.#joined?.alarm?.set(this.#stream.deadline());
    // Not answered here: requests that come together are answered together, and in turn with other streams.
    else this.#wantsWork("answers");
  }

  drained(): void {
    if (this.#over || this.#room) return;
    this.#room = true;
    this.#counter.behind -= 1;
    if (this.#halfClosed) this.end(statusCode.ok, "");
    else this.#wantsWork("answers");
  }

  /** Rule 14: a client that half-closes is done. It still gets the answers to its requests, as `grpcurl -d` needs. */
  finished(): void {
    this.#joined?.resumption?.end();
    this.work();
    this.#halfClosed = true;
    // Responses that the client has not read yet cost memory, so the stream counts until it has read them.
    if (this.#room) this.end(statusCode.ok, "");
  }

  /** The call is gone, with everything that the client had not read: only now the stream no longer counts as open. */
  closed(): void {
    if (!this.#over && this.#large !== undefined && this.#joined !== undefined) {
      const [{ stream }, large] = [this.#joined, this.#large];
      this.#context.events.emit("large-response-unanswered", () => ({ stream, ...large }));
    }
    this.#finish(undefined, "");
    if (this.#released) return;
    this.#released = true;
    this.#counter.open -= 1;
    if (!this.#room) this.#counter.behind -= 1;
    this.#joined?.membership.leave();
    this.#joined = undefined;
    this.#context.ended(this);
  }

  changed(newest?: Snapshot): void {
    // A stream that the change does not concern has already followed its lineage, and needs no turn.
    if (newest === undefined || !this.#stream.isUpToDateWith(newest)) this.#wantsWork("changes");
  }

  beat(interval: number): void {
    this.#take({ kind: "heartbeat", interval }, "changes");
  }

  /** Takes an event that no client has caused. A fault of the server ends this stream, never the server. */
  #take(event: StreamEvent, lane: "answers" | "changes"): void {
    if (this.#over) return;
    try {
      this.#step(event);
    } catch (error) {
      this.#failed(error);
    }
    this.#wantsWork(lane);
  }

  nameDecided(type: ResourceType, name: ResourceName, outcome: NameDecision): void {
    if (this.#over) return;
    this.#decided(type, name, outcome);
    this.#wantsWork("answers");
  }

  #decided(type: ResourceType, name: ResourceName, outcome: NameDecision): void {
    if (outcome !== "found") this.#absent ??= new AbsentNames();
    this.#absent?.decided(type, name, outcome);
  }

  #tellAbsent(): void {
    if (this.#absent === undefined) return;
    const { newest } = this.#stream;
    for (const event of this.#absent.take(newest)) this.#stream.step(event);
    // The machine has the newest snapshot and was told every absent name. Names that are left exist in that snapshot:
    // forget them.
    if (newest !== undefined && newest === this.newest) this.#absent = undefined;
  }

  #wantsWork(lane: "answers" | "changes"): void {
    if (!this.#over) this.#context.queue.add(this, lane);
  }

  /**
   * Gives the machine the newest snapshot, and the client its missing resources, as long as there is room. Called by
   * the queue. A client without room gets nothing now. When there is room again, it gets the rest of the pass that
   * began, then the newest snapshot (latest wins).
   */
  work(): void {
    if (this.#over) return;
    try {
      this.#giveSnapshot();
      this.#tellAbsent();
      const now = this.#now;
      while (this.#room && !this.#over) {
        const response = this.#stream.next(now);
        if (response === undefined) break;
        countResponse(this.#context.counters.type(response.type, this.#info.method.variant), response);
        if (!response.isHeartbeat) this.#recorder?.sent(response, now);
        const { body, tail } = response;
        const size = body.bytes.byteLength + tail.byteLength;
        if (size > usualMessageBytes) this.#large = { type: response.type, bytes: size };
        if (this.#call.send(body.bytes, tail, body)) continue;
        this.#room = false;
        this.#counter.behind += 1;
      }
      // Without room nothing can be sent, so deadlines are checked again once there is room.
      this.#joined?.alarm?.set(this.#over || !this.#room ? undefined : this.#stream.deadline());
      this.#progress();
    } catch (error) {
      this.#failed(error);
    }
  }

  #giveSnapshot(): void {
    if (this.#joined === undefined) return;
    const event = this.#given.next(this.#joined, this.#stream, this.#context.clock);
    if (event !== undefined) this.#step(event);
  }

  /** In whole milliseconds: streams that do the same within one share the record of it (`Sending`). */
  get #now(): number {
    return Math.floor(this.#context.clock.now());
  }

  #step(event: StreamEvent): readonly StreamEffect[] {
    this.#tellAbsent();
    const now = this.#now;
    const effects = this.#stream.step(event, now);
    for (const effect of effects) if (!this.#over) this.#note(effect, now);
    return effects;
  }

  /** Called when the client may have become settled, or may no longer be: tells callers that wait for that. */
  #progress(): void {
    if (this.#over || this.#joined === undefined) return;
    const { stream, membership, resumption } = this.#joined;
    // A supplier may be about to find what the client has, and what was late before that.
    if (membership.interest === undefined) resumption?.progressed();
    membership.seat.progressed?.();
    const { isSettled } = this;
    if (isSettled !== this.#wasSettled) {
      this.#wasSettled = isSettled;
      const { events, clock } = this.#context;
      if (!isSettled) this.#unsettledSince = clock.now();
      else events.emit("settled", () => ({ stream }));
    }
    this.#context.progress.progressed?.(this);
  }

  /** Identifies the stream, also before its node is known. */
  get info(): StreamInfo {
    return this.#info;
  }

  get opened(): NodeStreamInfo | undefined {
    return this.#over ? undefined : this.#joined?.stream;
  }

  get layers(): readonly LayerName[] | undefined {
    return this.#joined?.membership.layers;
  }

  get snapshot(): Snapshot | undefined {
    return this.#joined?.membership.snapshot();
  }

  get newest(): Snapshot | undefined {
    return this.#joined?.membership.newest();
  }

  get rollout(): RolloutAhead | undefined {
    return this.#joined?.membership.rollout();
  }

  get identity(): PeerIdentity | undefined {
    return this.#call.identity?.();
  }

  get comesBack(): boolean {
    return this.#joined?.resumption?.isOver === false;
  }

  get isSettled(): boolean {
    return this.#stream.isSettled && this.#stream.newest === this.snapshot;
  }

  standing(): MemberStanding {
    return this.#stream.newest === this.snapshot ? memberStandingOf(this.#stream) : "pending";
  }

  get unsettledSince(): number {
    // It was settled until now: the stream has not yet heard of the newest change.
    return this.#wasSettled ? this.#context.clock.now() : this.#unsettledSince;
  }

  get lagFrom(): number {
    return this.#given.lagFrom;
  }

  status(): readonly TypeStatus[] {
    return this.#stream.status();
  }

  /** Ends the stream, for the server's own reasons. */
  end(code: StatusCode, message: string): void {
    if (this.#over) return;
    this.#finish(code, message);
    this.#call.end(code, message);
  }

  #note(effect: StreamEffect, now: number): void {
    switch (effect.kind) {
      case "identified":
        this.#identified(effect.node);
        break;
      case "close":
        this.#refuse(effect.code, effect.message);
        break;
      case "demanded": {
        if (this.#joined === undefined) break;
        const { resumption, membership } = this.#joined;
        // Decisions are about the newest snapshot. A client that comes back gets that once all its requests are known.
        if (resumption === undefined || resumption.isOver) this.#giveSnapshot();
        const answered = membership.interest?.demand(effect);
        for (const outcome of ["absent", "late", "refused"] as const)
          for (const name of answered?.[outcome] ?? []) this.#decided(effect.type, name, outcome);
        this.#tellAbsent();
        break;
      }
      case "acknowledged":
        if (this.#joined !== undefined) this.#acknowledged(effect, this.#joined, now);
        break;
      default:
        if (this.#joined !== undefined) tellEffect(effect, this.#joined, this.#context);
    }
  }

  /** By far the most frequent effect. */
  #acknowledged(
    { type, version, published }: Extract<StreamEffect, { readonly kind: "acknowledged" }>,
    { stream, lags }: Joined,
    now: number,
  ): void {
    const { counters, events, rejections } = this.#context;
    counters.type(type, stream.method.variant).acknowledged += 1;
    if (published !== undefined) lags.record(type, Math.max(0, now - Math.max(published, this.lagFrom)));
    this.#recorder?.acknowledged(type, version, now);
    if (rejections.size > 0) rejections.accepted(stream.node.id, type.typeUrl, version);
    events.emit("acknowledged", () => ({ stream, type, version }));
  }

  #identified(node: Node): void {
    const { publication, events } = this.#context;
    const admission = publication.admit(this.caller, node);
    if ("code" in admission) {
      this.#refuse(admission.code, admission.message, node);
      return;
    }
    const joined = joinNode(this.#joining, this.#context, admission, node);
    this.#joined = joined;
    events.emit("stream-opened", () => ({ stream: joined.stream }));
    this.#recorder = this.#context.progress.recorderOf?.(node.id);
  }

  /** Made when it is needed: a stream joins seldom. */
  get #joining(): JoiningStream {
    return {
      // Spelled out: a spread costs a connecting fleet several times as much.
      info: this.#info,
      machine: this.#stream,
      client: this,
      caller: this.caller,
      changed: () => this.#wantsWork("changes"),
      failed: (error) => this.#failed(error),
      due: () => this.#take({ kind: "time" }, "answers"),
    };
  }

  /**
   * Groups, or the order, have changed: the stream joins the group that its node is in now, and its client goes to that
   * group's target in order. Returns true if anything changed for the stream.
   */
  rejoin(isOrderChanged: boolean): boolean {
    const joined = this.#joined;
    if (this.#over || joined === undefined) return false;
    const { membership, stream } = joined;
    const admission = this.#context.publication.readmit(this.caller, stream.node, membership);
    if (admission === undefined && !isOrderChanged) return false;
    if (admission !== undefined && "code" in admission) {
      this.#refuse(admission.code, admission.message, stream.node);
      return true;
    }
    // The supplier of another group does not know the names that the stream has asked for.
    if (admission !== undefined && membership.interest !== undefined) {
      this.end(statusCode.unavailable, "the node is in another group now: connect again");
      return true;
    }
    const rejoined = joinAgain(this.#joining, this.#context, joined, admission);
    this.#joined = rejoined;
    if (admission !== undefined) this.#context.events.emit("stream-moved", () => ({ stream: rejoined.stream }));
    this.#given.rejoined();
    this.#wantsWork("changes");
    return admission !== undefined;
  }

  /** Ends the stream for a fault of the client's. */
  #refuse(code: StatusCode, message: string, node?: Node): void {
    if (this.#over) return;
    const { counters, events } = this.#context;
    counters.refuse(code);
    if (this.#joined === undefined) {
      events.emit("stream-refused", () => ({ stream: this.#info, node, code, message }));
    }
    this.end(code, message);
  }

  #failed(error: unknown): void {
    this.#context.events.emit("fault", () => ({ stream: this.#info, error }));
    this.#context.counters.refuse(statusCode.internal);
    this.end(statusCode.internal, "internal error");
  }

  /** Ends the stream: it reads and sends nothing any more. */
  #finish(code: StatusCode | undefined, message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.queue.delete(this);
    if (this.#joined !== undefined) {
      const { stream, membership } = this.#joined;
      this.#context.events.emit("stream-closed", () => ({ stream, code, message }));
      this.#context.progress.left?.(this, stream.node.id);
      membership.seat.ends?.();
      leaveOrder(this.#joined);
    }
    // A transport may hold on to the session a little longer; the machine must not hold a snapshot for as long.
    this.#stream.end();
    this.#memory.leave();
  }
}
