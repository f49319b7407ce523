import { hash } from "node:crypto";
import type { ResourceName, Version } from "../names/identifiers.js";

/** 96 bits of the hash, as 16 characters of base64url: short in logs, and collisions are practically impossible. */
const versionLength = 16;

/**
 * A resource's version: a hash of its content, so that every server and every restart computes the same one (rule 82).
 * Aliases are a set. Without aliases, TTL and constraints it hashes only the body.
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
  // A substring keeps the whole string alive: six megabytes for a hundred thousand versions.
  return String.fromCharCode.apply(undefined, versionCodes);
}

const versionCodes: number[] = Array.from({ length: versionLength }, () => 0);
