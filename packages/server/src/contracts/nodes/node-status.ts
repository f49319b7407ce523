import type { Resource, TypeUrl, Version } from "@xdskit/api";
import type { Node, Wait } from "@xdskit/protocol";
import type { RolloutState } from "../rollouts/rollout-status.js";
import type { PeerIdentity } from "../transport.js";
import type { NodeStreamInfo } from "./stream-info.js";

/**
 * How far a client is with what its group has.
 *
 * - `synced`: it acknowledged all of it.
 * - `held-back`: it acknowledged all that it may have; a rollout or a quarantine of its group keeps the rest from it.
 * - `pending`: something was not sent yet, is in flight, or waits until something else is acknowledged.
 * - `stale`: pending, and silent for longer than `staleMs`. A type that only waits for others stays `pending`.
 * - `rejected`: it rejected (NACK) something that is still its target.
 */
export type NodeState = (typeof nodeStates)[number];

/** From the best to the worst. */
export const nodeStates = ["synced", "held-back", "pending", "stale", "rejected"] as const;

/** Milliseconds of silence after which a pending type is stale. */
export const staleMs = 15_000;

/** All streams of one node id, and how far the client is. */
export interface NodeStatus {
  readonly id: string;
  /** The node of the newest stream. */
  readonly node: Node;
  /** The name of the group. */
  readonly group: string;
  /** In the order in which they were opened. */
  readonly streams: readonly StreamStatus[];
  /** The worst of its streams' types. */
  readonly state: NodeState;
  /** Why it is not synced, in words, after the name of that type; empty if it is. */
  readonly why: string;
}

/** One stream of a node. */
export interface StreamStatus {
  readonly stream: NodeStreamInfo;
  readonly openedAt: Date;
  /** The identity in the client's certificate; undefined without one. */
  readonly identity?: PeerIdentity | undefined;
  /** The types that it asked for, in delivery order. */
  readonly types: readonly TypeReport[];
}

/** One type on one stream, without contents. */
export interface TypeReport {
  /** As people call it: `cluster`. */
  readonly type: string;
  readonly typeUrl: TypeUrl;
  /** Whether it asks for everything. */
  readonly wildcard: boolean;
  /** How many names it asks for. */
  readonly names: number;
  /** How many resources its target has. */
  readonly resources: number;
  /** The version of the set that is its target, in full or in part; undefined while nothing is known. */
  readonly wantedVersion: Version | undefined;
  /** The last response. */
  readonly sent: { readonly version: Version; readonly at: Date } | undefined;
  /** The set that it surely uses; `at` is undefined if it had the set when it connected and was sent nothing. */
  readonly acknowledged: { readonly version: Version; readonly at: Date | undefined } | undefined;
  /** Its last rejection, until it acknowledged other content in place of the rejected one. */
  readonly rejected: RejectionReport | undefined;
  /** Changes that wait, and what for. */
  readonly waits: readonly WaitReport[];
  /** What its group keeps from the client for now; undefined: nothing. */
  readonly heldBack: HeldBack | undefined;
  /** How many of the resources have a TTL that the client is not told, so that it keeps them; see `TtlPolicy`. */
  readonly untoldTtls: number;
  readonly state: NodeState;
  /** Why it is not synced, in words; empty if it is. */
  readonly why: string;
  /** How many resources differ between what it acknowledged and its target. */
  readonly behind: number;
  /**
   * From when the last change was published until the ACK; `to` is undefined while there is none. Resources that it
   * asked for itself count from when they were sent. The time in which it was not connected, or held back by a rollout
   * or a quarantine, does not count. Undefined: it was sent nothing, or it rejected its target.
   */
  readonly lag: { readonly from: Date; readonly to: Date | undefined } | undefined;
}

/** A client's rejection of a response (NACK). */
export interface RejectionReport {
  readonly version: Version;
  readonly at: Date;
  /** gRPC status code and text of the client's `error_detail`, cut to a bounded length. */
  readonly code: number;
  readonly message: string;
  /** The names of the resources at fault; undefined if the client does not say. */
  readonly blamed: readonly string[] | undefined;
  /** How many resources of the response were new to the client. */
  readonly resources: number;
}

/** What the newest snapshot of a group has, and a client is not to get for now. */
export interface HeldBack {
  /** How many of the resources that it asks for. */
  readonly resources: number;
  /** How many of these are in quarantine. */
  readonly quarantined: number;
  /** The rollout that has the others; undefined: all are in quarantine, or `why` says it. */
  readonly rollout: RolloutAt | undefined;
  /** The words of a policy that is neither a rollout nor a quarantine; undefined: it is one. */
  readonly why?: string | undefined;
}

/** Where a rollout is. */
export interface RolloutAt {
  readonly group: string;
  readonly state: RolloutState;
  /** The current step, counted from 1, of so many. */
  readonly step: number;
  readonly steps: number;
}

/** A change that waits: see `Wait` for what each kind means. */
export interface WaitReport {
  readonly kind: Wait["kind"];
  /** The waiting resources: at most 100 names. */
  readonly type: string;
  readonly names: readonly string[];
  /**
   * The resources whose acknowledgement it waits for; undefined if it waits for time, or for the client to unsubscribe.
   */
  readonly for: { readonly type: string; readonly names: readonly string[] } | undefined;
  /** What it waits for, in words. */
  readonly why: string;
}

