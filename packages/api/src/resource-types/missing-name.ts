import type { Reference } from "../references/reference.js";
import { listNames } from "../text/list-names.js";
import type { ResourceTypes } from "./resource-type.js";

/** What a reference names, for people: `cluster "web"`. */
export function referenceText({ type, name }: Reference, types: Pick<ResourceTypes, "byTypeUrl">): string {
  return `${types.byTypeUrl(type)?.type.name ?? type} ${JSON.stringify(name)}`;
}

/**
 * Says what is wrong with a reference to something that these groups do not have: `names cluster "web", which group
 * edge lacks`. `everywhere`: there are no other groups.
 */
export function missingNameText(
  reference: Reference,
  types: Pick<ResourceTypes, "byTypeUrl">,
  groups: readonly string[],
  everywhere = false,
): string {
  const lacking = groups.length === 1 ? `group ${groups.join()} lacks` : `groups ${listNames(groups)} lack`;
  return `names ${referenceText(reference, types)}, which ${everywhere ? "does not exist" : lacking}`;
}
