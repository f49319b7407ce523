import type { ResourceName, TypeUrl } from "../names/identifiers.js";
import { canonicalName, globOf, isGlobName } from "../names/xdstp.js";
import type { Reference } from "./reference.js";

/** Whether a reference means a collection of resources instead of one by name. */
export function isCollection({ name }: Reference): boolean {
  return isGlobName(name) || endsWithSlash(name);
}

/** Whether a reference means this resource: by name, or as a member of a collection. */
export function refersTo(reference: Reference, type: TypeUrl, name: ResourceName): boolean {
  if (reference.type !== type) return false;
  if (isGlobName(reference.name)) return globOf(name) === canonicalName(reference.name);
  if (endsWithSlash(reference.name)) return name.startsWith(reference.name.slice(0, -1));
  return canonicalName(name) === canonicalName(reference.name);
}

/** All names, or all below a plain name: `<route configuration>/*`. */
function endsWithSlash(name: ResourceName): boolean {
  return name === "*" || (name.endsWith("/*") && !isGlobName(name));
}
