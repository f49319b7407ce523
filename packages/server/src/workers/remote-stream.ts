import type { Clock, ResourceTypes } from "@xdskit/api";
import type { Snapshot, StatusCode, TypeStatus } from "@xdskit/protocol";
import type { Arrivals } from "../arrivals/arrivals.js";
import type { NodeStreamInfo } from "../contracts/stream-info.js";
import type { Refusal } from "../contracts/transport.js";
import { type LedgerStream, unknownStatus } from "../node-status/ledger-stream.js";
import type { Standing } from "../rollouts/member.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Membership } from "../streams/membership.js";
import type { Publication } from "../streams/publication.js";
import type { GroupClient } from "../streams/shared-stacks.js";
import type { FromWorker, ToWorker } from "./messages.js";
import type { createStatusUnpacking, PackedStatus } from "./packed-status.js";
import type { StreamViews } from "./stream-views.js";

/** What a stream in a worker needs of the main thread. */
export interface RemoteContext {
  readonly types: ResourceTypes;
  readonly clock: Clock;
  readonly publication: Publication;
  readonly arrivals: Pick<Arrivals, "progressed" | "left">;
  readonly unpacking: ReturnType<typeof createStatusUnpacking>;
  /** From moments of the worker's clock to those of this thread's. */
  toOwn(at: number): number;
  readonly views: StreamViews;
  post(message: ToWorker): void;
  /** The number of what is posted next. */
  seq(): number;
  /** What it hears of just now, its session hears of too, with what is posted next. */
  isPublishing(): boolean;
  /** It is told how streams stand as often as that changes: somebody waits for them. */
  isWatched(): boolean;
  /**
   * Since when a stream is not settled, by the worker's clock, for who looks now: NaN where it is; undefined where that
   * cannot be said.
   */
  unsettledSince(stream: RemoteStream): number | undefined;
  /** It may be to have something else: `look` is to be called by the end of the turn. */
  touched(stream: RemoteStream): void;
  /** Asks the worker, for this stream and for others that are probably looked at too. */
  askStatus(stream: RemoteStream): void;
}

/**
 * A stream that a worker serves, in the place of its session: it takes part in its group, in rollouts and in the
 * ledger.
 */
export class RemoteStream implements LedgerStream, GroupClient {
  readonly #context: RemoteContext;
  readonly #info: NodeStreamInfo;
  readonly openedAt: number;
  #membership: Membership | undefined;
  #view: number | undefined;
  #over = false;
  /** While it is watched: how the worker said last that it stands, and up to which post it had carried out. */
  #reported: Standing = "pending";
  #reportedSeq = 0;
  /** The post with the last change that concerns it. */
  #changedSeq: number;
  #status: readonly TypeStatus[] | undefined;

  constructor(context: RemoteContext, info: NodeStreamInfo, openedAt: number) {
    this.#context = context;
    this.#info = info;
    this.openedAt = openedAt;
    this.#changedSeq = context.seq();
  }

  /** Takes its place; says why it gets none. */
  join(): Refusal | undefined {
    const admission = this.#context.publication.admit(this.#info.node);
    if ("code" in admission) return admission;
    this.#membership = admission.join(this);
    this.#context.touched(this);
    return undefined;
  }

  get id(): number {
    return this.#info.id;
  }

  get opened(): NodeStreamInfo | undefined {
    return this.#over || this.#membership === undefined ? undefined : this.#info;
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

  get #isUpToDate(): boolean {
    return this.#reportedSeq >= this.#changedSeq;
  }

  get isSettled(): boolean {
    if (this.#context.isWatched()) return this.standing() === "settled";
    return Number.isNaN(this.#context.unsettledSince(this));
  }

  get unsettledSince(): number {
    const { unsettledSince, toOwn, clock } = this.#context;
    const since = unsettledSince(this) ?? Number.NaN;
    // What was just published it did not hear of yet.
    return Number.isNaN(since) ? clock.now() : toOwn(since);
  }

  /** From now on it is told how it stands: by the next post at the earliest. */
  watched(): void {
    this.#reported = "pending";
    this.#changedSeq = this.#context.seq();
  }

  standing(): Standing {
    return this.#isUpToDate ? this.#reported : "pending";
  }

  changed(): void {
    // It has what all have, and nobody looks how it stands: there is nothing to note.
    if (this.#over || (this.#view === 0 && !this.#context.isWatched())) return;
    if (this.#context.isPublishing()) this.#changedSeq = this.#context.seq();
    this.#status = undefined;
    this.#context.touched(this);
  }

  /** Tells the worker which view it is to have, if that is another one. */
  look(): void {
    if (this.#over || this.#membership === undefined) return;
    const newest = this.#membership.newest();
    const snapshot = this.#membership.snapshot();
    // While nothing is known, the newest is the view: there is none of it.
    const view = newest === undefined || snapshot === undefined ? 0 : this.#context.views.of(newest, snapshot);
    if (view === this.#view) return;
    this.#context.views.moved(this.#view, view);
    this.#view = view;
    this.#changedSeq = this.#context.seq();
    this.#context.post({ kind: "see", stream: this.id, view });
  }

  /** The worker says how it stands. */
  progressed(seq: number, standing: Standing): void {
    if (this.#over) return;
    this.#reported = standing;
    this.#reportedSeq = seq;
    this.#membership?.progressed();
    this.#context.arrivals.progressed(this);
  }

  rejected({ type: typeUrl, rejection, isWhole }: Extract<FromWorker, { readonly kind: "rejected" }>): void {
    const { types, unpacking, toOwn } = this.#context;
    const type = types.byTypeUrl(typeUrl)?.type;
    if (type === undefined || this.#membership === undefined) return;
    this.#status = undefined;
    this.#membership.rejected(type, unpacking.rejection(rejection, typeUrl, this.newest, toOwn), isWhole);
  }

  status(): readonly TypeStatus[] {
    if (this.#status === undefined && !this.#over) this.#context.askStatus(this);
    return this.#status ?? unknownStatus;
  }

  get hasStatus(): boolean {
    return this.#status !== undefined;
  }

  /** What the worker says is kept until something becomes different, or `forget` is called. */
  take(status: readonly PackedStatus[] | undefined): void {
    const { unpacking, toOwn } = this.#context;
    this.#status = status && unpacking.status(status, this.newest, toOwn);
  }

  forget(): void {
    if (!this.#over) this.#status = undefined;
  }

  /** The stream is at its end: `status` is the last that is known of its client. */
  end(status?: readonly PackedStatus[]): void {
    if (this.#over) return;
    this.take(status);
    this.#over = true;
    this.#context.arrivals.left(this, this.#info.node.id);
    this.#membership?.ends();
    this.#status = [];
  }

  /** Nothing is left of it. */
  leave(): void {
    this.end();
    this.#context.views.moved(this.#view, undefined);
    this.#membership?.leave();
    this.#membership = undefined;
  }

  /** Ends it, for the server's own reasons. */
  refuse(code: StatusCode, message: string): void {
    this.#context.post({ kind: "end", stream: this.id, code, message });
  }
}
