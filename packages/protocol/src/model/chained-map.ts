/**
 * An immutable map whose newest version reads like a plain `Map` and is derived in the time of the change.
 *
 * This is Baker's trick. The newest map of a lineage holds the `Map`. Deriving a newer one changes that `Map` in place
 * and hands it on; the older one keeps what it had differently, and a pointer to its successor. An older map is read
 * through that chain, and is collected when nothing points at it. Deriving from a map that is not the newest copies it.
 * A branch has no successor: it points at the map that it was made from, and is read as an older map is, while the
 * lineage goes on without it.
 */
export class ChainedMap<Value> {
  #state: Newest<Value> | Older<Value>;

  private constructor(entries: Map<string, Value>) {
    this.#state = { kind: "newest", entries };
  }

  /** A map in a lineage of its own. It takes over `entries`. */
  static of<Value>(entries: Map<string, Value> = new Map()): ChainedMap<Value> {
    return new ChainedMap(entries);
  }

  get size(): number {
    let size = 0;
    for (let state = this.#state; ; state = state.next.#state) {
      if (state.kind === "newest") return state.entries.size + size;
      size -= state.growth;
    }
  }

  get(key: string): Value | undefined {
    for (let state = this.#state; ; state = state.next.#state) {
      if (state.kind === "newest") return state.entries.get(key);
      const before = state.before.get(key);
      if (before !== undefined || state.before.has(key)) return before;
    }
  }

  /** The next map; `undefined` as a value takes a key away. */
  derive(changes: ReadonlyMap<string, Value | undefined>): ChainedMap<Value> {
    const state = this.#state;
    const entries = state.kind === "newest" ? state.entries : new Map(this.entries());
    const sizeBefore = entries.size;
    const before = new Map<string, Value | undefined>();
    for (const [key, value] of changes) {
      before.set(key, entries.get(key));
      if (value === undefined) entries.delete(key);
      else entries.set(key, value);
    }
    const next = new ChainedMap(entries);
    if (state.kind === "newest") this.#state = { kind: "older", before, next, growth: entries.size - sizeBefore };
    return next;
  }

  /** A map beside the line, as `derive` would make it: this one stays the newest if it is. Costs the change. */
  branch(changes: ReadonlyMap<string, Value | undefined>): ChainedMap<Value> {
    let growth = 0;
    for (const [key, value] of changes) {
      growth += (this.get(key) === undefined ? 0 : 1) - (value === undefined ? 0 : 1);
    }
    const branch = new ChainedMap<Value>(new Map());
    branch.#state = { kind: "older", before: new Map(changes), next: this, growth };
    return branch;
  }

  *entries(): IterableIterator<[string, Value]> {
    if (this.#state.kind === "newest") {
      yield* this.#state.entries;
      return;
    }
    const { differing, end } = this.#compose(undefined);
    for (const entry of end) if (!differing.has(entry[0])) yield entry;
    for (const [key, value] of differing) if (value !== undefined) yield [key, value];
  }

  /**
   * What this map has under each key that another map of its lineage may have differently; undefined if the other is of
   * another lineage. Costs what changed between the two. If this one does not lead to the other (the other is older, or
   * a shortened chain passes it), it costs what changed since both.
   */
  differencesTo(other: ChainedMap<Value>): ReadonlyMap<string, Value | undefined> | undefined {
    const { differing, end, found } = this.#compose(other);
    if (found) return differing;
    const others = other.#compose(undefined);
    if (others.end !== end) return undefined;
    for (const key of others.differing.keys()) if (!differing.has(key)) differing.set(key, end.get(key));
    return differing;
  }

  /**
   * Makes the chain from here to the newest map a single step, so that a stream which stays here for long keeps one set
   * of differences and not every map in between.
   */
  shorten(): void {
    const state = this.#state;
    if (state.kind === "newest") return;
    let next = state.next;
    while (next.#state.kind === "older") {
      const skipped = next.#state;
      for (const [key, value] of skipped.before) if (!state.before.has(key)) state.before.set(key, value);
      state.growth += skipped.growth;
      next = skipped.next;
    }
    state.next = next;
  }

  #compose(until: ChainedMap<Value> | undefined): {
    differing: Map<string, Value | undefined>;
    end: ReadonlyMap<string, Value>;
    found: boolean;
  } {
    const differing = new Map<string, Value | undefined>();
    let map: ChainedMap<Value> = this;
    while (map !== until && map.#state.kind === "older") {
      for (const [key, value] of map.#state.before) if (!differing.has(key)) differing.set(key, value);
      map = map.#state.next;
    }
    const end = map.#state.kind === "newest" ? map.#state.entries : new Map<string, Value>();
    return { differing, end, found: map === until };
  }
}

interface Newest<Value> {
  readonly kind: "newest";
  readonly entries: Map<string, Value>;
}

interface Older<Value> {
  readonly kind: "older";
  /** What this map had where its successor has something else. */
  readonly before: Map<string, Value | undefined>;
  next: ChainedMap<Value>;
  /** By how many entries the successor is larger. */
  growth: number;
}
