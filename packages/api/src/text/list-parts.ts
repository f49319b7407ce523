/** Thrown by a reader of parts if the text must be read as a whole. */
export class NoList extends Error {}

/** Parts of a long list end after this many characters: their values are few enough to die young. */
export const partLength = 65_536;

/** Whether a text is long enough to be read in parts. */
export function isLong(text: string): boolean {
  return text.length >= partLength;
}
