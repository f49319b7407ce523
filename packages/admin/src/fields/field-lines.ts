import { statSync } from "node:fs";
import {
  type FieldStep,
  fieldPlaces,
  maxKept,
  maxSmallBody,
  type Registry,
  type Resource,
  type ResourceTypes,
  type Where,
} from "@xdskit/api";

/**
 * Finds the lines of fields in files. A file is read when it is first asked for, and again when it changed. Undefined:
 * it is in no file, or nobody knows where.
 */
export function createFieldLines(known: { readonly registry: Registry; readonly types: ResourceTypes }) {
  const found = new Map<string, Where | undefined>();
  return (where: Where, resource: Resource, steps: readonly FieldStep[]): Where | undefined => {
    const { file } = where;
    const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    // A larger file is not read again for a line: that takes the server too long.
    if (stats === undefined || !stats.isFile() || stats.size > maxSmallBody) return undefined;
    const { typeUrl } = resource.type;
    const key = JSON.stringify([file, stats.mtimeMs, stats.size, typeUrl, resource.name, steps]);
    const place = found.has(key) ? found.get(key) : fieldPlaces(known).field(resource, steps, where);
    // An open page asks for the same again and again.
    if (found.size >= maxKept) found.clear();
    found.set(key, place);
    return place;
  };
}
