import type { CommitInfo, CommitResult, LayerCommit, Retention, StoredKey } from "@xdskit/server/tables";

/** The start data of the thread. */
export interface WriteStart {
  readonly file: string;
}

/** A part of a layer's commit. The contents are in the file already. */
export interface CommitPart extends Pick<LayerCommit, "layer" | "parent" | "kind" | "always" | "cause"> {
  /** Its place in the commit: parts with equal numbers belong together. */
  readonly at: number;
  readonly upsert: readonly (StoredKey & { readonly version: string })[];
  readonly remove: readonly StoredKey[];
}

/** A message to the thread: the parts of a commit, and then the operation. */
export type WriteRequest =
  | { readonly kind: "part"; readonly part: CommitPart }
  | { readonly kind: "commit"; readonly info: CommitInfo; readonly ahead: string | undefined }
  | { readonly kind: "retain"; readonly retention: Retention };

/**
 * The thread's answer; undefined if it could not do the work. `unwritten`: the system's reason, such as a full disk,
 * for which the other thread cannot do it either.
 */
export type WriteAnswer = {
  readonly result: CommitResult | number | undefined;
  readonly unwritten: string | undefined;
};
