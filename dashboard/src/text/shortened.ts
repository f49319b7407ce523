/** The beginning of a text that is longer than this many letters, up to the end of a paragraph, sentence or word. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  const ends = [start.lastIndexOf("\n\n"), start.lastIndexOf(". ") + 1, start.lastIndexOf(" ")];
  const end = ends.find((place) => place > most / 2) ?? most;
  return `${start.slice(0, end).trimEnd()} …`;
}
