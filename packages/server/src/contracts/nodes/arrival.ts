import type { TypeUrl } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { NodeMatch } from "../../settings/node-match.js";
import type { RejectionReport, WaitReport } from "./node-status.js";

/**
 * Nodes, by ids, by conditions as in the settings of groups, or by a function. Nodes named by id are waited for
 * whenever they connect; otherwise only nodes that had a stream when `done` was called.
 */
export type NodeSelection = readonly string[] | NodeMatch | ((node: Node) => boolean);

/** The nodes to look at. */
export interface ConfigArrivalOptions {
  /** Default: all that the change concerns. */
  readonly nodes?: NodeSelection | undefined;
}

/** How long to wait, and for which nodes. */
export interface ConfigArrivalDoneOptions extends ConfigArrivalOptions {
  /** Milliseconds after which it resolves all the same. Default: it waits for as long as the server runs. */
  readonly timeout?: number | undefined;
}

/** A node that rejected (NACK) something of a change. */
export interface ConfigArrivalRejection extends RejectionReport {
  readonly node: string;
  readonly group: string;
  readonly type: string;
  readonly typeUrl: TypeUrl;
}

/** A node that did not acknowledge a change yet, and one reason. */
export interface ConfigArrivalWait {
  readonly node: string;
  readonly group: string;
  readonly type: string;
  readonly typeUrl: TypeUrl;
  /**
   * - `not-sent`: its turn has not come yet, or the client takes no more for the moment.
   * - `not-answered`: it was sent, and the client has not answered.
   * - `waits`: it must wait for the resources in `waits`.
   * - `held-back`: a rollout or a quarantine of its group keeps it from the node, for now or for good.
   */
  readonly reason: "not-sent" | "not-answered" | "waits" | "held-back";
  readonly waits: readonly WaitReport[];
  /** The same in words. */
  readonly why: string;
}

/** How far the nodes are that a change concerns: those with a stream that asks for something that it changed. */
export interface ConfigArrivalStatus {
  readonly revision: number;
  /** Nodes that acknowledged every part that concerns them, or something newer. */
  readonly acknowledged: number;
  /** Nodes that rejected some of it. */
  readonly rejected: number;
  readonly pending: number;
  /** Nodes from which a rollout or a quarantine of their group keeps it. */
  readonly heldBack: number;
  /** One for each of the nodes that rejected it, at most 100. */
  readonly rejections: readonly ConfigArrivalRejection[];
  /** One for each of the nodes that are pending or held back, at most 100. */
  readonly waiting: readonly ConfigArrivalWait[];
}

/** How far one node is with a change. */
export type NodeArrival = "acknowledged" | "rejected" | "pending" | "held-back";

/** How a change ended. */
export interface ConfigArrivalOutcome extends ConfigArrivalStatus {
  /**
   * - `complete`: no node is pending or held back, and none rejected it.
   * - `rejected`: no node is pending or held back, and some rejected it.
   * - `timeout`: nodes were still pending or held back after the time that was given.
   * - `closed`: nodes were still pending or held back when the server was closed.
   */
  readonly result: "complete" | "rejected" | "timeout" | "closed";
  /** Awaited nodes without a stream now: they get the newest when they come back. */
  readonly absent: number;
}

/**
 * A change and how far it has come. It is a view: the server keeps nothing for it except while a `done` waits, and the
 * program that holds it keeps the change alive. Contents decide: a later change that replaces some of this one counts
 * as this one.
 */
export interface ConfigArrival {
  /**
   * The number of the change, from 1 in the life of a server; a change that made no difference has the number of the
   * last one that did.
   */
  readonly revision: number;
  /**
   * Looks at all streams, now. Throws an XdskitError if `nodes` has a key that no node has; `done` rejects with the
   * same error. Throws XDSKIT_SERVER_CLOSED once the server closes.
   */
  status(options?: ConfigArrivalOptions): ConfigArrivalStatus;
  /** How far each node is that the change concerns, by id. Looks at all streams, now, and throws as `status` does. */
  nodes(options?: ConfigArrivalOptions): ReadonlyMap<string, NodeArrival>;
  /**
   * The same, each node as of the moment when it is read: for programs that look at a large fleet in several turns of
   * the event loop. A node that comes meanwhile is not among them.
   */
  eachNode(options?: ConfigArrivalOptions): Iterable<readonly [id: string, state: NodeArrival]>;
  /**
   * Resolves when every node that the change concerns has acknowledged or rejected it, or has left; at once if it
   * concerns none. It rejects only for an invalid `nodes`: failures are part of the outcome. Nodes that connect after
   * the call are not waited for, unless they were there before.
   */
  done(options?: ConfigArrivalDoneOptions): Promise<ConfigArrivalOutcome>;
}
