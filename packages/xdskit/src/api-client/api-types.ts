import type * as contract from "@xdskit/admin/answers";
import type { Finding } from "@xdskit/api";

/** What a running server answers, as the schemas of the API say. */
export type {
  ArrivalJson,
  ChangedResource,
  LayerJson,
  QuarantineJson,
  RevisionJson,
  RolloutJson,
} from "@xdskit/admin/answers";

/** A resource as proto3 JSON with its `"@type"`, without secrets. */
export type ResourceView = NonNullable<contract.ChangedResource["after"]>;

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
export interface ChangeAnswer extends Omit<contract.ChangeAnswer, "changed" | "findings"> {
  readonly changed: readonly contract.ChangedResource[];
  readonly findings: readonly Finding[];
}

/** The differences between two revisions. */
export interface DiffAnswer {
  readonly to: contract.RevisionJson;
  readonly changes: readonly contract.ChangedResource[];
  readonly stages: readonly contract.GroupStages[];
}
