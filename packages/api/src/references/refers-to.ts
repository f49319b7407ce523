import type { ResourceName, TypeUrl } from "../identifiers.js";
import type { Reference } from "../resource-types/resource-type.js";
import { canonicalName, globOf, isGlobName } from "../xdstp.js";

/** Whether a reference means a collection of resources, and not one by its name. */
export function isCollection({ name }: Reference): boolean {
  return isGlobName(name) || isBelow(name);
}

/** Whether a reference means this resource: by its name, or as a member of a collection. */
export function refersTo(reference: Reference, type: TypeUrl, name: ResourceName): boolean {
  if (reference.type !== type) return false;
  if (isGlobName(reference.name)) return globOf(name) === canonicalName(reference.name);
  if (isBelow(reference.name)) return name.startsWith(reference.name.slice(0, -1));
  return canonicalName(name) === canonicalName(reference.name);
}

/** All, or all below a name of the old style: `<route configuration>/*`. */
function isBelow(name: ResourceName): boolean {
  return name === "*" || (name.endsWith("/*") && !isGlobName(name));
}
