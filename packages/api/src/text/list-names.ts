/** The most names that one text lists, unless it has less room. */
const mostListed = 10;

/**
 * Names for people, of many the first: `a, b, c … and 7 more`. `all`: how many there are, if not all of them are given.
 */
export function listNames(names: readonly string[], most = mostListed, all = names.length): string {
  const shown = names.slice(0, most);
  const more = all - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` … and ${more} more` : ""}`;
}
