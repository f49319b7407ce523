import type { Finding } from "../errors/errors.js";
import type { ResourceName } from "../names/identifiers.js";
import type { Reference } from "../references/reference.js";
import { listNames } from "../text/list-names.js";
import type { ResourceType, ResourceTypes } from "./resource-type.js";
import { typeNameIn } from "./resource-types.js";

/** What a reference names, for people: `cluster "web"`. */
export function referenceText({ type, name }: Reference, types: Pick<ResourceTypes, "byTypeUrl">): string {
  return `${typeNameIn(types, type)} ${JSON.stringify(name)}`;
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

/** The warning about it, at the resource that names it. */
export function missingNameFinding(
  reference: Reference,
  types: Pick<ResourceTypes, "byTypeUrl">,
  groups: readonly string[],
  resource: { readonly type: Pick<ResourceType, "name">; readonly name: ResourceName } | undefined,
  everywhere = false,
): Finding {
  return {
    code: "XDSKIT_DANGLING_REFERENCE",
    severity: "warning",
    message: missingNameText(reference, types, groups, everywhere),
    type: resource?.type.name,
    resource: resource?.name,
  };
}
