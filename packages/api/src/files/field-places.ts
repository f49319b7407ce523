import { readFileSync, statSync } from "node:fs";
import type { Where } from "../errors/errors.js";
import type { FieldStep } from "../errors/field-path.js";
import type { PositionedResource } from "../reading/file-reading.js";
import type { Reference } from "../references/reference.js";
import type { Registry } from "../registry/registry.js";
import type { ResourceTypes } from "../resource-types/resource-type.js";
import type { Resource } from "../resources/resource.js";
import { readResources } from "./resource-file.js";

/** How files are read for the places of fields. */
export interface FieldPlacesOptions {
  /** As the files were read at first: unknown messages have no places. */
  readonly registry?: Registry | undefined;
  readonly types?: ResourceTypes | undefined;
  /** Bytes of all files that may be read. Beyond them a field has the place of its resource. Default: any. */
  readonly maxBytes?: number | undefined;
}

/** What a server reads again for the lines of fields, at once: it holds up everything else meanwhile. */
export const maxBytesForPlaces = 128 * 1024;

/** Finds fields in files. `there` is the place of the resource, and is returned where the field's own is not known. */
export interface FieldPlaces {
  /** The field with which a resource names another. */
  named(resource: Resource, reference: Reference, there: Where | undefined): Where | undefined;
  /** The field that steps lead to. */
  field(resource: Resource, steps: readonly FieldStep[], there: Where | undefined): Where | undefined;
}

/**
 * Finds fields in the files of resources. Places of fields are not kept, so the file is read again; the last file is
 * remembered, since resources come in the order of their files.
 */
export function fieldPlaces({ registry, types, maxBytes = Number.POSITIVE_INFINITY }: FieldPlacesOptions): FieldPlaces {
  let left = maxBytes;
  let last: { readonly file: string; readonly resources: ReadonlyMap<string, PositionedResource> } | undefined;

  function resourcesOf(file: string): ReadonlyMap<string, PositionedResource> {
    try {
      const { size } = statSync(file);
      if (size > left) return nothingRead;
      left -= size;
      const { resources } = readResources(
        { path: file, bytes: readFileSync(file) },
        { registry, types, validate: false, places: true },
      );
      return new Map(resources.map((each) => [placeKey(each.resource), each]));
    } catch {
      // It is no file, or it is gone since it was read.
      return nothingRead;
    }
  }

  function readAgain(resource: Resource, there: Where | undefined): PositionedResource | undefined {
    if (there?.file === undefined) return undefined;
    if (last?.file !== there.file) last = { file: there.file, resources: resourcesOf(there.file) };
    return last.resources.get(placeKey(resource));
  }

  return {
    named: (resource, reference, there) => readAgain(resource, there)?.whereNamed?.(reference) ?? there,
    field: (resource, steps, there) => readAgain(resource, there)?.whereField?.(steps) ?? there,
  };
}

const nothingRead: ReadonlyMap<string, PositionedResource> = new Map();

function placeKey({ type, name }: Resource): string {
  return `${type.typeUrl} ${name}`;
}
