import type { Node } from "../../model/basics/node.js";

/** The number of requests that ended within the report's interval with a metric, and the sum of its values. */
export interface LoadMetric {
  /**
   * The backends' name for it; `cpu_utilization`, `mem_utilization` and `application_utilization` are the protocol's
   * own.
   */
  readonly name: string;
  readonly requests: number;
  readonly total: number;
}

/** The outcome of requests within one report's interval. */
export interface RequestLoad {
  readonly successful: number;
  readonly errors: number;
  /** Under way at the end of the interval. */
  readonly inProgress: number;
  /** Begun within the interval. */
  readonly issued: number;
}

/** The load of one endpoint. Only clients that were asked for endpoints report it. */
export interface EndpointLoad extends RequestLoad {
  /** `10.0.0.1:80`, `[::1]:80`, the path of a pipe, or the name of an internal listener. */
  readonly address: string;
  readonly metrics: readonly LoadMetric[];
}

/** The load of one locality of a cluster. */
export interface LocalityLoad extends RequestLoad {
  readonly locality: Node["locality"];
  readonly priority: number;
  readonly metrics: readonly LoadMetric[];
  readonly endpoints: readonly EndpointLoad[];
}

/** One client's report on one cluster. */
export interface ClusterLoad {
  readonly cluster: string;
  /** The name by which the client asks for the cluster's endpoints (EDS); empty if it is the cluster's own. */
  readonly service: string;
  /** Milliseconds that the report is about. */
  readonly intervalMs: number;
  /** Requests that were dropped on purpose. */
  readonly dropped: number;
  readonly droppedByCategory: readonly { readonly category: string; readonly count: number }[];
  readonly localities: readonly LocalityLoad[];
}

/** One message of a client's load reporting stream (LRS). */
export interface LoadStatsRequest {
  /** Undefined if the message has none, or the caller did not want it. */
  readonly node: Node | undefined;
  readonly clusters: readonly ClusterLoad[];
}

/** The limits of one report. */
export interface LoadStatsLimits {
  /** Bytes of a node, without its extensions. */
  readonly nodeBytes: number;
  readonly reportClusters: number;
  /** Over all clusters. */
  readonly reportLocalities: number;
}

/** A message goes beyond a limit (rule 162). */
export class TooMuchInMessage extends Error {
  override readonly name = "TooMuchInMessage";
}
