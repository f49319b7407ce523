import type { ResourceName, TypeUrl } from "../identifiers.js";
import type { Reference } from "../resource-types/resource-type.js";

/** Whether a reference means a collection of resources, and not one by its name. */
export function isCollection(reference: Reference): boolean {
  return collectionPrefix(reference.name) !== undefined;
}

/** Whether a reference means this resource: by its name, or as a member of a collection. */
export function refersTo(reference: Reference, type: TypeUrl, name: ResourceName): boolean {
  if (reference.type !== type) return false;
  const prefix = collectionPrefix(reference.name);
  return prefix === undefined ? reference.name === name : name.startsWith(prefix);
}

/** A glob of federation may have context parameters behind its star: `xdstp://authority/type/path/*?key=value`. */
function collectionPrefix(name: ResourceName): string | undefined {
  const path = name.startsWith("xdstp:") ? name.replace(/[?#].*$/s, "") : name;
  return path === "*" || path.endsWith("/*") ? path.slice(0, -1) : undefined;
}
