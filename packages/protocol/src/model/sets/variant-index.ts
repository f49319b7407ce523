import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { ChainedMap } from "../basics/chained-map.js";

/**
 * By name, the resources of each name that comes in variants, the one without constraints included, in the order in
 * which they are tried.
 */
export type VariantIndex = ChainedMap<readonly Resource[]>;

/** The canonical name of a resource, whichever variant it is. */
export function calledName({ key, name, variant }: Resource): ResourceName {
  return variant === undefined ? key : canonicalName(name);
}

/**
 * The index after a change, by key; costs the change. `before` gives the resource that was under a key. Undefined as
 * soon as there are no variants.
 */
export function deriveVariants(
  index: VariantIndex | undefined,
  before: (key: ResourceName) => Resource | undefined,
  changes: ReadonlyMap<ResourceName, Resource | undefined>,
  how: "derive" | "branch" = "derive",
): VariantIndex | undefined {
  const lists = new Map<ResourceName, Map<ResourceName, Resource>>();
  const listOf = (name: ResourceName): Map<ResourceName, Resource> => {
    let list = lists.get(name);
    if (list === undefined) {
      const plain = before(name);
      const known = index?.get(name) ?? (plain === undefined ? [] : [plain]);
      list = new Map(known.map((resource) => [resource.key, resource]));
      lists.set(name, list);
    }
    return list;
  };
  for (const [key, after] of changes) {
    const resource = after ?? before(key);
    if (resource?.variant !== undefined) listOf(calledName(resource));
  }
  if (index === undefined && lists.size === 0) return undefined;
  for (const [key, after] of changes) {
    const resource = after ?? before(key);
    const name = resource === undefined ? key : calledName(resource);
    if (!lists.has(name) && index?.get(name) === undefined) continue;
    if (after === undefined) listOf(name).delete(key);
    else listOf(name).set(key, after);
  }
  const entries = new Map<ResourceName, readonly Resource[] | undefined>();
  for (const [name, list] of lists) {
    const resources = [...list.values()];
    const isVaried = resources.some(({ variant }) => variant !== undefined);
    entries.set(name, isVaried ? resources.sort(byOrder) : undefined);
  }
  const derived = (index ?? ChainedMap.of<readonly Resource[]>())[how](entries);
  return derived.size === 0 ? undefined : derived;
}

/** One with constraints is tried before one without. */
function byOrder(a: Resource, b: Resource): number {
  if (a.variant === undefined || b.variant === undefined) return a.variant === undefined ? 1 : -1;
  return a.variant.text < b.variant.text ? -1 : 1;
}
