import { hash, randomBytes } from "node:crypto";
import type { ResourceName, TypeUrl, Version } from "@xdskit/api";
import type { RevisionId } from "../../contracts/stores/store.js";

/** In `meta`: what begins so is there while contents are written ahead of their revision, for each such commit. */
export const aheadPrefix = "ahead";

/** Marks one commit whose contents are written ahead of it; several may be under way, in several processes. */
export function newAheadMark(): string {
  return `${aheadPrefix}:${randomBytes(12).toString("base64url")}`;
}

/** 132 bits: collisions are practically impossible. */
export function hashOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

/** The same for what people write: on a command line, a word that begins with - is an option. */
export function revisionId(text: string): RevisionId {
  return hashOf(text).replace(/^-/, "0");
}

/** Names a resource within a layer. */
export function resourceHash(type: TypeUrl, key: ResourceName): string {
  return hashOf(JSON.stringify([type, key]));
}

/** Names a content of a resource. */
export function contentKey(type: TypeUrl, key: ResourceName, version: Version): string {
  return hashOf(JSON.stringify([type, key, version]));
}

/** Orders numbers as text. */
export function numberKey(number: number): string {
  return number.toString().padStart(16, "0");
}
