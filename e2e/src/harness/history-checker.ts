/** A write that a server has acknowledged. Times are of one clock, in milliseconds. */
export interface Acknowledged {
  readonly revision: string;
  readonly number: number;
  readonly began: number;
  readonly ended: number;
}

/** A revision as a server lists it. */
export interface Listed {
  readonly id: string;
  readonly number: number;
  readonly parent: string | null;
}

/**
 * Holds what happened against what is promised: the history is one line, every acknowledged write is in it once, and a
 * write that began after another was acknowledged comes after it. Returns what is broken, for people.
 */
export function brokenPromises(acknowledged: readonly Acknowledged[], history: readonly Listed[]): readonly string[] {
  const broken: string[] = [];
  const line = history.toSorted((a, b) => a.number - b.number);
  for (const [index, { id, number, parent }] of line.entries()) {
    const before = line[index - 1];
    if (before !== undefined && (parent !== before.id || number !== before.number + 1))
      broken.push(`revision ${number} (${id}) does not follow ${before.number} (${before.id})`);
  }
  const numbers = new Map(line.map(({ id, number }) => [id, number]));
  const seen = new Set<string>();
  for (const { revision, number } of acknowledged) {
    if (numbers.get(revision) !== number) broken.push(`the acknowledged revision ${number} (${revision}) is lost`);
    if (seen.has(revision)) broken.push(`revision ${revision} was acknowledged to two writers`);
    seen.add(revision);
  }
  const byEnd = acknowledged.toSorted((a, b) => a.ended - b.ended);
  let most: Acknowledged | undefined;
  const byBegin = acknowledged.toSorted((a, b) => a.began - b.began);
  let next = 0;
  for (const write of byBegin) {
    for (let done = byEnd[next]; done !== undefined && done.ended < write.began; done = byEnd[next]) {
      if (most === undefined || done.number > most.number) most = done;
      next += 1;
    }
    if (most !== undefined && write.number < most.number)
      broken.push(`revision ${write.number} began after ${most.number} was acknowledged`);
  }
  return broken;
}
