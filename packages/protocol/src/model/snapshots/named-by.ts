import type { Reference, Resource } from "@xdskit/api";

/** Tells whether a resource has this reference; false without a resource. */
export function isNamedBy(resource: Resource | undefined, reference: Reference): boolean {
  return resource?.references.some(({ type, name }) => type === reference.type && name === reference.name) ?? false;
}

/** Tells whether a resource named something before that it does not name now; it may be gone. */
export function namesLess(before: Resource, after: Resource | undefined): boolean {
  return before.references.some((reference) => !isNamedBy(after, reference));
}
