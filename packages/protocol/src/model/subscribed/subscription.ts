import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import type { Parameters } from "../names/locator.js";
import { NameSet } from "../names/name-set.js";
import type { Difference } from "../sets/change.js";

/** The subscription of a client to one type on one stream: the wildcard, names, or both (rules 38–58). */
export interface Subscription {
  readonly wildcard: boolean;
  readonly names: NameSet;
  /** The parameters of the wildcard. */
  readonly parameters?: Parameters | undefined;
}

/** The name that stands for everything that the server thinks a client should have (rules 39, 52). */
export const wildcardName = "*";

/** A client that is interested in nothing of a type. */
export const noSubscription: Subscription = { wildcard: false, names: NameSet.empty };

/**
 * Tells whether a client asks for a resource: by its name, an alias (rule 135), a collection that it is in, or the
 * wildcard. Only for sets without variants and clients without parameters; `wants` knows those.
 */
export function covers({ wildcard, names }: Subscription, resource: Resource): boolean {
  if (wildcard || names.has(resource.key)) return true;
  if (resource.aliases.some((alias) => names.has(canonicalName(alias)))) return true;
  return names.hasCollectionOf(resource.key) || inCapitals(names, resource).length > 0;
}

/** The names for a virtual host that have its host in other letters than its name and aliases. */
export function inCapitals(names: NameSet, { type, key, aliases }: Resource): readonly ResourceName[] {
  if (!names.hasCapitals || type.namedBelow === undefined) return none;
  const own = new Set([key, ...aliases]);
  return [...own].flatMap((name) => [...names.inCapitals(name)]).filter((name) => !own.has(name));
}

const none: readonly ResourceName[] = [];

/** Tells whether a difference concerns a client: the client asks for the resource before or the one after. */
export function concerns(subscription: Subscription, { before, after }: Difference): boolean {
  return (after !== undefined && covers(subscription, after)) || (before !== undefined && covers(subscription, before));
}

export function sameSubscription(a: Subscription, b: Subscription): boolean {
  return a.wildcard === b.wildcard && a.names === b.names && (a.parameters ?? "") === (b.parameters ?? "");
}
