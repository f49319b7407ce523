import { canonicalName, type Resource, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ResourceKey } from "../layers.js";
import type { Lease } from "./lease.js";

/** What the layer of a group's supplied resources is to become. */
export interface SuppliedChange {
  readonly upsert: readonly Resource[];
  readonly remove: readonly ResourceKey[];
  /** Nothing is left. */
  readonly emptied: boolean;
}

/** The resources that were supplied for a group. */
export interface SuppliedSet {
  /** What a lease has from now on. Changes of one turn are handed on as one. */
  put(lease: Lease, resource: Resource | undefined): void;
  /** One that has a resource of this name or alias. */
  covering(type: ResourceType, name: ResourceName): Lease | undefined;
  /** All that have a resource of just this name. */
  named(type: ResourceType, name: ResourceName): readonly Lease[];
  /** Names of resources. */
  readonly size: number;
}

export function createSuppliedSet(changed: (change: SuppliedChange) => void): SuppliedSet {
  /** By the resource's name; the last one of each counts. Two names that were asked for at once may bring the same resource twice. */
  const byName = new Map<string, Set<Lease>>();
  /** By name and by alias. */
  const covering = new Map<string, Set<Lease>>();
  let touched: Map<string, ResourceKey> | undefined;

  function touch(resource: Resource): void {
    if (touched === undefined) {
      touched = new Map();
      queueMicrotask(flush);
    }
    touched.set(keyOf(resource.type, resource.key), resource);
  }

  function flush(): void {
    const keys = [...(touched ?? [])];
    touched = undefined;
    const upsert: Resource[] = [];
    const remove: ResourceKey[] = [];
    for (const [key, { type, name }] of keys) {
      const resource = [...(byName.get(key) ?? [])].at(-1)?.resource;
      if (resource === undefined) remove.push({ type, name });
      else upsert.push(resource);
    }
    changed({ upsert, remove, emptied: byName.size === 0 });
  }

  return {
    put(lease, resource) {
      const before = lease.resource;
      lease.resource = resource;
      if (before !== undefined) {
        for (const name of namesOf(before)) remove(covering, keyOf(before.type, name), lease);
        remove(byName, keyOf(before.type, before.key), lease);
        touch(before);
      }
      if (resource !== undefined) {
        for (const name of namesOf(resource)) add(covering, keyOf(resource.type, name), lease);
        add(byName, keyOf(resource.type, resource.key), lease);
        touch(resource);
      }
    },
    covering: (type, name) => first(covering.get(keyOf(type, name))),
    named: (type, name) => [...(byName.get(keyOf(type, name)) ?? [])],
    get size() {
      return byName.size;
    },
  };
}

/** A key for a type and a name. */
export function keyOf(type: ResourceType, name: ResourceName): string {
  return `${type.typeUrl} ${name}`;
}

/** All that it is found by, in canonical form, as clients' names are. */
export function namesOf({ key, aliases }: Pick<Resource, "key" | "aliases">): readonly ResourceName[] {
  return [key, ...aliases.map(canonicalName)];
}

/** Adds to the sets of a map. */
export function add<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([value]));
  else known.add(value);
}

/** Takes from the sets of a map, and leaves no empty one. */
export function remove<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const known = sets.get(key);
  known?.delete(value);
  if (known?.size === 0) sets.delete(key);
}

function first<Value>(values: Iterable<Value> | undefined): Value | undefined {
  for (const value of values ?? []) return value;
  return undefined;
}
