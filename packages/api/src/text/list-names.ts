import { maxListed } from "../errors/limits.js";

/**
 * Lists names for people. It shows the first of many, and counts the rest: `a, b, c … and 7 more`. `all` is the number
 * of names, if `names` has only some of them.
 */
export function listNames(names: readonly string[], most = maxListed, all = names.length): string {
  const shown = names.slice(0, most);
  const more = all - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` … and ${more} more` : ""}`;
}
