import type { PackedTypes, TypeUrl } from "@xdskit/api";
import type { Node, ResourceErrorPolicy, StatusCode, TtlPolicy } from "@xdskit/protocol";
import type { FetchStats, StreamStats, TypeStats } from "../contracts/stats.js";
import type { EventLoopOptions, EventLoopStats } from "../event-loop/event-loop-stats.js";
import type { GroupSettings, LayerName, OnReject } from "../settings/group-settings.js";
import type { Keepalive } from "../settings/keepalive.js";
import type { ServerLimits } from "../settings/limits.js";
import type { OrderingOptions } from "../settings/ordering-options.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import type { TlsContents } from "../tls/server-tls.js";
import type { CallLimits } from "./call-turns.js";
import type { PackedResource } from "./packed-resources.js";
import type { PackedRejection, PackedStatus } from "./packed-status.js";

/** What a worker is started with: the part of a server's options that concerns its streams. */
export interface WorkerSettings {
  /** Undefined: the built-in ones. */
  readonly types: PackedTypes | undefined;
  readonly groups: readonly GroupSettings[] | undefined;
  readonly ttl: TtlPolicy | undefined;
  readonly onReject: OnReject | undefined;
  readonly rollout: RolloutSettings | "off" | undefined;
  readonly limits: ServerLimits;
  readonly keepalive: Keepalive;
  readonly ordering: Partial<OrderingOptions> | false | undefined;
  readonly authorities: readonly string[] | undefined;
  readonly resourceErrors: ResourceErrorPolicy | undefined;
  readonly defaultNode: Node | undefined;
  /** Undefined: plaintext. */
  readonly tls: TlsContents | undefined;
  /** How its event loop is watched; false: not at all. */
  readonly eventLoop: EventLoopOptions | false;
  /** Counted from 1. */
  readonly worker: number;
  /** Shared numbers; see `shared-numbers.ts`. */
  readonly numbers: SharedArrayBuffer;
  /** Of unary calls. */
  readonly calls: CallLimits;
  /** Services beside discovery, by name: the methods' names, and whether they are unary. */
  readonly services: readonly {
    readonly name: string;
    readonly methods: readonly { readonly name: string; readonly unary: boolean }[];
  }[];
}

/** What became different in a layer. */
export interface PackedChange {
  readonly layer: LayerName;
  readonly upserted: readonly PackedResource[];
  readonly removed: readonly (readonly [TypeUrl, string])[];
  /** The layer is there no more. */
  readonly dropped: boolean;
}

/** What some streams are to have in the place of what the newest snapshot of their group has. */
export interface PackedView {
  readonly id: number;
  readonly overrides: readonly {
    readonly type: TypeUrl;
    readonly key: string;
    readonly resource: PackedResource | undefined;
  }[];
}

/** A part of a call of a service: `call` is its id. */
export type CallPart =
  | { readonly kind: "received"; readonly call: number; readonly bytes: Uint8Array }
  | { readonly kind: "drained" | "finished" | "closed" | "full"; readonly call: number };

/** From the main thread to a worker. What is posted together is carried out together, in this order. */
export type ToWorker =
  /** How the configuration changed; `seq` numbers what was posted. */
  | { readonly kind: "layers"; readonly changes: readonly PackedChange[] }
  | { readonly kind: "open" }
  | { readonly kind: "view"; readonly view: PackedView }
  | { readonly kind: "view-gone"; readonly id: number }
  /** What a stream is to have: 0 is the newest. Before the first it gets nothing. */
  | { readonly kind: "see"; readonly stream: number; readonly view: number }
  | { readonly kind: "end"; readonly stream: number; readonly code: StatusCode; readonly message: string }
  | { readonly kind: "send"; readonly call: number; readonly bytes: Uint8Array }
  | { readonly kind: "end-call"; readonly call: number; readonly code: StatusCode; readonly message: string }
  /**
   * Whether events that come with every push are wanted, and whether it is to be told how streams stand as often as
   * that changes.
   */
  | { readonly kind: "tell"; readonly frequent: boolean; readonly progress: boolean }
  | { readonly kind: "renew"; readonly tls: TlsContents }
  /** On a socket that it takes, if that is still there. */
  | {
      readonly kind: "listen";
      readonly address: string;
      readonly descriptor: number;
      readonly given: SharedArrayBuffer;
    }
  | { readonly kind: "ask"; readonly id: number; readonly question: Question }
  | { readonly kind: "close"; readonly timeoutMs: number };

/** Asked while the main thread waits, for a short time. */
export type Question =
  | { readonly kind: "counters" }
  | { readonly kind: "standings" }
  | { readonly kind: "status"; readonly streams: readonly number[] };

/**
 * What a worker answers to a `Question` of the same kind. `id`: of the question; they are counted up, and answered in
 * their order.
 */
export type Answer =
  | {
      readonly kind: "counters";
      readonly id: number;
      readonly counters: WorkerCounters;
      readonly eventLoop: EventLoopStats | undefined;
    }
  | {
      readonly kind: "status";
      readonly id: number;
      readonly status: readonly (readonly PackedStatus[] | undefined)[];
    }
  | { readonly kind: "standings"; readonly id: number; readonly standings: Standings };

/** What a worker has counted since its start. */
export interface WorkerCounters {
  readonly streams: readonly StreamStats[];
  readonly types: readonly TypeStats[];
  readonly fetches: readonly FetchStats[];
  readonly refused: readonly { readonly code: number; readonly count: number }[];
  readonly waitsEnded: number;
}

/** All that was posted in one turn. */
export interface Post {
  readonly seq: number;
  readonly messages: readonly ToWorker[];
}

/**
 * Of all streams of a worker, in a row: the id, and since when it is not settled, by the worker's clock; NaN where it
 * is.
 */
export type Standings = Float64Array;

/** How streams stand: for each its id, the `seq` up to which it was told, and its standing, in a row. */
export type Progress = Float64Array;

/** By number, as it travels. */
export const standings = ["pending", "settled", "rejected"] as const;

/** From a worker to the main thread. */
export type FromWorker =
  /** `timeOrigin`: of its clock. */
  | { readonly kind: "ready"; readonly timeOrigin: number }
  | { readonly kind: "listening" }
  | { readonly kind: "listen-failed"; readonly code: string; readonly message: string }
  | { readonly kind: "opened"; readonly id: number; readonly info: unknown; readonly node: Node; readonly at: number }
  /** `status`: what its client had at the end, where that is of use. */
  | { readonly kind: "over"; readonly id: number; readonly status: readonly PackedStatus[] | undefined }
  | { readonly kind: "left"; readonly id: number }
  | {
      readonly kind: "rejected";
      readonly id: number;
      readonly type: TypeUrl;
      readonly rejection: PackedRejection;
      readonly isWhole: boolean;
    }
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "event"; readonly event: unknown }
  | {
      readonly kind: "called";
      readonly call: number;
      readonly path: readonly [service: string, method: string];
      readonly peer: string;
    }
  | CallPart
  | { readonly kind: "ended" };
