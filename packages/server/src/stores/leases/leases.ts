import { hash, randomBytes } from "node:crypto";
import type { ResourceName, TypeUrl } from "@xdskit/api";
import type { Lease } from "../../contracts/stores/layer-writer.js";
import type { LayerCommit, Revision, StoredKey, StoredResource } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";

/** How leases are kept: as a resource of a layer beside the one whose resources they hold. */
const leaseType: TypeUrl = "xdskit.lease";

/** The layer of a store that holds the leases of another one. No source or program names a layer so. */
export function leaseLayerOf(layer: LayerName): LayerName {
  return `\u0000leases: ${layer}`;
}

/** A name that nobody can guess. */
export function newLeaseId(): string {
  return randomBytes(12).toString("base64url");
}

interface LeaseEntry {
  readonly ttlMs: number;
  readonly resources: ReadonlyMap<string, StoredKey>;
}

/** The changes of leases with a change of a layer; undefined: the lease is gone. */
export type LeaseChanges = ReadonlyMap<string, LeaseEntry | undefined>;

/** The leases of one layer: each resource belongs to one at most. */
export class LayerLeases {
  readonly layer: LayerName;
  /** The head of the store's layer in which they are. */
  head: Revision | undefined;
  readonly #leases = new Map<string, LeaseEntry>();
  readonly #byResource = new Map<string, string>();

  constructor(layer: LayerName) {
    this.layer = layer;
  }

  get size(): number {
    return this.#leases.size;
  }

  get(id: string): Lease | undefined {
    const entry = this.#leases.get(id);
    return entry && { id, layer: this.layer, ttlMs: entry.ttlMs, resources: [...entry.resources.values()] };
  }

  get ids(): Iterable<string> {
    return this.#leases.keys();
  }

  /** Reads what a store has of them, instead of what was known. */
  load(head: Revision | undefined, stored: readonly StoredResource[]): void {
    this.head = head;
    this.#leases.clear();
    this.#byResource.clear();
    this.apply(new Map(stored.map(({ key, bytes }) => [key, decoded(bytes)])));
  }

  /**
   * What becomes of the leases if these resources are written, and those removed: a resource that is written belongs to
   * `lease`, or to none any more. A lease without resources is gone.
   */
  plan(
    written: readonly StoredKey[],
    removed: readonly StoredKey[],
    lease: { readonly id: string; readonly ttlMs: number } | undefined,
  ): LeaseChanges {
    const changed = new Map<string, { readonly ttlMs: number; readonly resources: Map<string, StoredKey> }>();
    const change = (id: string, ttlMs = this.#leases.get(id)?.ttlMs ?? 0) => {
      const known = changed.get(id) ?? { ttlMs, resources: new Map(this.#leases.get(id)?.resources) };
      changed.set(id, known);
      return known.resources;
    };
    for (const one of [...removed, ...written]) {
      const key = keyOf(one);
      const owner = this.#byResource.get(key);
      if (owner !== undefined) change(owner).delete(key);
    }
    if (lease !== undefined) {
      const resources = change(lease.id, lease.ttlMs);
      for (const { type, key } of written) resources.set(keyOf({ type, key }), { type, key });
    }
    return new Map(Array.from(changed, ([id, entry]) => [id, entry.resources.size === 0 ? undefined : entry]));
  }

  /** The changes that undo changes that have not been applied yet. */
  reverse(changes: LeaseChanges): LeaseChanges {
    return new Map(Array.from(changes.keys(), (id) => [id, this.#leases.get(id)]));
  }

  /** All resources that leases hold, but for these. */
  othersThan(kept: readonly StoredKey[]): readonly StoredKey[] {
    const stay = new Set(kept.map(keyOf));
    const leased = [...this.#leases.values()].flatMap(({ resources }) => [...resources]);
    return leased.flatMap(([key, one]) => (stay.has(key) ? [] : [one]));
  }

  /** The commit that keeps these changes. */
  commitOf(changes: LeaseChanges): LayerCommit {
    const upsert: StoredResource[] = [];
    const remove: StoredKey[] = [];
    for (const [id, entry] of changes) {
      if (entry === undefined) remove.push({ type: leaseType, key: id });
      else upsert.push(encoded(id, entry));
    }
    return { layer: leaseLayerOf(this.layer), parent: this.head?.id, kind: "patch", upsert, remove };
  }

  apply(changes: LeaseChanges): void {
    for (const [id, entry] of changes) {
      for (const key of this.#leases.get(id)?.resources.keys() ?? [])
        if (this.#byResource.get(key) === id) this.#byResource.delete(key);
      if (entry === undefined) this.#leases.delete(id);
      else this.#leases.set(id, entry);
    }
    for (const [id, entry] of changes) for (const key of entry?.resources.keys() ?? []) this.#byResource.set(key, id);
  }
}

function keyOf({ type, key }: StoredKey): string {
  return `${type} ${key}`;
}

function encoded(id: string, { ttlMs, resources }: LeaseEntry): StoredResource {
  const text = JSON.stringify({ ttlMs, resources: Array.from(resources.values(), ({ type, key }) => [type, key]) });
  return {
    type: leaseType,
    key: id,
    version: hash("sha256", text, "base64url").slice(0, 16),
    bytes: Buffer.from(text),
  };
}

function decoded(bytes: Uint8Array): LeaseEntry {
  const { ttlMs, resources } = JSON.parse(Buffer.from(bytes).toString()) as {
    readonly ttlMs: number;
    readonly resources: readonly (readonly [TypeUrl, ResourceName])[];
  };
  return { ttlMs, resources: new Map(resources.map(([type, key]) => [keyOf({ type, key }), { type, key }])) };
}
