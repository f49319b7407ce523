import { canonicalName, globOf, holdsFor, type Resource, type ResourceName, type Version } from "@xdskit/api";
import { nameOf, type Parameters, parametersOf, readParameters } from "../names/locator.js";
import type { NameSet } from "../names/name-set.js";
import type { Change } from "../sets/change.js";
import { type ResourceSet, ResourceSets } from "../sets/resource-set.js";
import { calledName } from "../sets/variant-index.js";
import { membersOf } from "./collection.js";
import { covers, type Subscription } from "./subscription.js";

/*
 * Resources that come in variants of one name (xRFC TP2). A client gets the variant whose constraints hold for the
 * parameters that it gave with the name, or for no parameters if it gave none. TP2 leaves open which one wins if
 * several hold: here one with constraints comes before one without, and of several the first in the order of their
 * texts, so that every server decides alike.
 */

/** Requests without parameters read sets without variants at no extra cost. */
export function knowsVariants(set: ResourceSet, { names, parameters }: Subscription): boolean {
  return ResourceSets.hasVariants(set) || names.hasLocators || (parameters ?? "") !== "";
}

/**
 * The resources that a name with parameters stands for: the variant of its name and of the resources with that alias,
 * or else the variants of the collection's members.
 */
export function findVariants(set: ResourceSet, locator: ResourceName): readonly Resource[] {
  const name = nameOf(locator);
  const parameters = parametersOf(locator);
  const called = new Set([name, ...ResourceSets.bearers(set, name).map(calledName)]);
  const found = [...called].flatMap((one) => chosen(set, one, parameters) ?? []);
  if (found.length > 0) return found;
  const members = new Set(membersOf(set, name).map(calledName));
  return [...members].flatMap((member) => chosen(set, member, parameters) ?? []);
}

/** Each name once, in the variant for these parameters: the meaning of a wildcard. */
export function everyVariant(set: ResourceSet, parameters: Parameters): readonly Resource[] {
  const found: Resource[] = [];
  for (const resource of set) {
    const variants = ResourceSets.variants(set, calledName(resource));
    if (variants === undefined) found.push(resource);
    // Each name is read at its first variant.
    else if (variants[0] === resource) found.push(...(choose(variants, parameters) ?? []));
  }
  return found;
}

/** The variants of a name that a client wants: one for each way in which it asks for the name. */
export function wanted(set: ResourceSet, name: ResourceName, subscription: Subscription): ReadonlySet<Resource> {
  const { wildcard, names, parameters = "" } = subscription;
  const single = set.get(name);
  const variants = ResourceSets.variants(set, name) ?? (single === undefined ? [] : [single]);
  const found = new Set<Resource>();
  if (variants.length === 0) return found;
  const take = (given: Parameters) => {
    for (const resource of choose(variants, given) ?? []) found.add(resource);
  };
  if (wildcard) take(parameters);
  const asked = [name, ...variants.flatMap(({ aliases }) => aliases.map(canonicalName))];
  const glob = names.hasCollections ? globOf(name) : undefined;
  if (glob !== undefined) asked.push(glob);
  for (const one of asked) for (const locator of names.spelled(one)) take(parametersOf(locator));
  return found;
}

/** Tells whether a client wants this very resource of a set. */
export function wants(set: ResourceSet, subscription: Subscription, resource: Resource): boolean {
  if (!knowsVariants(set, subscription)) return covers(subscription, resource);
  return wanted(set, calledName(resource), subscription).has(resource);
}

/** The names by which a client asks for this very resource, so that they find it; none if it does not want it. */
export function askedAs(set: ResourceSet, subscription: Subscription, resource: Resource): readonly ResourceName[] {
  if (!knowsVariants(set, subscription)) return covers(subscription, resource) ? [resource.key] : [];
  const { wildcard, names, parameters = "" } = subscription;
  const name = calledName(resource);
  const glob = globOf(name);
  const given = [name, ...resource.aliases.map(canonicalName), ...(glob === undefined ? [] : [glob])].flatMap((one) =>
    Array.from(names.spelled(one), parametersOf),
  );
  const locators = new Set([...given, ...(wildcard ? [parameters] : [])].map((one) => `${name}${one}`));
  return [...locators].filter((locator) => findVariants(set, locator)[0] === resource);
}

/** The names that a reconnecting client must be answered, from its claims and its subscription (rules 105–107). */
export function pendingByClaims(
  set: ResourceSet,
  subscription: Subscription,
  versions: ReadonlyMap<ResourceName, Version>,
  warming: NameSet,
): readonly ResourceName[] {
  const { wildcard, names, parameters = "" } = subscription;
  const isCurrent = (resource: Resource) => {
    const name = calledName(resource);
    return versions.get(name) === resource.version && !warming.has(name);
  };
  const pending: ResourceName[] = [];
  for (const name of names) {
    const found = findVariants(set, name);
    if (found.length === 0 || !found.every(isCurrent)) pending.push(name);
  }
  for (const name of versions.keys()) {
    const inCollection = names.hasCollectionOf(name);
    if ((wildcard || inCollection) && chosen(set, name, parameters) === undefined) pending.push(`${name}${parameters}`);
  }
  if (!wildcard) return pending;
  for (const resource of everyVariant(set, parameters)) {
    if (!isCurrent(resource)) pending.push(`${calledName(resource)}${parameters}`);
  }
  return pending;
}

/**
 * The extra names that a wildcard with new parameters must be answered: those whose variant at the client is no longer
 * its own.
 */
export function lostVariants(sentSet: ResourceSet, before: Subscription, after: Subscription): readonly ResourceName[] {
  const { parameters = "" } = after;
  if ((before.parameters ?? "") === parameters || !ResourceSets.hasVariants(sentSet)) return [];
  const varied = everyVariant(sentSet, before.parameters ?? "").filter(({ variant }) => variant !== undefined);
  return varied.map((resource) => `${calledName(resource)}${parameters}`);
}

/**
 * A change as a client sees it: resources that are new to it, and resources that it had and must lose. One may be
 * another variant of the other.
 */
export function variantChange(
  sentSet: ResourceSet,
  current: ResourceSet,
  change: Change,
  subscription: Subscription,
): { readonly fresh: readonly Resource[]; readonly gone: readonly Resource[] } {
  const names = new Set<ResourceName>();
  for (const { before, after } of change.differences.values()) {
    if (before !== undefined) names.add(calledName(before));
    if (after !== undefined) names.add(calledName(after));
  }
  const fresh: Resource[] = [];
  const gone: Resource[] = [];
  for (const name of names) {
    const before = versionsOf(wanted(sentSet, name, subscription));
    const after = versionsOf(wanted(current, name, subscription));
    for (const [key, resource] of after) if (before.get(key)?.version !== resource.version) fresh.push(resource);
    for (const [key, resource] of before) if (!after.has(key)) gone.push(resource);
  }
  return { fresh, gone };
}

function versionsOf(resources: ReadonlySet<Resource>): ReadonlyMap<ResourceName, Resource> {
  return new Map([...resources].map((resource) => [resource.key, resource]));
}

function chosen(set: ResourceSet, name: ResourceName, parameters: Parameters): Resource | undefined {
  const variants = ResourceSets.variants(set, name);
  return variants === undefined ? set.get(name) : choose(variants, parameters)?.[0];
}

/** One, or none. They are in the order in which they are tried. */
function choose(variants: readonly Resource[], parameters: Parameters): readonly [Resource] | undefined {
  const given = readParameters(parameters);
  const found = variants.find(({ variant }) => variant === undefined || holdsFor(variant.constraints, given));
  return found && [found];
}
