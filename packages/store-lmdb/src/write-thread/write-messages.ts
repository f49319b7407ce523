import type { CommitInfo, CommitResult, LayerCommit, Retention, StoredKey } from "@xdskit/server/tables";

/** What the thread is started with. */
export interface WriteStart {
  readonly file: string;
}

/** A part of a layer's commit. The contents are in the file already. */
export interface CommitPart extends Pick<LayerCommit, "layer" | "parent" | "kind" | "always"> {
  /** Its place in the commit: parts with equal numbers belong together. */
  readonly at: number;
  readonly upsert: readonly (StoredKey & { readonly version: string })[];
  readonly remove: readonly StoredKey[];
}

/** What the thread is told: the parts of a commit, and then what to do. */
export type WriteRequest =
  | { readonly kind: "part"; readonly part: CommitPart }
  | { readonly kind: "commit"; readonly info: CommitInfo; readonly ahead: string | undefined }
  | { readonly kind: "retain"; readonly retention: Retention };

/** What the thread answers; undefined: it could not be done there. */
export type WriteAnswer = { readonly result: CommitResult | number | undefined };
