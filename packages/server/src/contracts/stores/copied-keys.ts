import type { ResourceName, TypeUrl, Version } from "@xdskit/api";
import type { SharedEntry } from "./shared-keys.js";

/** The name of a content. */
export interface ContentOfCopy {
  readonly type: TypeUrl;
  readonly key: ResourceName;
  readonly version: Version;
}

/** Shared keys that a server must know at its start, also while the store is away: a copy of the store has them. */
export interface CopiedKeys {
  /** All of them begin so. */
  readonly prefix: string;
  /** Whether a key that begins so is one of them. */
  isCopied(key: string): boolean;
  /** The contents that the entries name, and no head may have any more. */
  contentsOf(entries: readonly SharedEntry[]): readonly ContentOfCopy[];
}
