/** What a reader of parts throws for a text that is to be read as a whole. */
export class NoList extends Error {}

/** Parts of a long list end behind so many characters: few enough that what is made of them dies young. */
export const partLength = 65_536;

/** Whether a text is so long that it is worth to try to read it in parts. */
export function isLong(text: string): boolean {
  return text.length >= partLength;
}
