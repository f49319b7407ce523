import { canonicalName, type Resource, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ResourceKey } from "../../../contracts/layer-change.js";
import type { SupplierLease } from "../lease.js";
import { NameSets, NameTable } from "../name-table.js";
import type { WantedName } from "../wanted.js";

/** The next change of a group's layer of supplied resources. */
export interface SuppliedChange {
  readonly upsert: readonly Resource[];
  readonly remove: readonly ResourceKey[];
  /** True if nothing is left. */
  readonly emptied: boolean;
}

/** The resources that were supplied for a group. */
export interface SuppliedSet {
  /** Sets the resource of a lease. Changes of one turn are handed on as one. */
  put(lease: SupplierLease<WantedName>, resource: Resource | undefined): void;
  /** A lease with a resource of this name or alias. */
  covering(type: ResourceType, name: ResourceName): SupplierLease<WantedName> | undefined;
  /** All leases with a resource of exactly this name. */
  named(type: ResourceType, name: ResourceName): readonly SupplierLease<WantedName>[];
}

export function createSuppliedSet(onChanged: (change: SuppliedChange) => void): SuppliedSet {
  /**
   * By the resource's name; the last one of each counts, since two names asked for at once may bring the same
   * resource.
   */
  const byName = new NameSets<SupplierLease<WantedName>>();
  /** By name and by alias. */
  const covering = new NameSets<SupplierLease<WantedName>>();
  let touched: NameTable<Resource> | undefined;

  function touch(resource: Resource): void {
    if (touched === undefined) {
      touched = new NameTable();
      queueMicrotask(flush);
    }
    touched.set(resource.type, resource.key, resource);
  }

  function flush(): void {
    const keys = [...(touched?.values() ?? [])];
    touched = undefined;
    const upsert: Resource[] = [];
    const remove: ResourceKey[] = [];
    for (const { type, key, name } of keys) {
      const resource = byName.of(type, key).at(-1)?.resource;
      if (resource === undefined) remove.push({ type, name });
      else upsert.push(resource);
    }
    onChanged({ upsert, remove, emptied: byName.size === 0 });
  }

  return {
    put(lease, resource) {
      const before = lease.resource;
      lease.resource = resource;
      if (before !== undefined) {
        for (const name of suppliedNames(before)) covering.delete(before.type, name, lease);
        byName.delete(before.type, before.key, lease);
        touch(before);
      }
      if (resource !== undefined) {
        for (const name of suppliedNames(resource)) covering.add(resource.type, name, lease);
        byName.add(resource.type, resource.key, lease);
        touch(resource);
      }
    },
    covering: (type, name) => covering.of(type, name)[0],
    named: (type, name) => byName.of(type, name),
  };
}

/** The names and aliases of a resource in canonical form, as clients' names are. */
export function suppliedNames({ key, aliases }: Pick<Resource, "key" | "aliases">): readonly ResourceName[] {
  return [key, ...aliases.map(canonicalName)];
}
