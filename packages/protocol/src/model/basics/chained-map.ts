/**
 * An immutable map whose newest version reads like a plain `Map` and is derived in the time of the change.
 *
 * This is Baker's trick. The newest map of a lineage holds the `Map`. Deriving a newer one changes that `Map` in place
 * and hands it on; the older one keeps its differences, and is read through the chain of the later ones. Deriving from
 * a map that is not the newest copies it. A branch has no successor: it is read through the map that it was made from,
 * while the lineage goes on without it.
 *
 * A map that is kept for long keeps alive its differences from the newest, and not the maps in between: the chain is
 * one of positions, and when nobody holds the map at a position, its differences pass to the position before.
 */
export class ChainedMap<Value> {
  readonly #position: MapPosition<Value>;

  private constructor(state: NewestMap<Value> | OlderMap<Value>, before?: MapPosition<Value>) {
    this.#position = { state, before: before && new WeakRef(before) };
    left.register(this, this.#position as MapPosition<unknown>);
  }

  /** A map in its own lineage. It takes over `entries`. */
  static of<Value>(entries: Map<string, Value> = new Map()): ChainedMap<Value> {
    return new ChainedMap({ kind: "newest", entries });
  }

  get size(): number {
    let size = 0;
    for (let { state } = this.#position; ; { state } = state.next) {
      if (state.kind === "newest") return state.entries.size + size;
      size -= state.growth;
    }
  }

  get(key: string): Value | undefined {
    for (let { state } = this.#position; ; { state } = state.next) {
      if (state.kind === "newest") return state.entries.get(key);
      const before = state.differs.get(key);
      if (before !== undefined || state.differs.has(key)) return before;
    }
  }

  /** The next map; `undefined` as a value takes a key away. */
  derive(changes: ReadonlyMap<string, Value | undefined>): ChainedMap<Value> {
    const { state } = this.#position;
    const isNewest = state.kind === "newest";
    const entries = isNewest ? state.entries : new Map(this.entries());
    const sizeBefore = entries.size;
    const differs = new Map<string, Value | undefined>();
    for (const [key, value] of changes) {
      differs.set(key, entries.get(key));
      if (value === undefined) entries.delete(key);
      else entries.set(key, value);
    }
    const next = new ChainedMap({ kind: "newest", entries }, isNewest ? this.#position : undefined);
    if (isNewest)
      this.#position.state = { kind: "older", differs, next: next.#position, growth: entries.size - sizeBefore };
    return next;
  }

  /** A map beside the line, as `derive` would make it: this one stays the newest if it is. Costs the change. */
  branch(changes: ReadonlyMap<string, Value | undefined>): ChainedMap<Value> {
    let growth = 0;
    for (const [key, value] of changes) {
      growth += (this.get(key) === undefined ? 0 : 1) - (value === undefined ? 0 : 1);
    }
    return new ChainedMap({ kind: "older", differs: new Map(changes), next: this.#position, growth, base: this });
  }

  *entries(): IterableIterator<[string, Value]> {
    const { differing, end } = this.#compose(undefined);
    for (const entry of end) if (!differing.has(entry[0])) yield entry;
    for (const [key, value] of differing) if (value !== undefined) yield [key, value];
  }

  /**
   * This map's values for each key that may differ in another map of its lineage; undefined for a map of another
   * lineage. Costs the changes between the two; if one of them is a branch, the changes since both.
   */
  differencesTo(other: ChainedMap<Value>): ReadonlyMap<string, Value | undefined> | undefined {
    const { differing, end, found } = this.#compose(other.#position);
    if (found) return differing;
    const others = other.#compose(undefined);
    if (others.end !== end) return undefined;
    for (const key of others.differing.keys()) if (!differing.has(key)) differing.set(key, end.get(key));
    return differing;
  }

  /** The differences from `until`, if the chain leads there, or else from the newest map. */
  #compose(until: MapPosition<Value> | undefined): {
    differing: Map<string, Value | undefined>;
    end: ReadonlyMap<string, Value>;
    found: boolean;
  } {
    const differing = new Map<string, Value | undefined>();
    let position = this.#position;
    while (position !== until && position.state.kind === "older") {
      for (const [key, value] of position.state.differs) if (!differing.has(key)) differing.set(key, value);
      position = position.state.next;
    }
    const end = position.state.kind === "newest" ? position.state.entries : new Map<string, Value>();
    return { differing, end, found: position === until };
  }
}

/** The position of a map in its lineage. It leads to newer ones and not to their maps, so these can be collected. */
interface MapPosition<Value> {
  state: NewestMap<Value> | OlderMap<Value>;
  before: WeakRef<MapPosition<Value>> | undefined;
}

interface NewestMap<Value> {
  readonly kind: "newest";
  readonly entries: Map<string, Value>;
}

interface OlderMap<Value> {
  readonly kind: "older";
  /** This map's values for keys with another value in the next map. */
  differs: Map<string, Value | undefined>;
  next: MapPosition<Value>;
  /** The number of entries by which the map at the next position is larger. */
  growth: number;
  /** Of a branch: the map at the next position, which stays for it. */
  readonly base?: ChainedMap<Value>;
}

/**
 * The positions of maps that nobody holds any more: the chain need not lead over them. V8 collects thousands at once,
 * and tells of the newest first: so the smaller differences go to the larger ones, or each would move a thousand times.
 */
const left = new FinalizationRegistry(({ state, before }: MapPosition<unknown>) => {
  const older = before?.deref()?.state;
  if (state.kind === "newest" || older?.kind !== "older") return;
  const [own, later] = [older.differs, state.differs];
  if (own.size < later.size) {
    for (const [key, value] of own) later.set(key, value);
    older.differs = later;
  } else for (const [key, value] of later) if (!own.has(key)) own.set(key, value);
  older.growth += state.growth;
  older.next = state.next;
  older.next.before = before;
});
