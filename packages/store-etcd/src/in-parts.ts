/** As much as goes into one request: etcd takes 1.5 MiB and 128 operations. */
export const maxInRequest = { bytes: 1024 * 1024, operations: 100 } as const;

/** Cuts a list into parts that fit into requests. `sizeOf` is in bytes. */
export function* inParts<T>(
  list: readonly T[],
  sizeOf: (one: T) => number,
  most: { readonly bytes: number; readonly operations: number } = maxInRequest,
): Iterable<readonly T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const one of list) {
    const size = sizeOf(one);
    if (part.length > 0 && (bytes + size > most.bytes || part.length === most.operations)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** The most requests under way at once. */
const atOnce = 8;

/** Calls `work` for each, several at once; resolves to the results in the order of the list. */
export async function eachAtOnce<T, R>(list: Iterable<T>, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const next = [...list].entries();
  const worker = async () => {
    for (const [index, one] of next) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
