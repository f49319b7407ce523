/** What was made of an object and a text, such as a type URL, kept as long as the object lives: of each object only so many that differ in the text, then it begins anew. */
export class PerKey<Of extends object, Made extends object> {
  readonly #known = new WeakMap<Of, Map<string, Made>>();
  readonly #most: number;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get(of: Of, key: string): Made | undefined {
    return this.#known.get(of)?.get(key);
  }

  /** Returns what it was given. */
  set(of: Of, key: string, made: Made): Made {
    let byKey = this.#known.get(of);
    if (byKey === undefined) {
      byKey = new Map();
      this.#known.set(of, byKey);
    }
    if (byKey.size >= this.#most) byKey.clear();
    byKey.set(key, made);
    return made;
  }
}
