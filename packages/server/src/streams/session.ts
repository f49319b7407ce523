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
import type { StreamInfo } from "../contracts/nodes/stream-info.js";
import type { NameDecision } from "../contracts/parts/supply.js";
import type { MemberStanding } from "../contracts/parts/target-policy.js";
import type { CallHandler, DiscoveryCall, Method } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
import { countResponse } from "../publication/counters.js";
import type { PulseListener } from "../publication/pulse.js";
import type { GroupClient } from "../publication/stack-part.js";
import { wholeNow } from "./given-target.js";
import { JoinedStream } from "./joined-stream.js";
import type { JoiningStream } from "./joining.js";
import type { StreamMemory } from "./limits/retained-memory.js";
import { memberStandingOf } from "./member-standing.js";
import type { SessionContext } from "./session-context.js";
import { StreamCall } from "./stream-call.js";

/**
 * One client's stream in the server. It joins three parts: the protocol's machine (`Stream`), which makes the
 * responses; the client's call (`StreamCall`), which has room for them or not; and, once its node is known, its place
 * in the node's group (`JoinedStream`), which gives the target snapshot. It runs in turns that the fair queue gives it.
 */
export class Session implements CallHandler, GroupClient, PulseListener {
  readonly #context: SessionContext<Session>;
  readonly #call: StreamCall;
  readonly #caller: Caller;
  readonly #stream: Stream;
  readonly #memory: StreamMemory;
  /** Undefined before its node is known, and once it is gone. */
  #joined: JoinedStream | undefined;

  constructor(context: SessionContext<Session>, call: DiscoveryCall, id: number, caller: Caller) {
    this.#context = context;
    this.#caller = caller;
    this.#call = new StreamCall(call, id, context);
    this.#memory = context.retainedMemory.of(call.peer, caller.identity);
    this.#stream = createMachine(context, call.method, caller, this.#memory, () => this.#wantsWork("answers"));
  }

  get info(): StreamInfo {
    return this.#call.info;
  }

  /** In the group of its node; undefined before that is known, and once nothing is left of the stream. */
  get joined(): JoinedStream | undefined {
    return this.#joined;
  }

