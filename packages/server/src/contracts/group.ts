import type { TtlPolicy } from "@xdskit/protocol";
import type { GroupSettings, LayerName, ViewSettings } from "../settings/group-settings.js";

/** A group as the server knows it. */
export interface Group extends ViewSettings, Pick<GroupSettings, "name" | "loadReports" | "resourceErrors"> {
  /** Undefined means every existing layer, in the order in which they first appeared. */
  readonly layers: readonly LayerName[] | undefined;
  readonly ttl: TtlPolicy;
  /** Unique among groups. */
  readonly key: string;
}
