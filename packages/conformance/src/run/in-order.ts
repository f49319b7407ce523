/** Plays so many at a time, and tells the results in the order of the checks. */
export async function inOrder<C, R>(
  checks: readonly C[],
  parallel: number,
  play: (check: C) => Promise<R>,
  tell: (result: R) => void,
): Promise<readonly R[]> {
  const results: R[] = [];
  const left = [...checks.keys()];
  let reported = 0;
  const work = async (): Promise<void> => {
    for (let index = left.shift(); index !== undefined; index = left.shift()) {
      results[index] = await play(checks[index]!);
      while (results[reported] !== undefined) tell(results[reported++]!);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, parallel) }, work));
  return results;
}
