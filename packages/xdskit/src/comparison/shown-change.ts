/** The change of a resource, for people and programs. */
export interface ShownChange {
  /** The name of its type: `cluster`. */
  readonly type: string;
  readonly typeUrl: string;
  readonly name: string;
  /** Undefined where there is only one. */
  readonly layer: string | undefined;
  /** The groups whose nodes are served it; undefined where it is about a layer alone. Empty: nobody is. */
  readonly groups?: readonly string[] | undefined;
  /** Undefined: there was none. */
  readonly before: ShownContent | undefined;
  /** Undefined: there is none any more. */
  readonly after: ShownContent | undefined;
}

/** A content without its secrets, made when it is asked for. */
export interface ShownContent {
  /** Proto3 JSON with its `"@type"`. */
  json(): object;
  /** A document in the form of files. */
  yaml(): string;
}

/** Whether a resource came, has another content, or went. */
export type ChangeKind = "added" | "changed" | "removed";

/** The kind of change. */
export function kindOf({ before, after }: Pick<ShownChange, "before" | "after">): ChangeKind {
  if (before === undefined) return "added";
  return after === undefined ? "removed" : "changed";
}
