import type { Reference, Resource } from "@xdskit/api";

/** Whether a resource has this reference; where there is no resource it has not. */
export function isNamedBy(resource: Resource | undefined, reference: Reference): boolean {
  return resource?.references.some(({ type, name }) => type === reference.type && name === reference.name) ?? false;
}

/** Whether a resource named something before that it does not name now, perhaps since it is gone. */
export function namesLess(before: Resource, after: Resource | undefined): boolean {
  return before.references.some((reference) => !isNamedBy(after, reference));
}
