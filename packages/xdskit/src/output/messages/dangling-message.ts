import type { Reference, ResourceTypes } from "@xdskit/api";

/**
 * The warning about a name that the groups in `lacking`, out of this many, do not have: `names cluster "x", which does
 * not exist`.
 */
export function danglingMessage(
  { type, name }: Reference,
  types: ResourceTypes,
  lacking: readonly string[],
  groups: number,
): string {
  const what = `${types.byTypeUrl(type)?.type.name ?? type} ${JSON.stringify(name)}`;
  return `names ${what}, ${lacking.length === groups ? "which does not exist" : `which group ${lacking.join(", ")} lacks`}`;
}
