import { maxShared } from "./limits.js";

/*
 * Results that many streams ask for and that are worked out once. Results of objects are kept while the objects live;
 * results by a text, up to a total weight.
 */

/** A function of two objects that computes its result once for each pair, and keeps it as long as both live. */
export function perPair<One extends object, Other extends object, Made extends object | number>(
  make: (one: One, other: Other) => Made,
): (one: One, other: Other) => Made {
  const known = new WeakMap<One, WeakMap<Other, Made>>();
  return (one, other) => {
    let ofOne = known.get(one);
    if (ofOne === undefined) {
      ofOne = new WeakMap();
      known.set(one, ofOne);
    }
    let made = ofOne.get(other);
    if (made === undefined) {
      made = make(one, other);
      ofOne.set(other, made);
    }
    return made;
  };
}

/**
 * Results by an object and a text, such as a type URL, kept as long as the object lives. Each object has at most `most`
 * of them; one more, and it starts again with none.
 */
export class PerKey<Of extends object, Made extends object> {
  readonly #known = new WeakMap<Of, Map<string, Made>>();
  readonly #most: number;

  constructor(most = maxShared) {
    this.#most = most;
  }

  get(of: Of, key: string): Made | undefined {
    return this.#known.get(of)?.get(key);
  }

  /** Returns `made`. */
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

/**
 * The number of values that a `BoundedCache` keeps however heavy they are: one for each type that clients ask for as
 * they connect. With fewer, clients of a large configuration would push out each other's clusters and load assignments.
 */
const alwaysKept = 8;

/** Remembers the values that came last, up to a total weight. */
export class BoundedCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  readonly #capacity: number;
  #weight = 0;

  /** `capacity` is in the unit of the weights. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The key must not be there yet. */
  set(key: string, value: Value, weight: number): void {
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#capacity || this.#entries.size <= alwaysKept) return;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
  }
}
