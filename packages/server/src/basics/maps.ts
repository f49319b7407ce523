import { getOrInsert, maxKept } from "@xdskit/api";

/** Deletes the oldest entries of a map or a set of which there are too many. */
export function dropOldest<Key>(
  kept: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): unknown },
  most = maxKept,
): void {
  if (kept.size <= most) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    if (kept.size <= most) return;
  }
}

/** Several values for each key, each once. A key without values takes no room. */
export class MultiMap<Key, Value> {
  readonly #sets = new Map<Key, Set<Value>>();

  of(key: Key): ReadonlySet<Value> {
    return this.#sets.get(key) ?? none;
  }

  add(key: Key, value: Value): void {
    getOrInsert(this.#sets, key, () => new Set()).add(value);
  }

  delete(key: Key, value: Value): void {
    const values = this.#sets.get(key);
    values?.delete(value);
    if (values?.size === 0) this.#sets.delete(key);
  }
}

const none: ReadonlySet<never> = new Set<never>();
