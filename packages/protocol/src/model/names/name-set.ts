import { globOf, type ResourceName } from "@xdskit/api";
import { Names } from "./derived-names.js";
import {
  addFingerprints,
  emptyFingerprint,
  type Fingerprint,
  fingerprintOf,
  formatFingerprint,
  subtractFingerprints,
} from "./fingerprint.js";

let lastId = 0;
const interned = new Map<string, WeakRef<NameSet>>();
const forget = new FinalizationRegistry<{ readonly key: string; readonly reference: WeakRef<NameSet> }>(
  ({ key, reference }) => {
    if (interned.get(key) === reference) interned.delete(key);
  },
);

/**
 * An immutable set of names, all in canonical form. Equal sets are one object: a thousand clients that name the same
 * resources share one list, and comparing is `===`. A set that a small change made from a large one keeps only the
 * differences, over names that both share (`Names`): it costs about the square root of the large one.
 */
export class NameSet {
  readonly #names: Names;
  readonly #fingerprint: Fingerprint;
  /**
   * As large as the names. Weak: a caller that needs it again soon finds it, and no client can make the server keep it.
   */
  #byHash: WeakRef<ReadonlyMap<number, ResourceName>> | undefined;
  /** A number that no other set has, for keys of caches. */
  readonly id: number;

  /** Only `intern` calls it. */
  private constructor(names: Names, fingerprint: Fingerprint) {
    this.#names = names;
    this.#fingerprint = fingerprint;
    this.id = ++lastId;
  }

  static readonly empty = new NameSet(Names.of(new Set()), emptyFingerprint);

  /** The set of these names; repeated ones count once (rule 77). */
  static of(names: Iterable<ResourceName>): NameSet {
    const distinct = new Set(names);
    let fingerprint = emptyFingerprint;
    for (const name of distinct) fingerprint = addFingerprints(fingerprint, fingerprintOf(name));
    return NameSet.#intern(Names.of(distinct), fingerprint);
  }

  /** The set of these names, whose fingerprints, repeated names included, were summed up before. */
  static summed(names: readonly ResourceName[], sum: Fingerprint): NameSet {
    const distinct = new Set(names);
    return distinct.size === names.length ? NameSet.#intern(Names.of(distinct), sum) : NameSet.of(distinct);
  }

  /**
   * The set with this many names and this sum, if there is one. It is probably the right one, which the names must
   * prove.
   */
  static like(count: number, sum: Fingerprint): NameSet | undefined {
    return interned.get(keyOfSum(count, sum))?.deref();
  }

  get size(): number {
    return this.#names.size;
  }

  /**
   * Short, and equal for equal sets in every process: for a caller that remembers a list without keeping it. A client
   * that chooses the names can make two lists collide.
   */
  get key(): string {
    return keyOfSum(this.size, this.#fingerprint);
  }

  /** Of all names together. */
  get characters(): number {
    return this.#names.counts.characters;
  }

  /** The names by the low bits of their fingerprints. */
  get byHash(): ReadonlyMap<number, ResourceName> {
    const made = this.#byHash?.deref();
    if (made !== undefined) return made;
    const byHash = new Map<number, ResourceName>();
    for (const name of this) byHash.set(fingerprintOf(name).low, name);
    this.#byHash = new WeakRef(byHash);
    return byHash;
  }

  /** Some of the names stand for all resources beside each other somewhere. */
  get hasCollections(): boolean {
    return this.#names.counts.collections > 0;
  }

  /** Some of the names have dynamic parameters. */
  get hasLocators(): boolean {
    return this.#names.counts.locators > 0;
  }

  /** Some of the names have capital letters in their last part. */
  get hasCapitals(): boolean {
    return this.#names.counts.capitals > 0;
  }

  /** Those of the names whose last part is that of this one, with capital letters. */
  inCapitals(name: ResourceName): Iterable<ResourceName> {
    return this.#names.inCapitals(name);
  }

  /** Those of the names that are this one, without parameters or with any. */
  *spelled(name: ResourceName): Iterable<ResourceName> {
    if (this.has(name)) yield name;
    if (this.hasLocators) yield* this.#names.locatorsOf(name);
  }

  /** One of the names is a collection that this name is in. */
  hasCollectionOf(name: ResourceName): boolean {
    const glob = this.hasCollections ? globOf(name) : undefined;
    return glob !== undefined && this.has(glob);
  }

  has(name: ResourceName): boolean {
    return this.#names.has(name);
  }

  /** The names that another set lacks. If small changes made one of the other, this costs the differences. */
  notIn(others: NameSet): Iterable<ResourceName> {
    return others === this ? [] : this.#names.notIn(others.#names);
  }

  [Symbol.iterator](): Iterator<ResourceName> {
    return this.#names[Symbol.iterator]();
  }

  /** This set and those names. */
  with(names: Iterable<ResourceName>): NameSet {
    if (names instanceof NameSet) {
      if (names === this || this.size === 0) return names;
      if (names.size > this.size) return names.with(this);
    }
    const added = new Set<ResourceName>();
    let fingerprint = this.#fingerprint;
    for (const name of names) {
      if (this.has(name) || added.has(name)) continue;
      added.add(name);
      fingerprint = addFingerprints(fingerprint, fingerprintOf(name));
    }
    return added.size === 0 ? this : NameSet.#intern(this.#names.derive(added, true), fingerprint);
  }

  /** This set but those names. */
  without(names: Iterable<ResourceName>): NameSet {
    if (names === this) return NameSet.empty;
    const gone = new Set<ResourceName>();
    let fingerprint = this.#fingerprint;
    const isLarger = names instanceof NameSet && names.size > this.size;
    for (const name of isLarger ? this : names) {
      if (!(isLarger ? names : this).has(name) || gone.has(name)) continue;
      gone.add(name);
      fingerprint = subtractFingerprints(fingerprint, fingerprintOf(name));
    }
    return gone.size === 0 ? this : NameSet.#intern(this.#names.derive(gone, false), fingerprint);
  }

  /** Finds the equal set, if there still is one. */
  static #intern(names: Names, fingerprint: Fingerprint): NameSet {
    if (names.size === 0) return NameSet.empty;
    const key = keyOfSum(names.size, fingerprint);
    const known = interned.get(key)?.deref();
    if (known !== undefined) {
      // A client could invent names that collide with those of another client.
      if (known.#names.equals(names)) return known;
      return new NameSet(names, fingerprint);
    }
    const set = new NameSet(names, fingerprint);
    const reference = new WeakRef(set);
    interned.set(key, reference);
    forget.register(set, { key, reference });
    return set;
  }
}

function keyOfSum(count: number, fingerprint: Fingerprint): string {
  return `${count} ${formatFingerprint(fingerprint)}`;
}
