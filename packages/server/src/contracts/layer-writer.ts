import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";
import type { CommitInfo, Revision, RevisionId } from "./store.js";

/** A change of one layer that somebody asks for. */
export interface LayerWrite {
  readonly layer: LayerName;
  readonly upsert: readonly Resource[];
  /** A resource's name, which means all variants of it, or the key of one. Unknown names are no error. */
  readonly remove: readonly { readonly type: ResourceType; readonly name: ResourceName }[];
  /** The layer holds exactly `upsert` afterwards. */
  readonly replace: boolean;
  /** The head that the writer knows; null: the layer has none. Undefined: whatever it is. */
  readonly expected?: RevisionId | null | undefined;
  /** Checked in the turn in which nothing else changes the layer; what it throws is thrown. */
  readonly condition?: (() => void) | undefined;
  readonly info: CommitInfo;
}

/** What became of a write. */
export type LayerWritten =
  /** It is durable, and served. `head` is undefined for a layer that nothing was ever put in. */
  | { readonly kind: "written"; readonly head: Revision | undefined; readonly isNew: boolean }
  /** Nothing was changed: the layer has another head than expected. */
  | { readonly kind: "conflict"; readonly head: Revision | undefined };
