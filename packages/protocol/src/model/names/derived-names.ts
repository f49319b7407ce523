import { isGlobName, type ResourceName } from "@xdskit/api";
import { isLocator, nameOf } from "./locator.js";

/** Sums over names. */
interface Counts {
  readonly characters: number;
  /** Names that stand for all resources beside each other somewhere. */
  readonly collections: number;
  /** Names with parameters. */
  readonly locators: number;
}

/** Names by the name without parameters. */
type Locators = ReadonlyMap<ResourceName, readonly ResourceName[]>;

/** Names from which many others are made by small changes, and the facts about them that are worked out once. */
interface Base {
  readonly names: ReadonlySet<ResourceName>;
  locators: Locators | undefined;
}

/** Fewer names than this are copied with each change: that costs less than looking in two places. */
const few = 256;

/**
 * Names that never change: a base that several share, and the differences from it. Each change copies the differences.
 * When they outgrow about the square root of the base, all names become a new base. So a change of one name costs about
 * the square root of all names, the copy of the base included.
 */
export class Names {
  readonly #base: Base;
  /** By name, whether it was added to the base or taken away. */
  readonly #differs: ReadonlyMap<ResourceName, boolean> | undefined;
  readonly size: number;
  #counts: Counts | undefined;
  #locators: Locators | undefined;

  private constructor(base: Base, differs: ReadonlyMap<ResourceName, boolean> | undefined, size: number) {
    this.#base = base;
    this.#differs = differs;
    this.size = size;
  }

  /** It takes over the names. */
  static of(names: ReadonlySet<ResourceName>): Names {
    return new Names({ names, locators: undefined }, undefined, names.size);
  }

  has(name: ResourceName): boolean {
    return this.#differs?.get(name) ?? this.#base.names.has(name);
  }

  [Symbol.iterator](): Iterator<ResourceName> {
    return this.#differs === undefined ? this.#base.names[Symbol.iterator]() : this.#all(this.#differs);
  }

  *#all(differs: ReadonlyMap<ResourceName, boolean>): Iterator<ResourceName> {
    for (const name of this.#base.names) if (differs.get(name) !== false) yield name;
    for (const [name, isAdded] of differs) if (isAdded) yield name;
  }

  get counts(): Counts {
    this.#counts ??= countsOf(this, none, 1);
    return this.#counts;
  }

  /** Those of the names that are this one with parameters. */
  *locatorsOf(name: ResourceName): Iterable<ResourceName> {
    this.#base.locators ??= byName(this.#base.names);
    for (const locator of this.#base.locators.get(name) ?? []) if (this.has(locator)) yield locator;
    if (this.#differs === undefined) return;
    this.#locators ??= byName(added(this.#differs));
    yield* this.#locators.get(name) ?? [];
  }

  /** These and `names`, none of which is among them, or without `names`, which are. */
  derive(names: ReadonlySet<ResourceName>, isAdded: boolean): Names {
    const size = this.size + (isAdded ? names.size : -names.size);
    const derived = this.#derived(names, isAdded, size);
    if (this.#counts !== undefined) derived.#counts = countsOf(names, this.#counts, isAdded ? 1 : -1);
    return derived;
  }

  #derived(names: ReadonlySet<ResourceName>, isAdded: boolean, size: number): Names {
    if (size < few || (this.#differs?.size ?? 0) + names.size > 2 * Math.sqrt(size)) {
      const all = new Set(this.#base.names);
      const change = (name: ResourceName, isThere: boolean) => (isThere ? all.add(name) : all.delete(name));
      for (const [name, isThere] of this.#differs ?? noDifferences) change(name, isThere);
      for (const name of names) change(name, isAdded);
      return Names.of(all);
    }
    const differs = new Map(this.#differs);
    for (const name of names) {
      if (this.#base.names.has(name) === isAdded) differs.delete(name);
      else differs.set(name, isAdded);
    }
    return new Names(this.#base, differs.size === 0 ? undefined : differs, size);
  }

  /** Those that are not among others. If both have one base, only the differences are compared. */
  *notIn(others: Names): Iterable<ResourceName> {
    if (this.#base !== others.#base) {
      for (const name of this) if (!others.has(name)) yield name;
      return;
    }
    for (const [name, isAdded] of this.#differs ?? noDifferences) if (isAdded && !others.has(name)) yield name;
    for (const [name, isAdded] of others.#differs ?? noDifferences) if (!isAdded && this.has(name)) yield name;
  }

  /** Tells whether both are the same names. With one base, only the differences are compared. */
  equals(other: Names): boolean {
    if (this.size !== other.size) return false;
    if (this.#base !== other.#base) return every(other, (name) => this.has(name));
    const differs = other.#differs ?? noDifferences;
    if (differs.size !== (this.#differs?.size ?? 0)) return false;
    return every(differs, ([name, isAdded]) => this.#differs?.get(name) === isAdded);
  }
}

const none: Counts = { characters: 0, collections: 0, locators: 0 };
const noDifferences: ReadonlyMap<ResourceName, boolean> = new Map();

function countsOf(names: Iterable<ResourceName>, { characters, collections, locators }: Counts, by: 1 | -1): Counts {
  const counts = { characters, collections, locators };
  for (const name of names) {
    counts.characters += by * name.length;
    if (isGlobName(nameOf(name))) counts.collections += by;
    if (isLocator(name)) counts.locators += by;
  }
  return counts;
}

function* added(differs: ReadonlyMap<ResourceName, boolean>): Iterable<ResourceName> {
  for (const [name, isAdded] of differs) if (isAdded) yield name;
}

function byName(names: Iterable<ResourceName>): Locators {
  const locators = new Map<ResourceName, ResourceName[]>();
  for (const locator of names) {
    if (!isLocator(locator)) continue;
    const name = nameOf(locator);
    const others = locators.get(name);
    if (others === undefined) locators.set(name, [locator]);
    else others.push(locator);
  }
  return locators;
}

function every<Value>(values: Iterable<Value>, holds: (value: Value) => boolean): boolean {
  for (const value of values) if (!holds(value)) return false;
  return true;
}
