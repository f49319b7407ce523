/**
 * The name that was probably meant: the one with the fewest letters to change, add, drop or swap, if these are few;
 * otherwise the only one that continues the written name with more words (`port_value` for `port`). Undefined if there
 * is none.
 */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  const allowed = Math.max(1, Math.floor(written.length / 3));
  let best: string | undefined;
  let bestDistance = allowed + 1;
  const longer = new Set<string>();
  for (const name of known) {
    if (name.startsWith(`${written}_`)) longer.add(name);
    if (Math.abs(name.length - written.length) >= bestDistance) continue;
    const distance = editDistance(written, name, bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  if (best !== undefined || longer.size !== 1) return best;
  const [only] = longer;
  return only;
}

/** `, did you mean "…"?`, or nothing. */
export function didYouMean(written: string, known: Iterable<string>): string {
  const name = nearestName(written, known);
  return name === undefined ? "" : `; did you mean ${JSON.stringify(name)}?`;
}

/** The same, or all that there is: for a few known names. */
export function meantOrAll(written: string, known: readonly string[]): string {
  return didYouMean(written, known) || `; there is ${known.join(", ")}`;
}

/** Damerau's distance (adjacent letters may be swapped). It stops as soon as the limit is certain to be reached. */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(change, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? limit;
}
