import type { ApiVersion, TypeUrl } from "@xdskit/api";
import type { Snapshot, SotwOrDelta } from "@xdskit/protocol";
import type { HistogramStats } from "../basics/histogram.js";
import type { EventLoopStats } from "../event-loop/event-loop-stats.js";
import type { LayerName } from "../settings/group-settings.js";
import type { CertificateDates } from "../tls/validity.js";
import type { QuarantineCause } from "./rollouts/quarantined.js";
import type { RolloutOutcome } from "./rollouts/rollout-status.js";

/** Streams of one kind of method. Counters since the start, except `open` and `behind`, which are of now. */
export interface StreamStats {
  readonly api: ApiVersion;
  readonly variant: SotwOrDelta;
  /** `ads`, or the name of the type of a per-type service, such as `endpoint`. */
  readonly service: string;
  readonly open: number;
  /** Open streams that take no more for the moment (flow control): they get the newest state once they can. */
  readonly behind: number;
  readonly opened: number;
  readonly requests: number;
  /** Bytes of requests, without gRPC's framing. */
  readonly requestBytes: number;
}

/** Responses and their answers, by type and variant. All are counters since the start. */
export interface TypeStats {
  /** Empty for all types together that the server does not know. */
  readonly typeUrl: TypeUrl;
  /** The name, such as `cluster`; `unknown` for all types together that the server does not know. */
  readonly type: string;
  readonly variant: SotwOrDelta;
  readonly responses: number;
  /** The responses that only restart TTLs. */
  readonly heartbeats: number;
  /** Resources in the responses, and names that they removed. */
  readonly resources: number;
  readonly removals: number;
  /** Bytes of the responses, without gRPC's framing. */
  readonly responseBytes: number;
  /** How often responses were how large, in bytes without gRPC's framing. */
  readonly responseSizes: HistogramStats;
  /** ACKs and NACKs. */
  readonly acknowledged: number;
  readonly rejected: number;
  /** NACKs that were the first of their node for that version of the type: what events report. */
  readonly rejectedVersions: number;
  /** Requests with an outdated nonce, which were ignored. */
  readonly stale: number;
}

/**
 * How long changes of one type took from their publication to the ACK, for the nodes of one group; since the start.
 * Counted are ACKs of responses that brought a change, each from the oldest change in it. Resources that a client asked
 * for itself are left out, and so is the time in which it was not connected, or held back by a rollout or a quarantine.
 */
export interface LagStats {
  readonly typeUrl: TypeUrl;
  readonly type: string;
  /** The name; `(other)` for all groups together after the first hundred. */
  readonly group: string;
  readonly ms: HistogramStats;
}

/**
 * How long one type of a client waited until the client acknowledged others, or did not in time (make before
 * break); since the start.
 */
export interface StageWaitStats {
  readonly typeUrl: TypeUrl;
  readonly type: string;
  readonly ms: HistogramStats;
}

/** How long changes took from when a source heard of them until they were published; since the start. */
export interface SourceDelayStats {
  /** The name; `(other)` for all sources together after the first hundred. */
  readonly source: string;
  readonly ms: HistogramStats;
}

/** Unary `Fetch…` calls, by type. */
export interface FetchStats {
  readonly typeUrl: TypeUrl;
  readonly type: string;
  readonly api: ApiVersion;
  readonly calls: number;
}

/** Polls (REST) of one type. Counters since the start, except `parked`, which is of now. */
export interface PollStats {
  readonly typeUrl: TypeUrl;
  readonly type: string;
  readonly api: ApiVersion;
  /** Parked until there is something new, or being answered. */
  readonly parked: number;
  readonly polls: number;
  /** Bytes of their bodies, after decompression. */
  readonly requestBytes: number;
  /** Answered with resources, or with "nothing new". The others were refused, or their clients went away. */
  readonly answered: number;
  readonly notModified: number;
  /** Contents that cannot be fully written as JSON: unknown fields are given in base64. */
  readonly incomplete: number;
  /** Contents that JSON cannot express: answers are without them. */
  readonly leftOut: number;
}

