import type { ResourceName, TypeUrl } from "../identifiers.js";
import type { Reference } from "../resource-types/resource-type.js";

/** Whether a reference means a collection of resources, and not one by its name. */
export function isCollection(reference: Reference): boolean {
  return isGlob(partsOf(reference.name).path);
}

/** Whether a reference means this resource: by its name, or as a member of a collection. */
export function refersTo(reference: Reference, type: TypeUrl, name: ResourceName): boolean {
  if (reference.type !== type) return false;
  const { path, parameters } = partsOf(reference.name);
  if (!isGlob(path)) return reference.name === name;
  const member = partsOf(name);
  return member.path.startsWith(path.slice(0, -1)) && member.parameters === parameters;
}

function isGlob(path: string): boolean {
  return path === "*" || path.endsWith("/*");
}

/** A name of federation may have context parameters behind its path, which its members have too: `xdstp://authority/type/path/*?key=value`. */
function partsOf(name: ResourceName): { readonly path: string; readonly parameters: string } {
  const [path = "", parameters = ""] = name.startsWith("xdstp:") ? name.split("?", 2) : [name];
  return { path, parameters: parameters.split("&").sort().join("&") };
}
