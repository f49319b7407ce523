import { hash } from "node:crypto";
import type { ResourceName, Version } from "./identifiers.js";

/** 96 bits of the hash, as 16 characters of base64url: short in logs, and far from any accidental equality. */
const versionLength = 16;

/**
 * The version of a resource: a hash of its content, so that every server and every restart computes the same one (rule 82).
 * Aliases count as a set; without aliases, TTL and constraints it is the hash of the body alone.
 */
export function versionOf(
  body: Uint8Array,
  aliases: readonly ResourceName[],
  ttl: number | undefined,
  variant?: string,
): Version {
  const ofBody = digest(body);
  if (aliases.length === 0 && ttl === undefined && variant === undefined) return ofBody;
  return digest(
    JSON.stringify([ofBody, [...aliases].sort(), ttl ?? null, ...(variant === undefined ? [] : [variant])]),
  );
}

function digest(data: Uint8Array | string): string {
  const { length } = versionCodes;
  const text = hash("sha256", data, "base64url");
  for (let index = 0; index < length; index += 1) versionCodes[index] = text.charCodeAt(index);
  // A part of a string keeps the whole: of a hundred thousand versions that would be six megabytes.
  return String.fromCharCode.apply(undefined, versionCodes);
}

const versionCodes: number[] = Array.from({ length: versionLength }, () => 0);
