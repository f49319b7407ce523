import type { ResourceName, ResourceType } from "@xdskit/api";
import type { Node, OutgoingResponse, Snapshot, StatusCode, Stream, StreamEvent, TypeStatus } from "@xdskit/protocol";
import type { ReportedStream, RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { NodeStreamInfo } from "../contracts/nodes/stream-info.js";
import type { StreamRecorder } from "../contracts/parts/progress.js";
import type { NameDecision } from "../contracts/parts/supply.js";
import type { MemberStanding } from "../contracts/parts/target-policy.js";
import type { PeerIdentity } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
import type { Membership } from "../publication/membership.js";
import type { Admission } from "../publication/publication.js";
import type { LayerName } from "../settings/group-settings.js";
import { AbsentNames } from "./absent-names.js";
import { GivenTarget } from "./given-target.js";
import { type Joined, type JoiningStream, joinAgain, joinNode, leaveOrder } from "./joining.js";
import { memberStandingOf } from "./member-standing.js";
import type { SessionContext } from "./session-context.js";
import { type DemandedEffect, type ReportedEffect, reportEffect } from "./session-effects.js";
import type { StreamCall } from "./stream-call.js";

type JoinedContext = Pick<
  SessionContext<never>,
  "clock" | "counters" | "events" | "progress" | "rejections" | "orders" | "catchUp"
>;

/** A stream whose node is known, in the node's group: its target, and how far its client is. */
export class JoinedStream implements ReportedStream {
  readonly #context: JoinedContext;
  readonly #call: StreamCall;
  readonly #machine: Stream;
  readonly caller: Caller;
  readonly #given: GivenTarget;
  #joined: Joined;
  /** Undefined if none is kept. */
  #recorder: StreamRecorder | undefined;
  /** Undefined until a name is decided as absent. */
  #absent: AbsentNames | undefined;
  /** Undefined: the client used exactly its target at the last look (`progressed`). */
  #outOfSyncSince: number | undefined;

  constructor(call: StreamCall, joining: JoiningStream, context: JoinedContext, admission: Admission, node: Node) {
    this.#context = context;
    this.#call = call;
    this.#machine = joining.machine;
    this.caller = joining.caller;
    this.#outOfSyncSince = call.openedTime;
    this.#given = new GivenTarget(call.openedTime);
    this.#joined = joinNode(joining, context, admission, node);
  }

  /** Tells that it is open: it can be found now by whoever hears of it. */
  begin(): void {
    const { events, progress } = this.#context;
    const stream = this.info;
    events.emit("stream-opened", () => ({ stream }));
    this.#recorder = progress.recorderOf?.(stream.node.id);
  }

  get info(): NodeStreamInfo {
    return this.#joined.stream;
  }

  get membership(): Membership {
    return this.#joined.membership;
  }

  /** The event that gives the machine its target; undefined if it has that, or there is none. */
  target(): StreamEvent | undefined {
    return this.#given.next(this.#joined, this.#machine, this.#context.clock);
  }

  /** The machine is told the time then. */
  wakeAt(deadline: number | undefined): void {
    this.#joined.alarm?.set(deadline);
  }

  sent(response: OutgoingResponse, now: number): void {
    if (!response.isHeartbeat) this.#recorder?.sent(response, now);
  }

  /** The client asks for names that may be supplied. */
  demanded(effect: DemandedEffect): void {
    const answered = this.membership.interest?.demand(effect);
    for (const outcome of ["absent", "late", "refused"] as const)
      for (const name of answered?.[outcome] ?? []) this.decided(effect.type, name, outcome);
    this.tellAbsent();
  }

  decided(type: ResourceType, name: ResourceName, outcome: NameDecision): void {
    if (outcome !== "found") this.#absent ??= new AbsentNames();
    this.#absent?.decided(type, name, outcome);
  }

  tellAbsent(): void {
    if (this.#absent === undefined) return;
    const { newest } = this.#machine;
    for (const event of this.#absent.take(newest)) this.#machine.step(event);
    // The machine has the newest snapshot and was told every absent name. Names that are left exist in that snapshot:
    // forget them.
    if (newest !== undefined && newest === this.newest) this.#absent = undefined;
  }

  /** Counts an effect of its machine, and reports it. */
  tell(effect: ReportedEffect, now: number): void {
    const { stream, membership, lags } = this.#joined;
    if (effect.kind === "acknowledged") {
      const { type, version, published } = effect;
      if (published !== undefined) lags.record(type, Math.max(0, now - Math.max(published, this.lagFrom)));
      this.#recorder?.acknowledged(type, version, now);
    }
    reportEffect(effect, { stream, membership }, this.#context);
  }

  /** Called when the client may be in sync now, or not any more: tells callers that wait for that. */
  progressed(): void {
    if (this.#call.isOver) return;
    const { stream, membership, resumption } = this.#joined;
    // A supplier may be about to find what the client has, and what was late before that.
    if (membership.interest === undefined) resumption?.progressed();
    // A stream may live for a long time, and needs nothing of it any more.
    if (resumption?.isOver) this.#joined.resumption = undefined;
    membership.seat.progressed?.();
    const { isInSync } = this;
    if (isInSync !== this.wasInSync) {
      const { events, clock } = this.#context;
      this.#outOfSyncSince = isInSync ? undefined : clock.now();
      if (isInSync) events.emit("synced", () => ({ stream }));
    }
    this.#context.progress.progressed?.(this);
  }

  /** At the last look. */
  get wasInSync(): boolean {
    return this.#outOfSyncSince === undefined;
  }

  /** Its node is in another group; undefined: only the order is another one. */
  rejoin(joining: JoiningStream, admission: Admission | undefined): void {
    this.#joined = joinAgain(joining, this.#context, this.#joined, admission);
    this.#given.rejoined();
  }

  /** Its client sends nothing more: it will not say what else it has. */
  finished(): void {
    this.#joined.resumption?.end();
  }

  /** It is over, but its responses may still be read: only `membership.leave` makes it leave its group. */
  end(code: StatusCode | undefined, message: string): void {
    const { stream, membership } = this.#joined;
    this.#context.events.emit("stream-closed", () => ({ stream, code, message }));
    this.#context.progress.left?.(this, stream.node.id);
    membership.seat.ends?.();
    leaveOrder(this.#joined, this.#machine, this.#context.clock);
  }

  get opened(): NodeStreamInfo | undefined {
    return this.#call.isOver ? undefined : this.info;
  }

  get openedAt(): number {
    return this.#call.openedAt;
  }

  get layers(): readonly LayerName[] | undefined {
    return this.membership.layers;
  }

  get snapshot(): Snapshot | undefined {
    return this.membership.snapshot();
  }

  get newest(): Snapshot | undefined {
    return this.membership.newest();
  }

  get rollout(): RolloutAhead | undefined {
    return this.membership.rollout();
  }

  get heldBackWhy(): string | undefined {
    return this.membership.whyHeldBack();
  }

  get identity(): PeerIdentity | undefined {
    return this.#call.identity;
  }

  get comesBack(): boolean {
    return this.#joined.resumption?.isOver === false;
  }

  get isInSync(): boolean {
    return this.#machine.isInSync && this.#machine.newest === this.snapshot;
  }

  standing(): MemberStanding {
    return this.#machine.newest === this.snapshot ? memberStandingOf(this.#machine) : "pending";
  }

  get outOfSyncSince(): number {
    // It was in sync until now: the stream has not yet heard of the newest change.
    return this.#outOfSyncSince ?? this.#context.clock.now();
  }

  get lagFrom(): number {
    return this.#given.lagFrom;
  }

  status(): readonly TypeStatus[] {
    return this.#machine.status();
  }
}
