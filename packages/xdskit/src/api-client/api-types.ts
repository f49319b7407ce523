import type * as contract from "@xdskit/admin/answers";
import type { Finding } from "@xdskit/api";
import type { StageJson, WaitJson } from "@xdskit/protocol";

/** What a running server answers, as the schemas of the API say. */
export type { Layer as LayerView, Revision as RevisionView } from "@xdskit/admin/answers";

/** Why there is a revision. Further kinds may come. */
export type CauseView = contract.Revision["cause"];

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

/** The effect of a change, made or planned. */
export interface ChangeAnswer {
  /** Null for a dry run, and for a layer that nothing was ever put in. */
  readonly revision: contract.Revision | null;
  readonly counts: contract.ChangeAnswer["counts"];
  readonly changed: readonly ChangedView[];
  readonly stages: readonly GroupStagesView[];
  readonly findings: readonly Finding[];
}

/** The differences between two revisions. */
export interface DiffAnswer {
  readonly to: contract.Revision;
  readonly changes: readonly ChangedView[];
  readonly stages: readonly GroupStagesView[];
}

/** The arrival of a revision at nodes. */
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
  /** The words of the client, or the thing that it waits for. */
  readonly message?: string;
}
