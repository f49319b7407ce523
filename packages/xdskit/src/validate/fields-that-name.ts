import { readFileSync } from "node:fs";
import {
  type PositionedResource,
  type Reference,
  type Registry,
  type Resource,
  readResources,
  type Where,
} from "@xdskit/api";

/**
 * Finds the field by which a resource names another. Where fields stand is not kept, so a file is read again for it; the last one is
 * remembered, since resources come in the order of their files.
 */
export function fieldsThatName(
  whereIs: (resource: Resource) => Where | undefined,
  registry: Registry,
): (resource: Resource, reference: Reference) => Where | undefined {
  let last: { readonly file: string; readonly resources: ReadonlyMap<string, PositionedResource> } | undefined;
  return (resource, reference) => {
    const where = whereIs(resource);
    if (where?.file === undefined) return where;
    if (last?.file !== where.file) last = { file: where.file, resources: resourcesOf(where.file, registry) };
    return last.resources.get(keyOf(resource))?.whereNamed?.(reference) ?? where;
  };
}

function resourcesOf(file: string, registry: Registry): ReadonlyMap<string, PositionedResource> {
  try {
    const { resources } = readResources(
      { path: file, bytes: readFileSync(file) },
      { registry, validate: false, places: true },
    );
    return new Map(resources.map((each) => [keyOf(each.resource), each]));
  } catch {
    // It is gone since it was checked.
    return new Map();
  }
}

function keyOf({ type, name }: Resource): string {
  return `${type.typeUrl} ${name}`;
}