/** A group of nodes now. */
export interface GroupStats {
  readonly name: string;
  readonly streams: number;
  /** Parked polls. */
  readonly polls: number;
}

/** A layer now: how many resources of each type it holds. */
export interface LayerStats {
  readonly name: LayerName;
  readonly resources: readonly { readonly typeUrl: TypeUrl; readonly type: string; readonly count: number }[];
}

/**
 * Resources supplied on demand. `calls`, `errors` and `dropped` are counters since the start; the others are of now.
 */
export interface OnDemandStats {
  /** Calls of the supplier. */
  readonly calls: number;
  /** Calls in progress, and names that wait for one. */
  readonly pending: number;
  /** Supplied names; each alias of a resource counts. */
  readonly supplied: number;
  /** Names for which the supplier said that there is no resource. */
  readonly absent: number;
  /** Names whose last call failed, and that wait for the next. */
  readonly failing: number;
  /** Calls that failed, updates that were not suitable, and names that found no place in the queue. */
  readonly errors: number;
  /** Supplied names that were released because no client subscribed any more. */
  readonly dropped: number;
  /** Names that were refused since the start, because clients asked for too many. */
  readonly refused: number;
}

/** Numbers about a server, cheap enough to be read every second. */
export interface ServerStats {
  readonly streams: readonly StreamStats[];
  readonly types: readonly TypeStats[];
  readonly lags: readonly LagStats[];
  readonly stageWaits: readonly StageWaitStats[];
  /** Of sources that say it, such as a Kubernetes cluster. */
  readonly sourceDelays: readonly SourceDelayStats[];
  readonly fetches: readonly FetchStats[];
  readonly polls: readonly PollStats[];
  /** Polls that were refused, by HTTP status. */
  readonly pollsRefused: readonly { readonly status: number; readonly count: number }[];
  /**
   * Streams and calls that were ended by a client's error, by a limit, or because no group matched; by gRPC status
   * code.
   */
  readonly refused: readonly { readonly code: number; readonly count: number }[];
  /**
   * Callers that rules (`identities`) refused since the start, by the rule that matched, from 0; undefined: none did.
   */
  readonly callersRefused: readonly { readonly rule: number | undefined; readonly count: number }[];
  /** How often an identity had its share of a limit, such as `streams_per_identity`: it was refused, or had to wait. */
  readonly identityLimits: readonly { readonly limit: string; readonly count: number }[];
  /** How often a change went on without the answer of a client that said nothing for too long, since the start. */
  readonly waitsEnded: number;
  /** Node ids with at least one open stream, now. */
  readonly nodes: number;
  readonly groups: readonly GroupStats[];
  /** Undefined for a server that supplies nothing on demand. */
  readonly onDemand: OnDemandStats | undefined;
  /** How long the event loop is blocked; undefined if it is not watched. */
  readonly eventLoop: EventLoopStats | undefined;
  /** From when to when the server's certificate is valid; undefined without TLS, and before it listens. */
  readonly certificate: CertificateDates | undefined;
  /** Rollouts and quarantines. */
  readonly views: ViewStats;
  readonly configuration: {
    /** Changes that were applied and made a difference, and changes that were refused, since the start. */
    readonly applied: number;
    readonly refused: number;
    readonly layers: readonly LayerStats[];
  };
}

/** Counts the resources of a layer, by type. */
export function layerStats(name: LayerName, snapshot: Snapshot | undefined): LayerStats {
  const sets = Array.from(snapshot?.sets.values() ?? []);
  return {
    name,
    resources: sets.map(({ type: { typeUrl, name }, size }) => ({ typeUrl, type: name, count: size })),
  };
}

/** Counters since the start. */
export interface ViewStats {
  readonly rollouts: readonly { readonly outcome: RolloutOutcome; readonly count: number }[];
  /** Contents of resources that were put in quarantine. */
  readonly quarantined: readonly { readonly cause: QuarantineCause; readonly count: number }[];
}
