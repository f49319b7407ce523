import { perObject } from "@xdskit/api";
import { PerKey } from "../basics/memo.js";
import type { Node } from "../basics/node.js";
import { isLocator, type Parameters, writeParameters } from "../names/locator.js";
import { NameSet } from "../names/name-set.js";

/** Longer ones name no place, and would be kept with each name. */
const longestLocality = 512;

/**
 * Where a node is, as dynamic parameters: they have the names that a bootstrap gives to the context of a node. Empty if
 * it does not say.
 */
export const localityParameters = perObject(({ locality: { region, zone, subZone } }: Node): Parameters => {
  const given = Object.entries({ region, zone, sub_zone: subZone }).filter(([, value]) => value !== "");
  if (region.length + zone.length + subZone.length > longestLocality) return "";
  return writeParameters(new Map(given.map(([key, value]) => [`xds.node.locality.${key}`, value])));
});

const known = new PerKey<NameSet, NameSet>();

/** The names with these parameters, but for those that have some of their own. The same object for the same names. */
export function withParameters(names: NameSet, parameters: Parameters): NameSet {
  if (parameters === "" || names.size === 0) return names;
  const made = known.get(names, parameters);
  if (made !== undefined) return made;
  const all = [...names].map((name) => (name === "*" || isLocator(name) ? name : `${name}${parameters}`));
  return known.set(names, parameters, NameSet.of(all));
}
