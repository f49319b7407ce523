import { globOf, isGlobName, type ResourceName } from "@xdskit/api";
import {
  addFingerprints,
  emptyFingerprint,
  type Fingerprint,
  fingerprintOf,
  formatFingerprint,
  subtractFingerprints,
} from "./fingerprint.js";
import { isLocator, nameOf } from "./locator.js";

let lastId = 0;
const interned = new Map<string, WeakRef<NameSet>>();
const forget = new FinalizationRegistry<{ readonly key: string; readonly reference: WeakRef<NameSet> }>(
  ({ key, reference }) => {
    if (interned.get(key) === reference) interned.delete(key);
  },
);

/**
 * An immutable set of names, all in canonical form. Equal sets are one and the same object: a thousand clients that name the same resources share one list, and
 * comparing is `===`.
 */
export class NameSet {
  readonly #names: ReadonlySet<ResourceName>;
  readonly #fingerprint: Fingerprint;
  #hasCollections: boolean | undefined;
  /** Names with parameters, by the name without. */
  #locators: ReadonlyMap<ResourceName, readonly ResourceName[]> | undefined;
  /** As large as the names are: whoever needs it again soon finds it, and no client can have it kept. */
  #byHash: WeakRef<ReadonlyMap<number, ResourceName>> | undefined;
  #characters: number | undefined;
  /** A number that no other set has, for keys of caches. */
  readonly id: number;

  /** Only `intern` calls it. */
  private constructor(names: ReadonlySet<ResourceName>, fingerprint: Fingerprint) {
    this.#names = names;
    this.#fingerprint = fingerprint;
    this.id = ++lastId;
  }

  static readonly empty = new NameSet(new Set(), emptyFingerprint);

  /** The set of these names; repeated ones count once (rule 77). */
  static of(names: Iterable<ResourceName>): NameSet {
    const distinct = new Set(names);
    let fingerprint = emptyFingerprint;
    for (const name of distinct) fingerprint = addFingerprints(fingerprint, fingerprintOf(name));
    return NameSet.#intern(distinct, fingerprint);
  }

  /** The set of these names, whose fingerprints, repeated names included, were summed up before. */
  static summed(names: readonly ResourceName[], sum: Fingerprint): NameSet {
    const distinct = new Set(names);
    return distinct.size === names.length ? NameSet.#intern(distinct, sum) : NameSet.of(distinct);
  }

  /** A set of so many names with that sum, if anybody has one: probably the one looked for, which the names must prove. */
  static like(count: number, sum: Fingerprint): NameSet | undefined {
    return interned.get(keyOf(count, sum))?.deref();
  }

  get size(): number {
    return this.#names.size;
  }

  /** Short, and equal for equal sets, of all times: for who remembers a list and does not keep it. Whoever chooses the names can make two lists collide. */
  get key(): string {
    return keyOf(this.size, this.#fingerprint);
  }

  /** Of all names together. */
  get characters(): number {
    if (this.#characters === undefined) {
      this.#characters = 0;
      for (const name of this.#names) this.#characters += name.length;
    }
    return this.#characters;
  }

  /** The names by the low bits of their fingerprints. */
  get byHash(): ReadonlyMap<number, ResourceName> {
    const made = this.#byHash?.deref();
    if (made !== undefined) return made;
    const byHash = new Map<number, ResourceName>();
    for (const name of this.#names) byHash.set(fingerprintOf(name).low, name);
    this.#byHash = new WeakRef(byHash);
    return byHash;
  }

  /** Some of the names stand for all resources beside each other somewhere. */
  get hasCollections(): boolean {
    this.#hasCollections ??= [...this.#names].some((name) => isGlobName(nameOf(name)));
    return this.#hasCollections;
  }

  /** Some of the names have dynamic parameters. */
  get hasLocators(): boolean {
    return this.#byName.size > 0;
  }

  /** Those of the names that are this one, without parameters or with any. */
  *spelled(name: ResourceName): Iterable<ResourceName> {
    if (this.#names.has(name)) yield name;
    yield* this.#byName.get(name) ?? [];
  }

  get #byName(): ReadonlyMap<ResourceName, readonly ResourceName[]> {
    if (this.#locators === undefined) {
      const locators = new Map<ResourceName, ResourceName[]>();
      for (const locator of this.#names) {
        if (!isLocator(locator)) continue;
        const name = nameOf(locator);
        const others = locators.get(name);
        if (others === undefined) locators.set(name, [locator]);
        else others.push(locator);
      }
      this.#locators = locators;
    }
    return this.#locators;
  }

  /** One of the names is a collection that this name is in. */
  hasCollectionOf(name: ResourceName): boolean {
    const glob = this.hasCollections ? globOf(name) : undefined;
    return glob !== undefined && this.#names.has(glob);
  }

  has(name: ResourceName): boolean {
    return this.#names.has(name);
  }

  [Symbol.iterator](): Iterator<ResourceName> {
    return this.#names[Symbol.iterator]();
  }

  /** This set and those names. */
  with(names: Iterable<ResourceName>): NameSet {
    if (names instanceof NameSet && (names === this || this.size === 0)) return names;
    const added: ResourceName[] = [];
    for (const name of names) if (!this.#names.has(name)) added.push(name);
    if (added.length === 0) return this;
    const all = new Set(this.#names);
    let fingerprint = this.#fingerprint;
    for (const name of added) {
      if (all.has(name)) continue;
      all.add(name);
      fingerprint = addFingerprints(fingerprint, fingerprintOf(name));
    }
    return NameSet.#intern(all, fingerprint);
  }

  /** This set but those names. */
  without(names: Iterable<ResourceName>): NameSet {
    if (names === this) return NameSet.empty;
    const gone: ResourceName[] = [];
    for (const name of names) if (this.#names.has(name)) gone.push(name);
    if (gone.length === 0) return this;
    const rest = new Set(this.#names);
    let fingerprint = this.#fingerprint;
    for (const name of gone)
      if (rest.delete(name)) fingerprint = subtractFingerprints(fingerprint, fingerprintOf(name));
    return NameSet.#intern(rest, fingerprint);
  }

  /** Finds the set that is equal, if anybody still has it. */
  static #intern(names: ReadonlySet<ResourceName>, fingerprint: Fingerprint): NameSet {
    if (names.size === 0) return NameSet.empty;
    const key = keyOf(names.size, fingerprint);
    const known = interned.get(key)?.deref();
    if (known !== undefined) {
      // A client could make up names that collide: they must not become anybody else's.
      if (sameNames(known.#names, names)) return known;
      return new NameSet(names, fingerprint);
    }
    const set = new NameSet(names, fingerprint);
    const reference = new WeakRef(set);
    interned.set(key, reference);
    forget.register(set, { key, reference });
    return set;
  }
}

function keyOf(count: number, fingerprint: Fingerprint): string {
  return `${count} ${formatFingerprint(fingerprint)}`;
}

function sameNames(a: ReadonlySet<ResourceName>, b: ReadonlySet<ResourceName>): boolean {
  for (const name of b) if (!a.has(name)) return false;
  return a.size === b.size;
}
