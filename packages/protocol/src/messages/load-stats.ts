import type { Node } from "../node.js";

/** How often a metric came with a request that ended within the report's interval, and the sum of what it said. */
export interface LoadMetric {
  /** What the backends call it; `cpu_utilization`, `mem_utilization` and `application_utilization` are those of the protocol's own. */
  readonly name: string;
  readonly requests: number;
  readonly total: number;
}

/** What happened to requests within one report's interval. */
export interface RequestLoad {
  readonly successful: number;
  readonly errors: number;
  /** Under way at the end of the interval. */
  readonly inProgress: number;
  /** Begun within the interval. */
  readonly issued: number;
}

/** The load of one endpoint. Only clients that were asked for endpoints tell it. */
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

/** What one client reports of one cluster. */
export interface ClusterLoad {
  readonly cluster: string;
  /** The name under which the client asks for the cluster's endpoints (EDS); empty where that is the cluster's. */
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
  /** Undefined where the message has none, or nobody wants it. */
  readonly node: Node | undefined;
  readonly clusters: readonly ClusterLoad[];
}

/** What one report may hold. */
export interface LoadStatsLimits {
  /** Bytes of a node, without its extensions. */
  readonly nodeBytes: number;
  readonly reportClusters: number;
  /** Over all clusters. */
  readonly reportLocalities: number;
  /** Endpoints, metrics and categories of drops, over all clusters. */
  readonly reportDetails: number;
}

/** A message goes beyond a limit (rule 162). */
export class TooMuchInMessage extends Error {
  override readonly name = "TooMuchInMessage";
}
