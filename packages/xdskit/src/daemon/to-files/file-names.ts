import { createHash } from "node:crypto";
import type { ResourceName, ResourceType } from "@xdskit/api";
import type { FileFormat } from "./file-formats.js";

/** The longest name in a file name: file systems take 255 bytes, and a draft needs some more. */
const longest = 150;

/** The file with all resources of a type. */
export function typeFile(type: ResourceType, format: FileFormat): string {
  return `${type.name}.${format}`;
}

/** The file with one resource of a type, by its key. Different keys have different files. */
export function resourceFile(type: ResourceType, key: ResourceName, format: FileFormat): string {
  return `${type.name}/${encodedName(key)}.${format}`;
}

/** Letters, digits, `-`, `_` and `.` stay as they are, except a leading dot; everything else becomes `%XX`. */
function encodedName(name: string): string {
  const text = encodeURIComponent(Buffer.from(name).toString())
    .replace(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\./, "%2E");
  if (text.length <= longest) return text;
  const hash = createHash("sha256").update(name).digest("base64url").slice(0, 22);
  return `${text.slice(0, longest - 23)}~${hash}`;
}

/**
 * Whether an Envoy that reads files needs a file for each resource of a type: for every type whose responses need not
 * be complete.
 */
export function hasOwnFiles(type: ResourceType): boolean {
  return !type.fullState && type.services.v3?.stream !== undefined;
}

/**
 * The types in the order in which their files are written: a named resource before the one that names it, listeners
 * last.
 */
export function inOrderOfFiles(types: Iterable<ResourceType>): readonly ResourceType[] {
  const all = [...types].sort((a, b) => Number(a.drains) - Number(b.drains) || a.deliveryOrder - b.deliveryOrder);
  const ordered = new Set<ResourceType>();
  const visited = new Set<ResourceType>();
  const visit = (type: ResourceType): void => {
    if (visited.has(type)) return;
    visited.add(type);
    for (const other of all) {
      const isNamed = other.askedAgainAfter.includes(type.typeUrl) || type.warmedBy.includes(other.typeUrl);
      if (isNamed) visit(other);
    }
    ordered.add(type);
  };
  for (const type of all) visit(type);
  return [...ordered];
}
