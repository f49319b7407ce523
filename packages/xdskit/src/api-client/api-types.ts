import type { Finding } from "@xdskit/api";
import type { StageJson, WaitJson } from "@xdskit/protocol";

/** A layer of a running server. */
export interface LayerView {
  readonly name: string;
  /** Whether changes may be sent to it; a folder fills the others. */
  readonly writable: boolean;
  readonly place: "over" | "under" | null;
  readonly durable: boolean;
  readonly head: RevisionView | null;
}

/** One state of a layer. */
export interface RevisionView {
  readonly id: string;
  readonly layer: string;
  readonly parent: string | null;
  readonly number: number;
  /** As ISO 8601 writes it. */
  readonly time: string;
  readonly author: string;
  readonly cause: CauseView;
  readonly message: string;
  readonly upserted: number;
  readonly removed: number;
}

/** Why there is a revision. Further kinds may come. */
export interface CauseView {
  readonly kind: string;
  readonly [detail: string]: unknown;
}

/** A resource as proto3 JSON with its `"@type"`, without secrets. */
export type ResourceView = Readonly<Record<string, unknown>>;

/** A resource that differs. */
export interface ChangedView {
  /** The type URL. */
  readonly type: string;
  readonly name: string;
  readonly change: "added" | "changed" | "removed";
  readonly before: ResourceView | null;
  readonly after: ResourceView | null;
}

/** How many resources a change concerns. */
export interface CountsView {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** The stages in which one group gets a change. */
export interface GroupStagesView {
  readonly group: string;
  readonly stages: readonly StageJson[];
  readonly held?: readonly WaitJson[];
}

/** A change of a layer, as it is sent. */
export interface ChangeRequest {
  readonly upsert?: readonly object[];
  readonly delete?: readonly { readonly type: string; readonly name: string }[];
  /** The layer holds exactly `upsert` afterwards. */
  readonly replace?: boolean;
  readonly message?: string | undefined;
  readonly author?: string;
  readonly dryRun?: boolean;
}

/** What a change did, or would do. */
export interface ChangeAnswer {
  /** Null for a dry run, and for a layer that nothing was ever put in. */
  readonly revision: RevisionView | null;
  readonly counts: CountsView;
  readonly changed: readonly ChangedView[];
  readonly stages: readonly GroupStagesView[];
  readonly findings: readonly Finding[];
}

/** What differs between two revisions. */
export interface DiffAnswer {
  readonly to: RevisionView;
  readonly changes: readonly ChangedView[];
  readonly stages: readonly GroupStagesView[];
}

/** Which nodes have a revision. */
export interface ArrivalView {
  readonly counts: { readonly acknowledged: number; readonly rejected: number; readonly pending: number };
  readonly nodes: readonly NodeArrivalView[];
  /** Servers whose nodes are not all counted, and why; older servers leave it out. */
  readonly uncounted?: readonly { readonly replica: string; readonly reason: string }[];
}

/** How far one node is. */
export interface NodeArrivalView {
  readonly id: string;
  readonly group?: string;
  readonly state: string;
  /** What the client said, or what it waits for. */
  readonly message?: string;
}
