import type { z } from "@hono/zod-openapi";
import type {
  fleetMapSchema,
  fleetSummarySchema,
  loadSchema,
  momentRevisionSchema,
  nodeContentsSchema,
  nodeProblemSchema,
  nodeResourcesSchema,
  nodeRevisionSchema,
  nodeRowSchema,
  nodeRowsSchema,
  nodeSortSchema,
  nodeStateSchema,
  timelineSchema,
} from "./fleet-schemas.js";

/** The state of a node. */
export type NodeStateName = z.output<typeof nodeStateSchema>;
/** One node in a list. */
export type NodeRow = z.output<typeof nodeRowSchema>;
/** The newest revision of a layer, and whether a node runs it. */
export type NodeRevisionJson = z.output<typeof nodeRevisionSchema>;
/** The revision that brought what a node was sent. */
export type MomentRevision = z.output<typeof momentRevisionSchema>;
/** A page of nodes. */
export type NodeRows = z.output<typeof nodeRowsSchema>;
/** By what a list of nodes is sorted. */
export type NodeSort = z.output<typeof nodeSortSchema>;
/** The numbers of nodes by state. */
export type FleetSummary = z.output<typeof fleetSummarySchema>;
/** Nodes × types. */
export type FleetMapJson = z.output<typeof fleetMapSchema>;
/** A page of the resources of a node. */
export type NodeResources = z.output<typeof nodeResourcesSchema>;
/** The content of one resource that a node runs, and its target. */
export type NodeContentsJson = z.output<typeof nodeContentsSchema>;
/** The history of a node with the server. */
export type NodeTimeline = z.output<typeof timelineSchema>;
/** The last load report of a node about one cluster. */
export type NodeLoad = z.output<typeof loadSchema>;
/** Nodes that have one problem. */
export type NodeProblem = z.output<typeof nodeProblemSchema>;

/** Selects nodes; a field that is left out selects all. */
export interface NodeFilter {
  /** A part of its id, cluster, client, locality or reason; the case does not matter. */
  readonly q?: string | undefined;
  /** Each of these is one value, or several. */
  readonly state?: readonly string[] | undefined;
  readonly group?: readonly string[] | undefined;
  readonly client?: readonly string[] | undefined;
  readonly replica?: readonly string[] | undefined;
  /** The name of a type: `state` is about this type alone. */
  readonly type?: string | undefined;
  /** The first and the last id, as strings are compared. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A page of nodes. */
export interface NodeRowsQuery extends NodeFilter {
  readonly sort: NodeSort;
  readonly descending: boolean;
  /** How many nodes come before the page. A list on a screen jumps anywhere. */
  readonly offset: number;
  readonly limit: number;
}

/** A page of the resources of a node. */
export interface NodeResourcesQuery {
  readonly type?: string | undefined;
  readonly state?: readonly string[] | undefined;
  /** A part of the name. */
  readonly q?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** The query of `GET /api/v1/nodes`. */
export interface NodeListQuery {
  readonly state?: string | undefined;
  readonly group?: string | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
}

/**
 * Questions about nodes, whichever server has their streams. Everything that the API says about nodes it asks here.
 * Answers are plain JSON without secrets, so that servers can ask each other; lists come in pages. Undefined stands for
 * a node, or a resource, that nobody knows.
 */
export interface ServedFleet {
  /** A page of nodes. */
  rows(query: NodeRowsQuery): Promise<NodeRows>;
  /** Rejects with a problem (400) if a filter has a value that no node can have. The lists below do it themselves. */
  check(filter: NodeFilter): Promise<void>;
  /** Counts the nodes that fit. */
  summary(filter: NodeFilter): Promise<FleetSummary>;
  /** Nodes × types, in at most this many columns of neighbouring nodes. */
  map(filter: NodeFilter, columns: number): Promise<FleetMapJson>;
  /** Nodes with their streams and types, by id; `next` is the `after` of the following page. */
  nodes(query: NodeListQuery): Promise<{
    readonly nodes: readonly object[];
    readonly next?: string;
    /** Servers that did not answer. */
    readonly silent?: readonly { readonly replica: string; readonly reason: string }[];
  }>;
  /** One node with its streams, types and waits, and a part of its resources. */
  node(id: string, query: { readonly type?: string | undefined; readonly all: boolean }): Promise<object | undefined>;
  /** The same node as it stands in lists. */
  row(id: string): Promise<NodeRow | undefined>;
  resources(id: string, query: NodeResourcesQuery): Promise<NodeResources | undefined>;
  /** The content of one resource that it runs, beside its target. */
  contents(id: string, type: string, name: string): Promise<NodeContentsJson | undefined>;
  timeline(id: string): Promise<NodeTimeline | undefined>;
  /** Its last load reports, by cluster; at most 200. */
  loads(id: string): Promise<readonly NodeLoad[]>;
  /** The problems of nodes, one entry for all nodes with the same problem, the worst first; and silent servers. */
  problems(): Promise<{ readonly nodes: readonly NodeProblem[]; readonly silent: FleetSummary["silent"] }>;
}
