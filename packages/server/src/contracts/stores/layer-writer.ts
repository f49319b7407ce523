import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { LayerName } from "../../settings/group-settings.js";
import type { CommitInfo, Revision, RevisionId, StoredKey } from "./store.js";

/** A requested change of one layer. */
export interface LayerWrite {
  readonly layer: LayerName;
  readonly upsert: readonly Resource[];
  /** A resource's name, which means all variants of it, or the key of one. Unknown names are no error. */
  readonly remove: readonly { readonly type: ResourceType; readonly name: ResourceName }[];
  /** The layer holds exactly `upsert` afterwards. */
  readonly replace: boolean;
  /** The head that the writer knows; null: the layer has none. Undefined: any head. */
  readonly expected?: RevisionId | null | undefined;
  /** Called while nothing else can change the layer. Its error is thrown. */
  readonly condition?: (() => void) | undefined;
  readonly info: CommitInfo;
  /**
   * The lease for the upserted resources: a new one with this time, or an existing one. Without it, upserted resources
   * belong to no lease any more; with `replace`, unchanged resources keep their lease.
   */
  readonly lease?: { readonly ttlMs: number } | { readonly id: string } | undefined;
}

/** Holds resources of a layer while it is renewed. */
export interface Lease {
  readonly id: string;
  readonly layer: LayerName;
  /** Milliseconds from one renewal to its end. */
  readonly ttlMs: number;
  readonly resources: readonly StoredKey[];
}

/** The outcome of a write. */
export type LayerWritten =
  /** It is durable and served. `head` is undefined for a layer that never had content. */
  | {
      readonly kind: "written";
      readonly head: Revision | undefined;
      readonly isNew: boolean;
      /** The lease that holds the upserted resources. */
      readonly lease?: Lease | undefined;
    }
  /** Nothing was changed: the layer has another head than expected. */
  | { readonly kind: "conflict"; readonly head: Revision | undefined };
