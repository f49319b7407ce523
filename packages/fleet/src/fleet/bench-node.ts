import { grpcCode, prefixBytes } from "@xdskit/grpc-server/messages";
import type { CrowdClient, CrowdResponse } from "../crowd/crowd-client.js";
import type { CrowdHolding } from "../crowd/holding.js";
import type { GrpcStatus } from "../figures/stream-status.js";
import type { Tally, Times } from "../figures/tally.js";
import type { FleetConnection, GrpcStream } from "./connection.js";

/** What all nodes of a fleet share. */
export interface NodeContext {
  readonly tally: Tally;
  readonly times: Times;
  /** Milliseconds. */
  readonly now: () => number;
  /** When the run began. */
  readonly startedAt: () => number;
  /** Called when a node holds everything that it asked for, for the first time. */
  readonly completed: () => void;
  /** A stream ended by itself: `again` opens the missing streams later. */
  readonly retry: (again: () => void, wasAnswered: boolean) => void;
}

/** What distinguishes one node. */
export interface NodeRole {
  readonly number: number;
  /** It rejects each change once. */
  readonly rejects: boolean;
  /** It will stop reading for a while: its delay then says nothing about the server. */
  readonly stalls: boolean;
}

const rejection = "rejected on purpose: xdskit bench --reject";

/** One node of the fleet: its streams on a connection, and its times. */
export class BenchNode {
  readonly role: NodeRole;
  readonly #client: CrowdClient;
  readonly #context: NodeContext;
  readonly #streams: (GrpcStream | undefined)[];
  #connection: FleetConnection | undefined;
  #dialledAt: number | undefined;
  /** Set while it connects again. */
  #reconnectedAt: number | undefined;
  #wasConnected = false;
  /** Connected again, and got nothing new yet. */
  #isUpToDate = false;
  #resumedAt: number | undefined;
  #isReading = true;
  #rejected: CrowdHolding | undefined;
  #isComplete = false;
  #isAnswered = false;

  constructor(role: NodeRole, client: CrowdClient, context: NodeContext) {
    this.role = role;
    this.#client = client;
    this.#context = context;
    this.#streams = Array.from({ length: client.streams }, () => undefined);
  }

  get isConnected(): boolean {
    return this.#streams.some((stream) => stream !== undefined);
  }

  /** It had everything once. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The server answered anything. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  get current(): readonly CrowdHolding[] {
    return this.#client.current;
  }

  lacks(): ReturnType<CrowdClient["lacks"]> {
    return this.#client.lacks();
  }

  dialled(): void {
    const now = this.#context.now();
    if (this.#dialledAt === undefined) this.#dialledAt = now;
    else if (this.#wasConnected) this.#reconnectedAt ??= now;
  }

  /** The connection is up. */
  attach(connection: FleetConnection): void {
    const { times, now } = this.#context;
    this.#connection = connection;
    this.#wasConnected = true;
    if (this.#reconnectedAt === undefined) {
      times.connect.add(now() - (this.#dialledAt ?? now()));
    } else {
      times.reconnect.add(now() - this.#reconnectedAt);
      this.#reconnectedAt = undefined;
      this.#isUpToDate = true;
    }
    this.#pump();
  }

  /** The connection is gone, or about to go; the node keeps its resources. */
  detach(): void {
    this.#connection = undefined;
    for (const [index, stream] of this.#streams.entries()) {
      stream?.close();
      this.#closed(index);
    }
  }

  /** Stops or resumes reading. */
  reading(is: boolean): void {
    this.#isReading = is;
    this.#resumedAt = is ? this.#context.now() : undefined;
    for (const stream of this.#streams) stream?.reading(is);
  }

  #closed(index: number): void {
    this.#streams[index] = undefined;
    this.#client.closed(index);
  }

  /** Sends the next requests, and opens streams for them. */
  #pump(): void {
    for (let index = 0; index < this.#streams.length; index++) {
      if (this.#connection === undefined) return;
      // The connection is about to end: streams that are open go on until then, and the node connects anew.
      if (this.#streams[index] === undefined && !this.#connection.isOpen) continue;
      for (let next = this.#client.next(index); next !== undefined; next = this.#client.next(index)) {
        const stream = this.#streams[index] ?? this.#open(index, this.#connection);
        this.#context.tally.request(stream.send(next.bytes), next.kind);
      }
    }
  }

  #open(index: number, connection: FleetConnection): GrpcStream {
    let isAnswered = false;
    const { tally } = this.#context;
    const path = this.#client.pathOf(index) ?? "/";
    const stream = connection.open(path, {
      received: (message) => {
        isAnswered = true;
        this.#received(index, message);
      },
      ended: (status) => this.#ended(index, status, isAnswered),
    });
    tally.streams.opened++;
    if (!this.#isReading) stream.reading(false);
    this.#streams[index] = stream;
    return stream;
  }

  #ended(index: number, status: GrpcStatus, wasAnswered: boolean): void {
    this.#context.tally.streamEnded(status, wasAnswered);
    this.#closed(index);
    this.#isUpToDate = true;
    this.#context.retry(() => this.#pump(), wasAnswered);
  }

  #received(index: number, message: Uint8Array): void {
    const { tally } = this.#context;
    let response: CrowdResponse | undefined;
    try {
      response = this.#client.receive(index, message);
    } catch (error) {
      tally.error({
        code: grpcCode.internal,
        message: `a response cannot be read: ${error instanceof Error ? error.message : ""}`,
      });
      tally.streams.failed++;
      this.#streams[index]?.close();
      this.#closed(index);
      this.#context.retry(() => this.#pump(), false);
      return;
    }
    if (response === undefined) {
      tally.error({ code: grpcCode.internal, message: "a response of a type that was not asked for" });
      return;
    }
    tally.response(message.length + prefixBytes, response);
    if (response.from !== response.to) this.#isUpToDate = false;
    // Later, because a change of the resource that names it may need it again.
    else if (response.isFirst && this.#isUpToDate) tally.received.again += response.resources;
    this.#noteResume();
    this.#isAnswered = true;
    const error = response.problem ?? (this.#isRejected(response) ? rejection : undefined);
    if (response.problem !== undefined) tally.error({ code: grpcCode.internal, message: response.problem });
    if (error !== undefined) this.#rejected = response.to;
    else if (response.to !== response.from && this.#isComplete && !response.isFirst && !this.role.stalls) {
      tally.changes.reached(response.to, this.#context.now());
    }
    response.answer(error);
    this.#pump();
    if (!this.#isComplete && this.#client.isComplete) this.#complete();
  }

  /** Rejects each version once: a server that sends it again at once must not stay busy with it. */
  #isRejected({ from, to, isFirst }: CrowdResponse): boolean {
    return this.role.rejects && this.#isComplete && !isFirst && to !== from && to !== this.#rejected;
  }

  #noteResume(): void {
    const { times, now } = this.#context;
    if (this.#resumedAt !== undefined) times.resume.add(now() - this.#resumedAt);
    this.#resumedAt = undefined;
  }

  #complete(): void {
    const { times, now, startedAt, completed } = this.#context;
    this.#isComplete = true;
    times.sinceStart.add(now() - startedAt());
    times.sinceDial.add(now() - (this.#dialledAt ?? startedAt()));
    completed();
  }
}