/**
 * How far a client is with one resource.
 *
 * - `synced`: it uses what its group has; if that is nothing, it has dropped the resource.
 * - `held-back`: it uses its target, and a rollout or a quarantine keeps what its group has from it.
 * - `sent`: it was sent, and the client has not answered yet.
 * - `not-sent`: it will be sent: the client takes no more for the moment, or it waits for others.
 * - `rejected`: the client rejected (NACK) this content, and uses what `acknowledged` says.
 * - `missing`: the client asks for this name, and there is no such resource.
 */
export type ResourceState = (typeof resourceStates)[number];

/** From what people look for first. */
export const resourceStates = ["rejected", "not-sent", "sent", "missing", "held-back", "synced"] as const;

/** One resource of one stream, without its content. */
export interface ResourceReport {
  readonly type: string;
  readonly typeUrl: TypeUrl;
  readonly name: string;
  /** The content that is the client's target; undefined if the resource must go, or is missing. */
  readonly version: Version | undefined;
  /** The content that it was sent last. */
  readonly sent: Version | undefined;
  /** The content that it is known to use. */
  readonly acknowledged: Version | undefined;
  /** The content that it rejected, while it is still its target. */
  readonly rejected: Version | undefined;
  readonly state: ResourceState;
  /** Whether the client names it as at fault. Otherwise a rejected one only came with others. */
  readonly isBlamed: boolean;
  /** The id of the stream. */
  readonly stream: number;
}

/** One resource of a node with its contents, which may hold secrets. */
export interface NodeContents {
  readonly state: ResourceState;
  /** Its target; undefined: nothing. */
  readonly wanted: Resource | undefined;
  /** What its group has, which is its target unless it is held back; undefined: nothing. */
  readonly newest: Resource | undefined;
  /** The resource that it surely uses. */
  readonly used: Resource | undefined;
  /** The resource that it rejected, while it is still its target. */
  readonly rejected: Resource | undefined;
}

/** The target and the actual state of a node, resource by resource. */
export interface NodeConfig {
  readonly id: string;
  readonly node: Node;
  readonly group: string;
  readonly resources: readonly ResourceReport[];
  /** Whether there are more than requested. */
  readonly isCut: boolean;
}

/** How bad a state is, from 0. */
export function rankOf(state: NodeState): number {
  return nodeStates.indexOf(state);
}

/** The worst of several states. Without any, `synced`: a client that asks for nothing has everything. */
export function worst(states: Iterable<NodeState>): NodeState {
  let found: NodeState = "synced";
  for (const state of states) if (rankOf(state) > rankOf(found)) found = state;
  return found;
}

/** How far a client is with a type, and why in words. */
export interface Standing<State extends string = NodeState> {
  readonly type: string;
  readonly state: State;
  readonly why: string;
}

/**
 * The state of a node, and why in words: those of its worst type, the first of several. Whatever shows a node shows
 * this. Without types it is `synced`: a client that asks for nothing has everything. `rank`: how bad a state is.
 */
export function nodeStanding<State extends string = NodeState>(
  types: Iterable<Standing<State>>,
  rank: (state: State) => number = rankOf as (state: string) => number,
): { readonly state: State | "synced"; readonly why: string } {
  let found: Standing<State> | undefined;
  for (const one of types) if (found === undefined || rank(one.state) > rank(found.state)) found = one;
  if (found === undefined) return { state: "synced", why: "" };
  return { state: found.state, why: found.why === "" ? "" : `${found.type}: ${found.why}` };
}

/** No node in any state. */
export function noNodes(): Record<NodeState, number> {
  return { synced: 0, "held-back": 0, pending: 0, stale: 0, rejected: 0 };
}

/** The newest revision of a layer, and whether a node runs it. */
export interface NodeRevision {
  readonly layer: string;
  readonly id: string;
  readonly number: number;
  /** The node does not run it, but something from before. */
  readonly isBefore: boolean;
}

/** Selects the nodes of `eachNode`. Default: all. */
export interface EachNodeFilter {
  /** Only nodes of this group. */
  readonly group?: string | undefined;
  /** Only nodes whose ids come after this one in string order. */
  readonly after?: string | undefined;
}

/** Selects the nodes of `nodes`. Default: all. */
export interface NodesFilter extends EachNodeFilter {
  readonly state?: NodeState | undefined;
  /** At most this many, from the first. */
  readonly most?: number | undefined;
}

/** Selects the resources of `nodeConfig`. */
export interface NodeConfigFilter {
  /** A type as people type it (`cluster`, `cds`), or its type URL. Default: every type that the node asked for. */
  readonly type?: string | undefined;
  /** How many resources to look at, over all streams of the node. Default: all. */
  readonly most?: number | undefined;
}

/** How many nodes are in each state. */
export type NodeStates = Readonly<Record<NodeState, number>>;

/**
 * A source, or a layer that a program sets, whose newest content is not served: what was served before goes on. Or
 * another server of the store that does not answer.
 */
export interface SourceTrouble {
  readonly source: string;
  /**
   * `errors`: it cannot be served. `partial`: only what of it has no errors is served. `rolled-back`: an older revision
   * is served until the source changes. `silent`: the server does not answer, and nodes that only it has are not told
   * of. `incomplete`: something of what it had before is not served, or what it has now cannot be kept, or a restart
   * would fail.
   */
  readonly kind: "errors" | "partial" | "rolled-back" | "silent" | "incomplete";
  /** The first error, with where it is, and how many more there are; what is served instead; why it is silent. */
  readonly message: string;
}
