import { ApiProblem } from "../contract/problem.js";

/** How much of a list an answer has. */
export interface Page {
  /** At most this many items. */
  readonly limit: number;
  /** `next` of the page before; undefined: from the beginning. */
  readonly after?: string | undefined;
}

/** The items of a page of a list that is there as a whole. Throws a problem if `after` is of no such list. */
export function pageBehindCursor<T>(
  all: readonly T[],
  { limit, after }: Page,
): { readonly items: readonly T[]; readonly next?: string } {
  const start = after === undefined ? 0 : Number(after);
  if (after?.trim() === "" || !Number.isSafeInteger(start) || start < 0)
    throw ApiProblem.of(400, "XDSKIT_API_REQUEST", "after: expected `next` of the page before");
  const end = start + limit;
  return { items: all.slice(start, end), ...(end < all.length ? { next: String(end) } : {}) };
}
