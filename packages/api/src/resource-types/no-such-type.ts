import type { ResourceTypes } from "./resource-type.js";

/** Says that there is no type of a name, and which there are. */
export function noSuchType(name: string, types: Pick<ResourceTypes, "all">): string {
  const known = Array.from(types.all, (type) => type.name).join(", ");
  return `there is no type ${JSON.stringify(name.slice(0, 200))}: known are ${known}, and their type URLs`;
}
