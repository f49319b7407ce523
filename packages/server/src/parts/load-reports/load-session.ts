import { performance } from "node:perf_hooks";
import type { ApiVersion, ResourceType } from "@xdskit/api";
import type { FairQueue } from "@xdskit/grpc-server";
import { type ClusterLoad, type Node, type StatusCode, statusCode } from "@xdskit/protocol";
import { RateLimit } from "../../basics/rate-limit.js";
import type { Events } from "../../contracts/events.js";
import type { CallInfo, LoadStreamInfo } from "../../contracts/nodes/stream-info.js";
import type { GroupMembership, KernelGroups } from "../../contracts/parts/kernel.js";
import type { Call, ServiceHandler } from "../../contracts/transport.js";
import type { Caller } from "../../identity/caller.js";
import type { ServerLimits } from "../../settings/limits.js";
import { type LoadReportSettings, settingsOf } from "../../settings/load-report-settings.js";
import { LoadStream } from "./load-stream.js";

/** The parts that all streams of load reports share. */
export interface LoadSessionContext {
  readonly limits: ServerLimits;
  readonly defaultNode: Node | undefined;
  readonly groups: KernelGroups;
  readonly events: Events;
  /** The cluster type, for the names of clusters; undefined if the server has none. */
  readonly clusters: ResourceType | undefined;
  /** The settings for fields that a group leaves out. */
  readonly settings: Partial<LoadReportSettings> | undefined;
  /** Sessions whose group's clusters changed. */
  readonly queue: FairQueue<LoadSession>;
  /** Counts a stream that was refused. */
  refused(code: StatusCode): void;
  began(stream: LoadStreamInfo, session: LoadSession): void;
  ended(stream: LoadStreamInfo): void;
  /** False: too many reports wait to be taken over. */
  reported(stream: LoadStreamInfo, clusters: readonly ClusterLoad[], known: (cluster: string) => boolean): boolean;
}

/** One client's stream of load reports: joins the machine, the call and the group of the node. */
export class LoadSession implements ServiceHandler {
  readonly #context: LoadSessionContext;
  readonly #call: Call;
  readonly #caller: Caller;
  readonly #info: CallInfo;
  readonly #api: ApiVersion;
  readonly #stream: LoadStream;
  readonly #rate: RateLimit;
  #opened: LoadStreamInfo | undefined;
  #membership: GroupMembership | undefined;
  #settings: LoadReportSettings;
  #room = true;
  #over = false;
  #released = false;

  constructor(context: LoadSessionContext, call: Call, caller: Caller, info: CallInfo, api: ApiVersion) {
    const { limits, defaultNode } = context;
    this.#context = context;
    this.#call = call;
    this.#caller = caller;
    this.#info = info;
    this.#api = api;
    this.#stream = new LoadStream(limits, defaultNode, caller.isRestricted);
    this.#rate = new RateLimit(limits.requestsPerSecond, limits.requestBurst);
    this.#settings = settingsOf(context.settings);
  }

  received(bytes: Uint8Array): void {
    if (this.#over) return;
    if (!this.#rate.take(performance.now())) {
      const { requestsPerSecond } = this.#context.limits;
      this.#refuse(statusCode.resourceExhausted, `more than ${requestsPerSecond} requests per second on one stream`);
      return;
    }
    this.#guard(() => {
      const request = this.#stream.receive(bytes);
      if ("code" in request) return this.#refuse(request.code, request.message);
      if (request.node !== undefined) this.#identified(request.node);
      if (!this.#over && request.clusters.length > 0) this.#reported(request.clusters);
    });
  }

  drained(): void {
    this.#room = true;
    this.work();
  }

  /** A client that half-closes has reported its last. */
  finished(): void {
    this.end(statusCode.ok, "");
  }

  closed(): void {
    this.#finish(undefined, "");
    if (this.#released) return;
    this.#released = true;
    this.#leave();
  }

  #leave(): void {
    this.#membership?.leave();
    this.#membership = undefined;
  }

  /** Groups have changed. The client of a node in another one now connects again: nothing may keep the old one. */
  regrouped(): void {
    const [membership, node] = [this.#membership, this.#opened?.node];
    if (this.#over || membership === undefined || node === undefined) return;
    const admission = this.#context.groups.readmit(this.#caller, node, membership);
    if (admission === undefined) return;
    if ("code" in admission) this.#refuse(admission.code, admission.message, node);
    else this.end(statusCode.unavailable, "the node is in another group now: connect again");
    this.#leave();
  }

  targetChanged(): void {
    if (!this.#over) this.#context.queue.add(this, "changes");
  }

  /** Tells the client which clusters to report, if they have changed and there is room. Called by the queue. */
  work(): void {
    const membership = this.#membership;
    if (this.#over || !this.#room || membership === undefined) return;
    this.#guard(() => {
      const { clusters: type } = this.#context;
      const clusters = type === undefined ? undefined : membership.snapshot()?.of(type);
      const response = this.#stream.next(this.#settings, clusters);
      if (response !== undefined) this.#room = this.#call.send(response, nothing);
    });
  }

  end(code: StatusCode, message: string): void {
    if (this.#over) return;
    this.#finish(code, message);
    this.#call.end(code, message);
  }

  stop(): void {
    this.end(statusCode.ok, "");
  }

  #identified(node: Node): void {
    const { groups, settings, events } = this.#context;
    const admission = groups.admit(this.#caller, node);
    if ("code" in admission) {
      this.#refuse(admission.code, admission.message, node);
      return;
    }
    this.#membership = admission.join(this);
    this.#settings = settingsOf(settings, admission.loadReports);
    const stream: LoadStreamInfo = { ...this.#info, api: this.#api, node, group: this.#membership.group };
    this.#opened = stream;
    this.#context.began(stream, this);
    events.emit("load-reporting-started", () => ({ stream }));
    this.work();
  }

  #reported(clusters: readonly ClusterLoad[]): void {
    const { events, clusters: type } = this.#context;
    const stream = this.#opened;
    if (stream === undefined) return;
    const served = type === undefined ? undefined : this.#membership?.snapshot()?.of(type);
    const listed = new Set(this.#settings.clusters === "all" ? [] : this.#settings.clusters);
    const known = (name: string) => served?.get(name) !== undefined || listed.has(name);
    if (!this.#context.reported(stream, clusters, known)) {
      this.#refuse(statusCode.resourceExhausted, "more load reports come in than the server can take");
      return;
    }
    events.emit("load-report", () => ({ stream, clusters }));
  }

  /** Ends the stream because of a client's fault. */
  #refuse(code: StatusCode, message: string, node?: Node): void {
    if (this.#over) return;
    this.#context.refused(code);
    if (this.#opened === undefined) {
      this.#context.events.emit("call-refused", () => ({ call: this.#info, node, code, message }));
    }
    this.end(code, message);
  }

  /** A fault in here ends this stream, never the server. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#context.events.emit("fault", () => ({ stream: this.#info, error }));
      this.#context.refused(statusCode.internal);
      this.end(statusCode.internal, "internal error");
    }
  }

  #finish(code: StatusCode | undefined, message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.queue.delete(this);
    const stream = this.#opened;
    if (stream === undefined) return;
    this.#context.ended(stream);
    this.#context.events.emit("load-reporting-ended", () => ({ stream, code, message }));
  }
}

const nothing = new Uint8Array();
