import { canonicalName, type Resource } from "@xdskit/api";
import type { Difference } from "./change.js";
import type { Parameters } from "./locator.js";
import { NameSet } from "./name-set.js";

/** What a client asked for on one (stream, type): the wildcard, explicit names, or both. Rules 38–58. */
export interface Subscription {
  readonly wildcard: boolean;
  readonly names: NameSet;
  /** What the wildcard was asked for with. */
  readonly parameters?: Parameters | undefined;
}

/** The name that stands for everything that the server thinks a client should have (rules 39, 52). */
export const wildcardName = "*";

/** A client that is interested in nothing of a type. */
export const noSubscription: Subscription = { wildcard: false, names: NameSet.empty };

/**
 * Whether a client asks for a resource: by its name, by one of its aliases (rule 135), by a collection that it is in, or by the wildcard. Only for sets without variants and clients
 * that give no parameters; `wants` knows those.
 */
export function covers({ wildcard, names }: Subscription, resource: Resource): boolean {
  if (wildcard || names.has(resource.key)) return true;
  if (resource.aliases.some((alias) => names.has(canonicalName(alias)))) return true;
  return names.hasCollectionOf(resource.key);
}

/** Whether a difference concerns a client: it asks for what was there or for what is there now. */
export function concerns(subscription: Subscription, { before, after }: Difference): boolean {
  return (after !== undefined && covers(subscription, after)) || (before !== undefined && covers(subscription, before));
}

export function sameSubscription(a: Subscription, b: Subscription): boolean {
  return a.wildcard === b.wildcard && a.names === b.names && (a.parameters ?? "") === (b.parameters ?? "");
}
