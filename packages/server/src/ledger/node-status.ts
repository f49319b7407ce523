import type { TypeUrl, Version } from "@xdskit/api";
import type { Node, Wait } from "@xdskit/protocol";
import type { NodeStreamInfo } from "../stream-info.js";

/**
 * How far a client is with what it is to have.
 *
 * - `synced`: it acknowledged all of it.
 * - `pending`: something was not sent yet, is on its way, or is held back until something else was acknowledged.
 * - `stale`: pending, and for longer than `staleMs` nothing was heard. What is only held back stays `pending`.
 * - `rejected`: it rejected (NACK) something that it is still to have.
 */
export type NodeState = "synced" | "pending" | "rejected" | "stale";

/** What is pending longer than this without a word is stale. Milliseconds. */
export const staleMs = 15_000;

/** All streams of one node id, and how far the client is. */
export interface NodeStatus {
  readonly id: string;
  /** As the stream opened last told it. */
  readonly node: Node;
  /** The name of the group. */
  readonly group: string;
  /** In the order in which they were opened. */
  readonly streams: readonly StreamStatus[];
  /** The worst of its streams' types: rejected before stale before pending before synced. */
  readonly state: NodeState;
}

/** One stream of a node. */
export interface StreamStatus {
  readonly stream: NodeStreamInfo;
  readonly openedAt: Date;
  /** Those that it asked for, in the order of delivery. */
  readonly types: readonly TypeReport[];
}

/** One type on one stream, without contents. */
export interface TypeReport {
  /** As people call it: `cluster`. */
  readonly type: string;
  readonly typeUrl: TypeUrl;
  /** It asks for everything. */
  readonly wildcard: boolean;
  /** How many names it asks for. */
  readonly names: number;
  /** How many resources it is to have. */
  readonly resources: number;
  /** The version of the set that it is to have all or a part of; undefined while nothing is known. */
  readonly wantedVersion: Version | undefined;
  /** The last response. */
  readonly sent: { readonly version: Version; readonly at: Date } | undefined;
  /** What it is known to use; `at` is undefined where it said to have it as it came, and was sent nothing. */
  readonly acknowledged: { readonly version: Version; readonly at: Date | undefined } | undefined;
  /** Its last rejection, until something else was acknowledged in the place of what it rejected. */
  readonly rejected: RejectionReport | undefined;
  /** What is held back, and for what. */
  readonly waits: readonly WaitReport[];
  /** How many of the resources have a TTL that the client is not told, so that it keeps them; see `TtlPolicy`. */
  readonly untoldTtls: number;
  readonly state: NodeState;
  /** How many resources differ between what it acknowledged and what it is to have. */
  readonly behind: number;
}

/** What a client said against a response (NACK). */
export interface RejectionReport {
  readonly version: Version;
  readonly at: Date;
  /** gRPC status code and text of the client's `error_detail`, cut to a bounded length. */
  readonly code: number;
  readonly message: string;
  /** The resources that it says are at fault, by name; undefined where it does not say. */
  readonly blamed: readonly string[] | undefined;
}

/** Something that is held back: see `Wait` for what each kind means. */
export interface WaitReport {
  readonly kind: Wait["kind"];
  /** What waits: at most 100 names. */
  readonly type: string;
  readonly names: readonly string[];
  /** Whose acknowledgement it waits for; undefined where it waits for time, or for the client to ask no longer. */
  readonly for: { readonly type: string; readonly names: readonly string[] } | undefined;
}

/**
 * How far a client is with one resource.
 *
 * - `synced`: it uses what it is to have; where that is nothing, it has let go.
 * - `sent`: it was sent, and the client did not answer yet.
 * - `not-sent`: it is to be sent: the client takes no more for the moment, or it is held back.
 * - `rejected`: the client rejected (NACK) this content, and uses what `acknowledged` says.
 * - `missing`: the client asks for this name, and there is no such resource.
 */
export type ResourceState = "synced" | "sent" | "not-sent" | "rejected" | "missing";

/** One resource of one stream, without its content. */
export interface ResourceReport {
  readonly type: string;
  readonly typeUrl: TypeUrl;
  readonly name: string;
  /** The content that the client is to have; undefined where the resource is to go, or is missing. */
  readonly version: Version | undefined;
  /** The content that it was sent last. */
  readonly sent: Version | undefined;
  /** The content that it is known to use. */
  readonly acknowledged: Version | undefined;
  /** The content that it rejected, while it is still to have it. */
  readonly rejected: Version | undefined;
  readonly state: ResourceState;
  /** The id of the stream. */
  readonly stream: number;
}

/** What a node is to have and has, resource by resource. */
export interface NodeConfig {
  readonly id: string;
  readonly node: Node;
  readonly group: string;
  readonly resources: readonly ResourceReport[];
  /** There are more than were asked for. */
  readonly isCut: boolean;
}

const ranks: Readonly<Record<NodeState, number>> = { synced: 0, pending: 1, stale: 2, rejected: 3 };

/** The worst of several states; of none, a client that asks for nothing has all of it. */
export function worst(states: Iterable<NodeState>): NodeState {
  let found: NodeState = "synced";
  for (const state of states) if (ranks[state] > ranks[found]) found = state;
  return found;
}
