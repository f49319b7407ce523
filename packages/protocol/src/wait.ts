import type { Resource, ResourceName, ResourceType } from "@xdskit/api";

/** What is held back, and for what. */
export interface Wait {
  /**
   * - `make`: something new or changed waits for what it names to be acknowledged.
   * - `break`: a removal waits for the acknowledgement of what replaces what named the removed.
   * - `linger`: a removal waits while connections drain from what named the removed, of which no acknowledgement tells.
   * - `named`: a removal waits for the client to ask for it no longer.
   */
  readonly kind: "make" | "break" | "linger" | "named";
  /** What waits: at most 100 names. */
  readonly type: ResourceType;
  readonly names: readonly ResourceName[];
  /** The resources that it waits for: at most 100 names. Undefined for `named`, which waits for the client to drop its interest. */
  readonly for: { readonly type: ResourceType; readonly names: readonly ResourceName[] } | undefined;
}

/** Whether it is an answer of the client that is waited for. The others end by themselves, and the client lacks nothing meanwhile. */
export function isForAnswer({ kind }: Pick<Wait, "kind">): boolean {
  return kind === "make" || kind === "break";
}

/** How many names of a wait are told. */
export const mostNamesOfWait = 100;

/** Puts together what waits for the same types. */
export interface Waits {
  add(kind: Wait["kind"], waiting: Resource, cause: Resource): void;
  list(): readonly Wait[];
}

export function createWaits(): Waits {
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
      if (entry.names.size < mostNamesOfWait) entry.names.add(name);
      if (entry.causes.size < mostNamesOfWait) entry.causes.add(cause.name);
    },
    list: () =>
      Array.from(kinds.values(), ({ wait, names, causes }) => ({
        ...wait,
        names: [...names],
        for: wait.for && { type: wait.for.type, names: [...causes] },
      })),
  };
}
