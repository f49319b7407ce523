import type { ResourceName } from "@xdskit/api";

/**
 * How many names of a request, at most, may be dear: xdstp names with parameters or encoded characters, which are
 * parsed and written in one spelling, and globs, which are looked for by what they contain. A request is read in one
 * turn, and 100,000 of these would take everybody's time for a second or two. Few clients name more than a hundred.
 */
export function maxDearNames(namesPerRequest: number): number {
  return Math.max(1_000, Math.floor(namesPerRequest / 10));
}

/** The same names for people, after a number. */
export const dearNames = "xdstp names with parameters, encoded characters or globs";

const scheme = new TextEncoder().encode("xdstp:");
const [question, percent, star] = [0x3f, 0x25, 0x2a];

/** Whether the bytes of a name are dear. Most names differ in the first byte. */
export function isDearText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = 0; index < scheme.length; index++) if (bytes[start + index] !== scheme[index]) return false;
  if (bytes[end - 1] === star) return true;
  for (let index = start + scheme.length; index < end; index++) {
    const byte = bytes[index];
    if (byte === question || byte === percent) return true;
  }
  return false;
}

/** Whether a name is dear. */
export function isDearName(name: ResourceName): boolean {
  return name.startsWith("xdstp:") && (name.endsWith("*") || /[?%]/.test(name));
}
