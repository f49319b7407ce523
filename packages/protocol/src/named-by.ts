import type { Reference, Resource } from "@xdskit/api";

/** Whether a resource names what a reference names, by type and name; nothing names nothing. */
export function isNamedBy(resource: Resource | undefined, reference: Reference): boolean {
  return resource?.references.some(({ type, name }) => type === reference.type && name === reference.name) ?? false;
}

/** Whether what a resource was named something that what it is now does not name. */
export function namesLess(before: Resource, after: Resource | undefined): boolean {
  return before.references.some((reference) => !isNamedBy(after, reference));
}
