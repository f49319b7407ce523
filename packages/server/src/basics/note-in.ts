/** Adds to a set of at most so many, of which the oldest goes. False: it was there. */
export function noteIn<T>(known: Set<T>, value: T, most: number): boolean {
  if (known.has(value)) return false;
  const [oldest] = known;
  if (known.size >= most && oldest !== undefined) known.delete(oldest);
  known.add(value);
  return true;
}
