import { performance } from "node:perf_hooks";
import type { ResourceName, ResourceType } from "@xdskit/api";
import {
  createStream,
  type Node,
  type ResourceErrorPolicy,
  type Snapshot,
  type StatusCode,
  type Stream,
  type StreamEffect,
  type StreamEvent,
  statusCode,
  type TtlPolicy,
  type TypeStatus,
  tellsTtl,
} from "@xdskit/protocol";
import { type Alarm, createAlarm } from "./alarm.js";
import { type Counters, countResponse } from "./counters.js";
import type { NodeStreamInfo, ServerEvent, StreamInfo } from "./events.js";
import type { LedgerStream } from "./ledger/ledger-stream.js";
import type { OrderMembership } from "./node-orders.js";
import { errorsOfLate } from "./on-demand/late-names.js";
import type { Outcome } from "./on-demand/wanted.js";
import type { Membership } from "./publication.js";
import type { PulseListener } from "./pulse.js";
import { createRateLimit, type RateLimit } from "./rate-limit.js";
import type { SessionContext } from "./session-context.js";
import { tellEffect } from "./session-effects.js";
import type { Subscriber } from "./shared-stacks.js";
import type { LayerName } from "./source.js";
import type { Connection, ConnectionHandler } from "./transport.js";
import type { Standing } from "./views/place.js";
import { standingOf } from "./views/standing.js";

/** One client's stream: joins the protocol's machine, the transport's connection and the group of the node, and counts. */
export class Session implements ConnectionHandler, Subscriber, PulseListener, LedgerStream {
  readonly #context: SessionContext;
  readonly #connection: Connection;
  readonly #stream: Stream;
  readonly #rate: RateLimit;
  readonly #counter: ReturnType<Counters["stream"]>;
  #info: StreamInfo;
  #opened: NodeStreamInfo | undefined;
  #membership: Membership | undefined;
  #order: OrderMembership | undefined;
  #alarm: Alarm | undefined;
  #ttl: TtlPolicy | undefined;
  #resourceErrors: ResourceErrorPolicy | undefined;
  #room = true;
  #halfClosed = false;
  /** True once the stream is at its end, though what was sent may still wait for its client. */
  #over = false;
  #released = false;
  readonly openedAt = Date.now();
  #unsettledSince: number;
  #settled = false;