  received(bytes: Uint8Array): void {
    if (this.#call.isOver) return;
    if (!this.#call.countRequest(bytes)) {
      const { requestsPerSecond } = this.#context.limits;
      this.#refuse(statusCode.resourceExhausted, `more than ${requestsPerSecond} requests per second on one stream`);
      return;
    }
    let isAcknowledgement = false;
    try {
      const request: StreamEvent = { kind: "request", bytes };
      const effects = this.step(request);
      this.#joined?.progressed();
      isAcknowledgement = effects.length === 1 && effects[0]?.kind === "acknowledged";
    } catch (error) {
      this.#failed(error);
    }
    // After the last acknowledgement of a change the stream needs no turn.
    if (isAcknowledgement && this.#joined?.wasInSync && this.#call.hasRoom)
      this.#joined.wakeAt(this.#stream.deadline());
    // Not answered here: requests that come together are answered together, and in turn with other streams.
    else this.#wantsWork("answers");
  }

  drained(): void {
    if (!this.#call.drained()) return;
    if (this.#call.isDone) this.end(statusCode.ok, "");
    else this.#wantsWork("answers");
  }

  /** Rule 14: a client that half-closes is done. It still gets the answers to its requests, as `grpcurl -d` needs. */
  finished(): void {
    this.#joined?.finished();
    this.work();
    this.#call.finished();
    // Responses that the client has not read yet cost memory, so the stream counts until it has read them.
    if (this.#call.isDone) this.end(statusCode.ok, "");
  }

  /** The call is gone, with everything that the client had not read: only now the stream no longer counts as open. */
  closed(): void {
    const { unansweredLarge } = this.#call;
    const joined = this.#joined;
    if (unansweredLarge !== undefined && joined !== undefined)
      this.#context.events.emit("large-response-unanswered", () => ({ stream: joined.info, ...unansweredLarge }));
    this.#finish(undefined, "");
    if (!this.#call.leave()) return;
    this.#joined = undefined;
    joined?.membership.leave();
    this.#context.ended(this);
  }

  targetChanged(newest?: Snapshot): void {
    // A stream that the change does not concern has already followed its lineage, and needs no turn.
    // All others get one, also those that are over, and do nothing in it: a publish asks each stream no more than this.
    if (newest === undefined || !this.#stream.isUpToDateWith(newest)) this.#context.queue.add(this, "changes");
  }

  beat(interval: number): void {
    this.#take({ kind: "heartbeat", interval }, "changes");
  }

  /** Takes an event that no client has caused. A fault of the server ends this stream, never the server. */
  #take(event: StreamEvent, lane: "answers" | "changes"): void {
    if (this.#call.isOver) return;
    try {
      this.step(event);
    } catch (error) {
      this.#failed(error);
    }
    this.#wantsWork(lane);
  }

  nameDecided(type: ResourceType, name: ResourceName, outcome: NameDecision): void {
    if (this.#call.isOver) return;
    this.#joined?.decided(type, name, outcome);
    this.#wantsWork("answers");
  }

  #wantsWork(lane: "answers" | "changes"): void {
    if (!this.#call.isOver) this.#context.queue.add(this, lane);
  }

  /**
   * Gives the machine the newest snapshot, and the client its missing resources, as long as there is room. Called by
   * the queue. A client without room gets nothing now. When there is room again, it gets the rest of the pass that
   * began, then the newest snapshot (latest wins).
   */
  work(): void {
    if (this.#call.isOver) return;
    try {
      this.#giveTarget();
      this.#joined?.tellAbsent();
      const now = wholeNow(this.#context.clock);
      while (this.#call.hasRoom) {
        const response = this.#stream.next(now);
        if (response === undefined) break;
        countResponse(this.#context.counters.type(response.type, this.#call.info.method.variant), response);
        this.#joined?.sent(response, now);
        this.#call.send(response);
      }
      // Without room nothing can be sent, so deadlines are checked again once there is room.
      this.#joined?.wakeAt(this.#call.hasRoom ? this.#stream.deadline() : undefined);
      this.#joined?.progressed();
    } catch (error) {
      this.#failed(error);
    }
  }

  #giveTarget(): void {
    const event = this.#joined?.target();
    if (event !== undefined) this.step(event);
  }

  // Not with `#`: tools that follow a value from call to call do not look into such methods.
  private step(event: StreamEvent): readonly StreamEffect[] {
    this.#joined?.tellAbsent();
    const now = wholeNow(this.#context.clock);
    const effects = this.#stream.step(event, now);
    for (const effect of effects) if (!this.#call.isOver) this.#note(effect, now);
    return effects;
  }

  get isInSync(): boolean {
    return (this.#joined ?? this.#stream).isInSync;
  }

  standing(): MemberStanding {
    return this.#joined?.standing() ?? memberStandingOf(this.#stream);
  }

  status(): readonly TypeStatus[] {
    return this.#stream.status();
  }

  /** Ends the stream, for the server's own reasons. */
  end(code: StatusCode, message: string): void {
    if (this.#finish(code, message)) this.#call.close(code, message);
  }

  #note(effect: StreamEffect, now: number): void {
    if (effect.kind === "identified") this.#identified(effect.node);
    else if (effect.kind === "close") this.#refuse(effect.code, effect.message);
    else if (effect.kind === "demanded") {
      // Decisions are about the newest snapshot. A client that comes back gets that once all its requests are known.
      if (this.#joined?.comesBack === false) this.#giveTarget();
      this.#joined?.demanded(effect);
    } else this.#joined?.tell(effect, now);
  }

  #identified(node: Node): void {
    const admission = this.#context.publication.admit(this.#caller, node);
    if ("code" in admission) {
      this.#refuse(admission.code, admission.message, node);
      return;
    }
    this.#joined = new JoinedStream(this.#call, this.#joining, this.#context, admission, node);
    this.#joined.begin();
  }

  /** Made when it is needed: a stream joins seldom. */
  get #joining(): JoiningStream {
    return {
      // Spelled out: a spread costs a connecting fleet several times as much.
      info: this.#call.info,
      machine: this.#stream,
      client: this,
      caller: this.#caller,
      targetChanged: () => this.#wantsWork("changes"),
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
    if (this.#call.isOver || joined === undefined) return false;
    const { info, membership } = joined;
    const admission = this.#context.publication.readmit(this.#caller, info.node, membership);
    if (admission === undefined && !isOrderChanged) return false;
    if (admission !== undefined && "code" in admission) this.#refuse(admission.code, admission.message);
    // The supplier of another group does not know the names that the stream has asked for.
    else if (admission !== undefined && membership.interest !== undefined)
      this.end(statusCode.unavailable, "the node is in another group now: connect again");
    else {
      joined.rejoin(this.#joining, admission);
      if (admission !== undefined) this.#context.events.emit("stream-moved", () => ({ stream: joined.info }));
      this.#wantsWork("changes");
    }
    return admission !== undefined;
  }

  /** Ends the stream for a fault of the client's. */
  #refuse(code: StatusCode, message: string, node?: Node): void {
    if (this.#call.isOver) return;
    const { counters, events } = this.#context;
    counters.refuse(code);
    if (this.#joined === undefined)
      events.emit("stream-refused", () => ({ stream: this.#call.info, node, code, message }));
    this.end(code, message);
  }

  #failed(error: unknown): void {
    this.#context.events.emit("fault", () => ({ stream: this.#call.info, error }));
    this.#context.counters.refuse(statusCode.internal);
    this.end(statusCode.internal, "internal error");
  }

  /** Ends the stream: it reads and sends nothing any more. False: it did not before. */
  #finish(code: StatusCode | undefined, message: string): boolean {
    if (!this.#call.end()) return false;
    this.#context.queue.delete(this);
    this.#joined?.end(code, message);
    // A transport may hold on to the session a little longer; the machine must not hold a snapshot for as long.
    this.#stream.end();
    this.#memory.leave();
    return true;
  }
}

function createMachine(
  {
    types,
    limits,
    defaultNode,
    onDemand,
    naming: { authorities, resourceErrors, localityTypes },
  }: SessionContext<Session>,
  { variant, api, only }: Method,
  caller: Caller,
  retainedMemory: StreamMemory,
  mayGoOn: () => void,
): Stream {
  return createStream({
    variant,
    api,
    only,
    types,
    limits,
    defaultNode,
    onDemand: onDemand(caller),
    isNodeFixed: caller.isRestricted,
    // Written out, not spread: each stream makes this.
    authorities,
    resourceErrors,
    localityTypes,
    retainedMemory,
    mayGoOn,
  });
}
