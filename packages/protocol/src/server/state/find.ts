import { type Resource, type ResourceName, withSmallHost } from "@xdskit/api";
import { isLocator } from "../../model/names/locator.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { membersOf } from "../../model/subscribed/collection.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import { everyVariant, findVariants } from "../../model/subscribed/variants.js";

/**
 * The resources that a name stands for: the resource of that name and all those with that alias (rule 135), else the
 * members of that collection. If only the first one with the alias counted, its removal would require that another one
 * is sent. The host of a virtual host is the same in any case.
 */
export function find(set: ResourceSet, name: ResourceName): readonly Resource[] {
  if (ResourceSets.hasVariants(set) || isLocator(name)) return findVariants(set, name);
  const resource = set.get(name);
  const bearers = ResourceSets.bearers(set, name);
  if (bearers.length > 0) return resource === undefined ? bearers : [...new Set([resource, ...bearers])];
  if (resource !== undefined) return [resource];
  const small = set.type.namedBelow === undefined ? name : withSmallHost(name);
  return small === name ? membersOf(set, name) : find(set, small);
}

/** All subscribed resources, each once (rules 78, 136). */
export function subscribed({ wildcard, names, parameters = "" }: Subscription, set: ResourceSet): readonly Resource[] {
  const isVaried = ResourceSets.hasVariants(set);
  if (wildcard && !isVaried) return [...set];
  const found = new Set<Resource>(wildcard ? everyVariant(set, parameters) : []);
  for (const name of names) for (const resource of find(set, name)) found.add(resource);
  return [...found];
}
