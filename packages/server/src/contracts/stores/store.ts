import type { Finding, ResourceName, TypeUrl, Version } from "@xdskit/api";
import type { LayerName } from "../../settings/group-settings.js";
import type { SharedKeys, StoreWatch } from "./shared-keys.js";

/** Names a revision: a hash of its parent and of its changes, 22 characters of base64url. */
export type RevisionId = string;

/** Names one resource of a layer; `key` is `Resource.key`. */
export interface StoredKey {
  readonly type: TypeUrl;
  readonly key: ResourceName;
}

/** Names one content of a resource of a layer. */
export interface StoredVersion extends StoredKey {
  readonly version: Version;
}

/** One resource as a store keeps it. */
export interface StoredResource extends StoredVersion {
  /** The writer's own encoding (see `encodeStored`); a store does not look into it. */
  readonly bytes: Uint8Array;
}

/** The change of one resource in a revision. */
export interface StoredChange extends StoredKey {
  /** Undefined: it was not there before. */
  readonly from: Version | undefined;
  /** Undefined: it is not there any more. */
  readonly to: Version | undefined;
}

/** Why there is a revision. */
export type Cause =
  /** Files of a folder changed. `commit` is the folder's git commit, if it has one. */
  | { readonly kind: "files"; readonly files: readonly string[]; readonly commit?: string | undefined }
  /** `leased`: the upserted resources belong to a lease. */
  | { readonly kind: "api"; readonly caller: string; readonly leased?: true | undefined }
  | { readonly kind: "rollback"; readonly to: RevisionId }
  /** The lease was not renewed, so its resources are gone. */
  | { readonly kind: "lease-ended"; readonly lease: string }
  /** Something else that changes layers: an upstream, a program. */
  | { readonly kind: "source"; readonly source: string };

/** One state of one layer, like a commit. It is immutable. */
export interface Revision extends Pick<CommitInfo, "author" | "cause" | "message"> {
  readonly id: RevisionId;
  readonly layer: LayerName;
  /** Undefined for the first one. A parent that retention removed is still named. */
  readonly parent: RevisionId | undefined;
  /** 1 for the first revision of its layer, and one more for each that follows. */
  readonly number: number;
  /** In milliseconds since 1970. Never before that of its parent. */
  readonly time: number;
  /** How many resources are new or have another content. */
  readonly upserted: number;
  /** How many resources went. */
  readonly removed: number;
  /**
   * How many revisions of its history, up to this one, came from leases: a change with a lease, or a lease's end. Left
   * out: none.
   */
  readonly leases?: number | undefined;
}

/** A writer's information about a commit. */
export interface CommitInfo {
  readonly author: string;
  readonly cause: Cause;
  readonly message: string;
  /**
   * In milliseconds since 1970. Where a head of its layers has a later one, the revisions have that: clocks of writers
   * differ, and a writer may have waited for another one.
   */
  readonly time: number;
}

/** The part of a commit for one layer. */
export interface LayerCommit {
  readonly layer: LayerName;
  /** The head that the writer knows; undefined: the layer has none. Another head is a conflict. */
  readonly parent: RevisionId | undefined;
  /** `replace`: the layer holds exactly `upsert` afterwards. `patch`: only the named resources change. */
  readonly kind: "replace" | "patch";
  readonly upsert: readonly StoredResource[];
  readonly remove?: readonly StoredKey[] | undefined;
  /** Why this layer changes. Default: what the commit says. */
  readonly cause?: Cause | undefined;
  /** Makes a revision even if nothing differs, because the head's cause no longer holds. */
  readonly always?: boolean | undefined;
}

/** The outcome of a commit. */
export type CommitResult =
  /** The new heads of its layers, in its order. A layer without differences keeps its head, unless `always` is set. */
  | { readonly kind: "committed"; readonly heads: readonly (Revision | undefined)[] }
  /** Nothing was changed: another writer moved this head. */
  | { readonly kind: "conflict"; readonly layer: LayerName; readonly head: Revision | undefined };

/** How much history of each layer to keep. The head always stays. */
export interface Retention {
  /** The most revisions of a layer. */
  readonly revisions: number;
  /** The most revisions that came from leases; these do not count in `revisions` then. Default: all count there. */
  readonly leases?: number | undefined;
  /** Older ones go, in milliseconds since 1970. */
  readonly since: number;
  /** The number of newest revisions that stay, however old they are. Default: 1, the head. */
  readonly least?: number | undefined;
  /** Revisions from this moment on are still in use and stay, in milliseconds since 1970. Default: none are. */
  readonly inUseSince?: number | undefined;
  /**
   * Clients use what was the newest at this moment, in milliseconds since 1970: that and all that followed stay,
   * however many `revisions` these are. `since` and `leases` still hold. Default: no client uses an older one.
   */
  readonly usedSince?: number | undefined;
}

/** Listens to heads. */
export interface HeadsListener {
  /**
   * All heads, sorted by layer: soon after the watch begins, and soon after any of them moved, whoever moved it. Moves
   * that follow each other may come in one call; the moves of one commit always come together. After `away` it is
   * called again, even if nothing moved.
   */
  moved(heads: readonly Revision[]): void;
  /**
   * The store cannot be read: nothing is heard until `moved` is called again. Called once for each such time, and once
   * more for each further reason.
   */
  away(finding: Finding): void;
}

/**
 * Keeps the current and past content of layers. Each layer has a history of revisions and a head, which moves by
 * compare-and-swap. A commit of any size is atomic over all its layers, and two writers never lose each other's work. A
 * revision costs its change, not the size of its layer.
 *
 * Every method rejects with XDSKIT_STORE if the store cannot be read or written.
 */
export interface Store {
  /** Where it is, for messages. */
  readonly name: string;
  /** Small values beside the layers, for all servers of the store. */
  readonly shared: SharedKeys;
  /** The newest revision of each layer, sorted by layer. */
  heads(): Promise<readonly Revision[]>;
  /** Undefined for a layer without revisions. */
  head(layer: LayerName): Promise<Revision | undefined>;
  /** Undefined for a revision that never existed, or that retention removed. */
  revision(id: RevisionId): Promise<Revision | undefined>;
  /** Newest first, `limit` of them, from below the revision with the number `before`. */
  history(layer: LayerName, page: { readonly limit: number; readonly before?: number }): Promise<readonly Revision[]>;
  /** All resources of a revision, in no order. Rejects with XDSKIT_REVISION_UNKNOWN. */
  read(id: RevisionId): Promise<readonly StoredResource[]>;
  /** The same without the contents, which costs less. */
  versions(id: RevisionId): Promise<readonly StoredVersion[]>;
  /** The changes of one revision. Rejects with XDSKIT_REVISION_UNKNOWN. */
  changes(id: RevisionId): Promise<readonly StoredChange[]>;
  /** A content that a revision of any layer has or had. Undefined: it is not known, or no longer. */
  content(type: TypeUrl, key: ResourceName, version: Version): Promise<Uint8Array | undefined>;
  /** Resolves once the revisions are safe: a process that is killed then loses none of them. */
  commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult>;
  /** Removes old revisions, and contents that only they had. Resolves to how many revisions went. */
  retain(retention: Retention): Promise<number>;
  watch(listener: HeadsListener): StoreWatch;
  /** Waits for commits that run. Ends watches and sessions. */
  close(): Promise<void>;
}
