import { readFileSync } from "node:fs";
import {
  type FieldStep,
  type PositionedResource,
  type Reference,
  type Registry,
  type Resource,
  type ResourceTypes,
  readResources,
  type Where,
} from "@xdskit/api";

/** What the files were read with: what is not known has no places. */
interface KnownTypes {
  readonly registry: Registry;
  readonly types: ResourceTypes;
}

/** Where fields of resources stand. */
export interface FieldPlaces {
  /** The field by which a resource names another. */
  named(resource: Resource, reference: Reference): Where | undefined;
  /** The field that steps lead to. */
  field(resource: Resource, steps: readonly FieldStep[]): Where | undefined;
}

/**
 * Finds fields in the files that resources came from. Where fields stand is not kept, so a file is read again for it; the last one is
 * remembered, since resources come in the order of their files.
 */
export function fieldPlaces(whereIs: (resource: Resource) => Where | undefined, known: KnownTypes): FieldPlaces {
  let last: { readonly file: string; readonly resources: ReadonlyMap<string, PositionedResource> } | undefined;
  function placeIn(resource: Resource, find: (read: PositionedResource) => Where | undefined): Where | undefined {
    const where = whereIs(resource);
    if (where?.file === undefined) return where;
    if (last?.file !== where.file) last = { file: where.file, resources: resourcesOf(where.file, known) };
    const read = last.resources.get(keyOf(resource));
    return (read && find(read)) ?? where;
  }
  return {
    named: (resource, reference) => placeIn(resource, (read) => read.whereNamed?.(reference)),
    field: (resource, steps) => placeIn(resource, (read) => read.whereField?.(steps)),
  };
}

function resourcesOf(file: string, known: KnownTypes): ReadonlyMap<string, PositionedResource> {
  try {
    const { resources } = readResources(
      { path: file, bytes: readFileSync(file) },
      { ...known, validate: false, places: true },
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
