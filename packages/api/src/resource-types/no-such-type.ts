import { didYouMean } from "../errors/nearest-name.js";
import type { ResourceTypes } from "./resource-type.js";

/** Says that there is no type of a name, which was probably meant, and which there are. */
export function noSuchType(name: string, types: Pick<ResourceTypes, "all">): string {
  const known = Array.from(types.all, (type) => type.name);
  const written = name.slice(0, 200);
  const meant = didYouMean(written, known);
  const others = `${meant === "" ? ": known" : " Known"} are ${known.join(", ")}, and their type URLs`;
  return `there is no type ${JSON.stringify(written)}${meant}${others}`;
}
