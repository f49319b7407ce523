import type { TypeUrl } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { NodeMatch } from "../node-match.js";
import type { RejectionReport, WaitReport } from "./node-status.js";

/**
 * Nodes by their ids, by what must hold of them as in the settings of groups, or by what a function says. Named ids are waited for whenever they come; else only
 * nodes that had a stream when `done` was called.
 */
export type NodeSelection = readonly string[] | NodeMatch | ((node: Node) => boolean);

/** Which nodes are looked at. */
export interface ConfigArrivalOptions {
  /** Default: all that the change concerns. */
  readonly nodes?: NodeSelection | undefined;
}

/** How long, and for whom. */
export interface ConfigArrivalDoneOptions extends ConfigArrivalOptions {
  /** Milliseconds after which it resolves all the same. Default: it waits for as long as the server runs. */
  readonly timeout?: number | undefined;
}

/** A node that rejected (NACK) something of a change. */
export interface ConfigArrivalRejection extends RejectionReport {
  readonly node: string;
  readonly type: string;
  readonly typeUrl: TypeUrl;
}

/** A node that did not acknowledge a change yet, and why not; of several reasons one. */
export interface ConfigArrivalWait {
  readonly node: string;
  readonly type: string;
  readonly typeUrl: TypeUrl;
  /**
   * - `not-sent`: its turn did not come yet, or it takes no more for the moment.
   * - `not-answered`: it was sent something and said nothing yet.
   * - `held-back`: what `waits` says comes first.
   * - `withheld`: its group does not give it to the node, or not yet.
   */
  readonly reason: "not-sent" | "not-answered" | "held-back" | "withheld";
  readonly waits: readonly WaitReport[];
}

/** How far the nodes are that a change concerns: those with a stream that asks for something that it changed. */
export interface ConfigArrivalStatus {
  readonly revision: number;
  /** Nodes that acknowledged all of it that concerns them, or something newer. */
  readonly acknowledged: number;
  /** Nodes that rejected some of it. */
  readonly rejected: number;
  readonly pending: number;
  /** One for each of the nodes that rejected it, at most 100. */
  readonly rejections: readonly ConfigArrivalRejection[];
  /** One for each of the nodes that are pending, at most 100. */
  readonly waiting: readonly ConfigArrivalWait[];
}

/** How a change ended. */
export interface ConfigArrivalOutcome extends ConfigArrivalStatus {
  /**
   * - `complete`: no node is pending and none rejected it.
   * - `rejected`: no node is pending, and some rejected it.
   * - `timeout`: nodes were still pending after the time that was given.
   * - `closed`: nodes were still pending when the server was closed.
   */
  readonly result: "complete" | "rejected" | "timeout" | "closed";
  /** Nodes that were waited for and have no stream now: they get the newest when they come back. */
  readonly absent: number;
}

/**
 * A change on its way to the nodes. It is a view: nothing is kept or done for it by the server but while a `done` waits, and it costs the program that holds it what
 * changed. What nodes have is told by content: a later change that takes some of this one back is as good as this one.
 */
export interface ConfigArrival {
  /** Counts the changes that made a difference, from 1 in the life of a server; a change that made none has that of the last that did. */
  readonly revision: number;
  /** Looks at all streams, now. Throws an XdskitError if `nodes` has a key that no node has, as `done` rejects with it. */
  status(options?: ConfigArrivalOptions): ConfigArrivalStatus;
  /**
   * Resolves when every node that the change concerns acknowledged or rejected it, or left; at once where it concerns none. It rejects only for `nodes` that make no sense: what went wrong is in the
   * outcome. Nodes that come after the call are not waited for, but those that were there come back.
   */
  done(options?: ConfigArrivalDoneOptions): Promise<ConfigArrivalOutcome>;
}
