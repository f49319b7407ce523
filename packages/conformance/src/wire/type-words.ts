import { type ResourceType, resourceTypes, typeNameIn } from "@xdskit/api";

/** The type that people name so. */
export function typeNamed(word: string): ResourceType {
  const type = resourceTypes.find(word);
  if (type === undefined) throw new Error(`the table has no type ${word}`);
  return type;
}

/** The type URL of a type that is named as people type it. */
export function typeUrlOf(word: string): string {
  return typeNamed(word).typeUrl;
}

/** The name that people type for a type. */
export function typeWord(url: string): string {
  return url === "" ? "notype" : typeNameIn(resourceTypes, url);
}
