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

/** The options with which the files were read: unknown messages have no places. */
interface KnownTypes {
  readonly registry: Registry;
  readonly types: ResourceTypes;
}

/**
 * Finds fields in the files of resources. Places of fields are not kept, so the file is read again; the last file is
 * remembered, since resources come in the order of their files.
 */
export function fieldPlaces(whereIs: (resource: Resource) => Where | undefined, known: KnownTypes) {
  let last: { readonly file: string; readonly resources: ReadonlyMap<string, PositionedResource> } | undefined;
  function placeIn(resource: Resource, find: (read: PositionedResource) => Where | undefined): Where | undefined {
    const where = whereIs(resource);
    if (where?.file === undefined) return where;
    if (last?.file !== where.file) last = { file: where.file, resources: resourcesOf(where.file, known) };
    const read = last.resources.get(placeKey(resource));
    return (read && find(read)) ?? where;
  }
  return {
    /** The field with which a resource names another. */
    named: (resource: Resource, reference: Reference): Where | undefined =>
      placeIn(resource, (read) => read.whereNamed?.(reference)),
    /** The field that steps lead to. */
    field: (resource: Resource, steps: readonly FieldStep[]): Where | undefined =>
      placeIn(resource, (read) => read.whereField?.(steps)),
  };
}

function resourcesOf(file: string, known: KnownTypes): ReadonlyMap<string, PositionedResource> {
  try {
    const { resources } = readResources(
      { path: file, bytes: readFileSync(file) },
      { ...known, validate: false, places: true },
    );
    return new Map(resources.map((each) => [placeKey(each.resource), each]));
  } catch {
    // The file is gone since it was checked.
    return new Map();
  }
}

function placeKey({ type, name }: Resource): string {
  return `${type.typeUrl} ${name}`;
}
