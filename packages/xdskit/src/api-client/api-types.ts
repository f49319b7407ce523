import type * as contract from "@xdskit/admin/answers";

/** What a running server answers, as the schemas of the API say. */
export type {
  ArrivalJson,
  ChangeAnswer,
  ChangedResource,
  DiffAnswer,
  LayerJson,
  LayerList,
  LayerResourceJson as LayerResource,
  LayerResources,
  QuarantineJson,
  RevisionAnswer,
  RevisionJson,
  RevisionList,
  RolloutJson,
  RolloutList,
  SourceList,
} from "@xdskit/admin/answers";

/** A resource as proto3 JSON with its `"@type"`, without secrets. */
export type ResourceView = NonNullable<contract.ChangedResource["after"]>;

/** A change of a layer, as it is sent. */
export interface ChangeRequest extends Omit<contract.ChangeJson, "upsert"> {
  readonly upsert?: readonly object[];
}
