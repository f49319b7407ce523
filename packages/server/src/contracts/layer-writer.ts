import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";
import type { CommitInfo, Revision, RevisionId, StoredKey } from "./store.js";

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
  /**
   * The lease that holds what is put in: a new one with this time, or one that there is. Without it, what is put in
   * belongs to no lease any more; with `replace`, what stays as it was stays with its lease.
   */
  readonly lease?: { readonly ttlMs: number } | { readonly id: string } | undefined;
}

/** Holds resources of a layer for as long as somebody renews it. */
export interface Lease {
  readonly id: string;
  readonly layer: LayerName;
  /** Milliseconds from one renewal to its end. */
  readonly ttlMs: number;
  readonly resources: readonly StoredKey[];
}

/** What became of a write. */
export type LayerWritten =
  /** It is durable, and served. `head` is undefined for a layer that nothing was ever put in. */
  | {
      readonly kind: "written";
      readonly head: Revision | undefined;
      readonly isNew: boolean;
      /** The lease that holds what was put in. */
      readonly lease?: Lease | undefined;
    }
  /** Nothing was changed: the layer has another head than expected. */
  | { readonly kind: "conflict"; readonly head: Revision | undefined };
