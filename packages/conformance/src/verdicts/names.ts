/** As many names as a message has room for. */
const mostNames = 8;

/** Names in order, for messages and transcripts: `a b c`, and how many more. */
export function nameList(names: Iterable<string>): string {
  const sorted = [...names].sort();
  if (sorted.length === 0) return "none";
  const more = sorted.length - mostNames;
  return more > 0 ? `${sorted.slice(0, mostNames).join(" ")} and ${more} more` : sorted.join(" ");
}