  constructor(context: SessionContext, connection: Connection, id: number) {
    const { types, limits, defaultNode, onDemand, naming } = context;
    const { authorities, resourceErrors } = naming;
    const { method, peer } = connection;
    const { variant, api, only } = method;
    this.#context = context;
    this.#connection = connection;
    this.#info = { id, method, peer };
    this.#stream = createStream({
      variant,
      api,
      only,
      types,
      limits,
      defaultNode,
      onDemand,
      authorities,
      resourceErrors,
      progressed: () => this.#wantsWork("answers"),
    });
    this.#unsettledSince = context.clock.now();
    this.#rate = createRateLimit(limits.requestsPerSecond, limits.requestBurst);
    this.#counter = context.counters.stream(method);
    this.#counter.open += 1;
    this.#counter.opened += 1;
  }

  received(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#counter.requests += 1;
    this.#counter.requestBytes += bytes.byteLength;
    if (!this.#rate.take(performance.now())) {
      const { requestsPerSecond } = this.#context.limits;
      this.#refuse(statusCode.resourceExhausted, `more than ${requestsPerSecond} requests per second on one stream`);
      return;
    }
    let isLastWord = false;
    try {
      const effects = this.#step({ kind: "request", bytes });
      isLastWord = effects.length === 1 && effects[0]?.kind === "acknowledged";
    } catch (error) {
      this.#failed(error);
    }
    this.#progress();
    // The usual acknowledgement: nothing is lacking afterwards, so that there is nothing to look for.
    if (isLastWord && this.#settled && this.#room) this.#alarm?.set(this.#stream.deadline());
    // Not answered at once: requests that come together are answered together, and in turn with other streams.
    else this.#wantsWork("answers");
  }

  drained(): void {
    if (this.#over || this.#room) return;
    this.#room = true;
    this.#counter.behind -= 1;
    if (this.#halfClosed) this.end(statusCode.ok, "");
    else this.#wantsWork("answers");
  }

  /** Rule 14: a client that half-closes is done. What it asked for before, as `grpcurl -d` does, it gets. */
  finished(): void {
    this.work();
    this.#halfClosed = true;
    // What it does not read goes on to cost memory, and the stream to count, until it does.
    this.#endOnceDecided();
  }

  /** Only now the stream counts no more: after `end` it still costs what its client has not read. */
  closed(): void {
    this.#finish(undefined, "");
    if (this.#released) return;
    this.#released = true;
    this.#counter.open -= 1;
    if (!this.#room) this.#counter.behind -= 1;
    this.#membership?.leave();
    this.#membership = undefined;
    this.#context.ended(this);
  }

  changed(newest?: Snapshot): void {
    // Of thousands that a change does not concern none is looked at any further.
    if (newest === undefined || !this.#stream.isAbreast(newest)) this.#wantsWork("changes");
  }

  beat(interval: number): void {
    if (this.#over) return;
    this.#guard(() => this.#step({ kind: "heartbeat", interval }));
    this.#wantsWork("changes");
  }

  settled(type: ResourceType, name: ResourceName, outcome: Outcome): void {
    if (this.#over) return;
    const names = [name];
    const errors = outcome === "late" ? errorsOfLate(names) : [];
    if (outcome !== "found") this.#guard(() => this.#stream.step({ kind: "absent", type, names, errors }));
    this.#wantsWork("answers");
  }

  #wantsWork(lane: "answers" | "changes"): void {
    if (!this.#over) this.#context.queue.add(this, lane);
  }

  /**
   * Gives the machine what is new and the client what it lacks, as far as there is room. Called by the queue. A client without room costs
   * the first half only; when it has room again, it gets the rest of what was begun, then the newest (latest wins).
   */
  work(): void {
    if (this.#over) return;
    try {
      this.#giveSnapshot();
      const now = this.#now;
      while (this.#room && !this.#over) {
        const response = this.#stream.next(now);
        if (response === undefined) break;
        countResponse(this.#context.counters.type(response.type, this.#info.method.variant), response);
        const { body, tail } = response;
        if (this.#connection.send(body.bytes, tail, body)) continue;
        this.#room = false;
        this.#counter.behind += 1;
      }
      // Without room nothing can go on: what is due by then is seen to once there is.
      this.#alarm?.set(this.#over || !this.#room ? undefined : this.#stream.deadline());
    } catch (error) {
      this.#failed(error);
    }
    this.#progress();
    if (this.#halfClosed) this.#endOnceDecided();
  }

  /** It half-closed before it was decided what it is to have. */
  #endOnceDecided(): void {
    if (this.#room && this.#membership?.isAwaited !== true) this.end(statusCode.ok, "");
  }

  #giveSnapshot(): void {
    const snapshot = this.#membership?.snapshot();
    if (snapshot === undefined || this.#stream.isAbreast(snapshot)) return;
    this.#step({
      kind: "snapshot",
      snapshot,
      ttl: this.#ttl,
      resourceErrors: this.#resourceErrors,
      ordering: this.#order?.ordering,
      line: this.#membership?.line,
    });
  }

  /** In whole milliseconds: what streams do within one they remember as one. */
  get #now(): number {
    return Math.floor(this.#context.clock.now());
  }

  #step(event: StreamEvent): readonly StreamEffect[] {
    const effects = this.#stream.step(event, this.#now);
    this.#carryOut(effects);
    return effects;
  }

  /** Called where the client may have become settled, or may be no longer. */
  #progress(): void {
    const stream = this.#opened;
    if (this.#over || stream === undefined) return;
    this.#membership?.progressed();
    const settled = this.isSettled;
    if (settled !== this.#settled) {
      this.#settled = settled;
      if (settled) this.#tell({ kind: "synced", stream });
      else this.#unsettledSince = this.#context.clock.now();
    }
    this.#context.arrivals.progressed(this);
  }

  /** Who it is, before its node is known too. */
  get info(): StreamInfo {
    return this.#info;
  }

  get opened(): NodeStreamInfo | undefined {
    return this.#over ? undefined : this.#opened;
  }

  get layers(): readonly LayerName[] | undefined {
    return this.#membership?.layers;
  }

  get snapshot(): Snapshot | undefined {
    return this.#membership?.snapshot();
  }

  get newest(): Snapshot | undefined {
    return this.#membership?.newest();
  }

  get isSettled(): boolean {
    return this.#stream.isSettled && this.#stream.newest === this.snapshot;
  }

  standing(): Standing {
    return this.#stream.newest === this.snapshot ? standingOf(this.#stream) : "pending";
  }

  get unsettledSince(): number {
    // What was just published it did not hear of yet.
    return this.#settled ? this.#context.clock.now() : this.#unsettledSince;
  }

  status(): readonly TypeStatus[] {
    return this.#stream.status();
  }

  /** Ends the stream, for the server's own reasons. */
  end(code: StatusCode, message: string): void {
    if (this.#over) return;
    this.#finish(code, message);
    this.#connection.end(code, message);
  }

  #carryOut(effects: readonly StreamEffect[]): void {
    for (const effect of effects) {
      if (this.#over) return;
      this.#note(effect);
    }
  }

  #note(effect: StreamEffect): void {
    switch (effect.kind) {
      case "identified":
        this.#identified(effect.node);
        break;
      case "close":
        this.#refuse(effect.code, effect.message);
        break;
      case "demanded": {
        // What is there now is not decided on again, so the machine must have seen it.
        this.#giveSnapshot();
        const answered = this.#membership?.interest?.demand(effect);
        if (answered === undefined) break;
        const { absent, late } = answered;
        const names = late.length === 0 ? absent : [...absent, ...late];
        this.#stream.step({ kind: "absent", type: effect.type, names, errors: errorsOfLate(late) });
        break;
      }
      case "acknowledged":
        if (this.#opened !== undefined) this.#acknowledged(effect, this.#opened);
        break;
      default:
        if (this.#opened !== undefined) tellEffect(effect, this.#opened, this.#context, this.#membership);
    }
  }

  /** The most usual of all. */
  #acknowledged(
    { type, version }: Extract<StreamEffect, { readonly kind: "acknowledged" }>,
    stream: NodeStreamInfo,
  ): void {
    const { counters, events } = this.#context;
    counters.type(type, stream.method.variant).acknowledged += 1;
    if (events.wants("acknowledged")) this.#tell({ kind: "acknowledged", stream, type, version });
  }

  #tell(event: ServerEvent): void {
    this.#context.events.emit(() => event);
  }

  #identified(node: Node): void {
    const { publication, events } = this.#context;
    const admission = publication.admit(node);
    if ("code" in admission) {
      this.#refuse(admission.code, admission.message, node);
      return;
    }
    this.#ttl = admission.ttl;
    this.#resourceErrors = admission.resourceErrors;
    this.#membership = admission.join(this, tellsTtl(this.#info.method, node, admission.ttl) ? this : undefined);
    const { group } = this.#membership;
    const { id, method, peer } = this.#info;
    this.#order = this.#context.orders?.join(method, node, group);
    if (this.#order !== undefined) this.#alarm = createAlarm(this.#context.clock, () => this.#timePassed());
    const stream: NodeStreamInfo = { id, method, peer, node, group };
    this.#opened = stream;
    events.emit(() => ({ kind: "stream-opened", stream }));
  }

  #timePassed(): void {
    if (this.#over) return;
    this.#guard(() => this.#step({ kind: "time" }));
    this.#wantsWork("answers");
  }

  /** Ends the stream for a fault of the client's. */
  #refuse(code: StatusCode, message: string, node?: Node): void {
    if (this.#over) return;
    const { counters, events } = this.#context;
    counters.refuse(code);
    if (this.#opened === undefined) {
      events.emit(() => ({ kind: "stream-refused", stream: this.#info, node, code, message }));
    }
    this.end(code, message);
  }

  /** A fault in here ends this stream, never the server. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#context.events.emit(() => ({ kind: "fault", stream: this.#info, error }));
    this.#context.counters.refuse(statusCode.internal);
    this.end(statusCode.internal, "internal error");
  }

  /** Nothing is read or sent from here on. */
  #finish(code: StatusCode | undefined, message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.queue.delete(this);
    const stream = this.#opened;
    if (stream !== undefined) {
      this.#context.events.emit(() => ({ kind: "stream-closed", stream, code, message }));
      this.#context.arrivals.left(this, stream.node.id);
    }
    // The machine holds a snapshot; a transport may hold on to the session a little longer.
    this.#membership?.ends();
    this.#stream.end();
    this.#alarm?.set(undefined);
    this.#order?.leave();
  }
}
