/*
 * The usual bounds of all packages, one for each kind of thing: what a peer or a user sends must have an end, and which
 * number it is matters little. Options of a server or a client, and pages in docs/, have limits of their own.
 */

/** Items that one text names. It counts the others. */
export const maxListed = 10;
/** Findings, nodes, changes or other entries of one list: nobody reads more. Further ones are counted, or left out. */
export const maxFindings = 100;
/** Entries of a memory of recent things, of a cache, or of a queue, where others can always bring one more. */
export const maxKept = 1_000;
/** Errors of one text or file: the rest of it is not read. Many more than are told, for those that are skipped. */
export const maxErrors = 10_000;
/** Names, and what is remembered by name. */
export const maxNamesKept = 10_000;
/** Bytes of a small file or body. */
export const maxSmallBody = 1024 * 1024;
/** Bytes of a file, of a request's body, or of a page of an answer. */
export const maxBody = 64 * 1024 * 1024;
/** Bytes of an answer that does not come in pages. */
export const maxWholeAnswer = 256 * 1024 * 1024;

/** Fields, items, lists and mappings of any text: those of a route configuration with 100,000 hosts. */
export const leastValues = 2_000_000;
/** Bytes of a text that pay for one more value, which takes about ten times as many in memory. */
const bytesOfValue = 10;

/** How many fields, items, lists and mappings a text of some bytes may have. Ordinary files have a third of them. */
export function maxValues(bytes: number): number {
  return Math.max(leastValues, Math.floor(bytes / bytesOfValue));
}

/** What is said where they are too many. */
export function tooManyValues(most: number): string {
  return `more than ${most} fields, items, lists and mappings in one text: the rest is not read`;
}
