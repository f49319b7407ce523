import { getOrInsert } from "@xdskit/api";
import type { Snapshot, TypeStatus } from "@xdskit/protocol";
import type { Caller } from "../../identity/caller.js";
import type { LayerName } from "../../settings/group-settings.js";
import type { PeerIdentity } from "../transport.js";
import type { RolloutAt } from "./node-status.js";
import type { NodeStreamInfo } from "./stream-info.js";

/** A stream, as reports and arrivals see it. They keep none of its answers. */
export interface ReportedStream {
  /** Undefined before its node is known. */
  readonly opened: NodeStreamInfo | undefined;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  /** The layers of its group; undefined means all layers. */
  readonly layers: readonly LayerName[] | undefined;
  /** The target of its client now; undefined while nothing is known. */
  readonly snapshot: Snapshot | undefined;
  /** The target of its group in the end. */
  readonly newest: Snapshot | undefined;
  /** The rollout under way that has not reached it; undefined: none. */
  readonly rollout?: RolloutAhead | undefined;
  /** Why it does not get the newest, as a policy says it; undefined: it does, or a rollout or quarantine has it. */
  readonly heldBackWhy?: string | undefined;
  /** The identity in its client's certificate; undefined without one. */
  readonly identity?: PeerIdentity | undefined;
  /** Who opened it. */
  readonly caller?: Caller | undefined;
  /** Its client came back, and what it has is not known yet: it gets the newest once it has asked for the rest. */
  readonly comesBack?: boolean | undefined;
  /** Whether its client has acknowledged its whole target. */
  readonly isInSync: boolean;
  /** The time since which it is not in sync; milliseconds of the server's clock. */
  readonly outOfSyncSince: number;
  /**
   * The time from which its lag counts, in milliseconds of the server's clock: before, its client was not connected, or
   * a rollout or a quarantine held changes back from it.
   */
  readonly lagFrom: number;
  status(): readonly TypeStatus[];
}

/** A rollout that has not reached a stream. */
export interface RolloutAhead {
  readonly at: RolloutAt;
  /** The target of a stream that it has reached. */
  readonly snapshot: Snapshot;
}

/** An open stream whose node is known. */
export type OpenStream = ReportedStream & { readonly opened: NodeStreamInfo };

export function isOpen(stream: ReportedStream): stream is OpenStream {
  return stream.opened !== undefined;
}

/** Open streams by the id of their node, the newest last. */
export function streamsByNode(streams: Iterable<ReportedStream>): ReadonlyMap<string, readonly OpenStream[]> {
  const found = new Map<string, OpenStream[]>();
  for (const stream of streams) if (isOpen(stream)) getOrInsert(found, stream.opened.node.id, () => []).push(stream);
  return found;
}

/**
 * The newest stream shows the node as it is now: a client that comes back may have another version, or be in another
 * group.
 */
export function newestOf(open: readonly OpenStream[]): NodeStreamInfo {
  return (open.at(-1) as OpenStream).opened;
}
