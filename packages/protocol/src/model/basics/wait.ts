import { maxFindings, type Resource, type ResourceName, type ResourceType } from "@xdskit/api";

/** A change that waits, and its reason. */
export interface Wait {
  /**
   * - `make`: a new or changed resource waits for the client to acknowledge the resources that it names.
   * - `break`: a removal waits for the acknowledgement of a change to the resource that named the removed one.
   * - `linger`: a removal waits while connections drain from the resource that named the removed one; no
   *   acknowledgement shows when that ends.
   * - `named`: a removal waits until the client stops asking for it.
   */
  readonly kind: "make" | "break" | "linger" | "named";
  /** The resources that wait: at most 100 names. */
  readonly type: ResourceType;
  readonly names: readonly ResourceName[];
  /**
   * The resources that they wait for: at most 100 names. Undefined for `named`, which waits for the client to drop its
   * interest.
   */
  readonly for: { readonly type: ResourceType; readonly names: readonly ResourceName[] } | undefined;
}

/**
 * Tells whether the wait is for an answer of the client. Other waits end by themselves, and the client lacks nothing
 * until then.
 */
export function isForAnswer({ kind }: Pick<Wait, "kind">): boolean {
  return kind === "make" || kind === "break";
}

/** Merges the waits for the same types. */
export interface MergedWaits {
  add(kind: Wait["kind"], waiting: Resource, cause: Resource): void;
  list(): readonly Wait[];
}

export function createMergedWaits(): MergedWaits {
  const kinds = new Map<string, { wait: Wait; names: Set<ResourceName>; causes: Set<ResourceName> }>();
  return {
    add(kind, { type, name }, cause) {
      const key = `${kind} ${type.typeUrl} ${cause.type.typeUrl}`;
      let entry = kinds.get(key);
      if (entry === undefined) {
        const wait: Wait = { kind, type, names: [], for: { type: cause.type, names: [] } };
        entry = { wait, names: new Set(), causes: new Set() };
        kinds.set(key, entry);
      }
      if (entry.names.size < maxFindings) entry.names.add(name);
      if (entry.causes.size < maxFindings) entry.causes.add(cause.name);
    },
    list: () =>
      Array.from(kinds.values(), ({ wait, names, causes }) => ({
        ...wait,
        names: [...names],
        for: wait.for && { type: wait.for.type, names: [...causes] },
      })),
  };
}
