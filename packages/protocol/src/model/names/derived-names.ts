import { isGlobName, type ResourceName, withSmallHost } from "@xdskit/api";
import { isLocator, nameOf } from "./locator.js";

/** Sums over names. */
interface NameCounts {
  readonly characters: number;
  /** Names that stand for all resources beside each other somewhere. */
  readonly collections: number;
  /** Names with parameters. */
  readonly locators: number;
  /** Names with capital letters in their last part. */
  readonly capitals: number;
}

/** What else a name is found by: without its parameters, or in small letters. */
type NameKind = "locators" | "capitals";

/** Of one kind, the names by what else they are found by; made when first needed. */
type Indexes = { [Key in NameKind]?: ReadonlyMap<ResourceName, readonly ResourceName[]> };

/** Names from which many others are made by small changes, and the facts about them that are worked out once. */
interface Base {
  readonly names: ReadonlySet<ResourceName>;
  readonly indexes: Indexes;
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
  #counts: NameCounts | undefined;
  #indexes: Indexes | undefined;

  private constructor(base: Base, differs: ReadonlyMap<ResourceName, boolean> | undefined, size: number) {
    this.#base = base;
    this.#differs = differs;
    this.size = size;
  }

  /** It takes over the names. */
  static of(names: ReadonlySet<ResourceName>): Names {
    return new Names({ names, indexes: {} }, undefined, names.size);
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

  get counts(): NameCounts {
    this.#counts ??= countsOf(this, none, 1);
    return this.#counts;
  }

  /** Those of the names that are this one with parameters. */
  locatorsOf(name: ResourceName): Iterable<ResourceName> {
    return this.#found("locators", name);
  }

  /** Those of the names that are this one with capital letters in the last part. */
  inCapitals(name: ResourceName): Iterable<ResourceName> {
    return this.#found("capitals", name);
  }

  *#found(kind: NameKind, by: ResourceName): Iterable<ResourceName> {
    const { names, indexes } = this.#base;
    indexes[kind] ??= indexOf(names, kind);
    for (const name of indexes[kind].get(by) ?? []) if (this.has(name)) yield name;
    if (this.#differs === undefined) return;
    this.#indexes ??= {};
    this.#indexes[kind] ??= indexOf(added(this.#differs), kind);
    yield* this.#indexes[kind].get(by) ?? [];
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

const none: NameCounts = { characters: 0, collections: 0, locators: 0, capitals: 0 };
const noDifferences: ReadonlyMap<ResourceName, boolean> = new Map();

function countsOf(names: Iterable<ResourceName>, before: NameCounts, by: 1 | -1): NameCounts {
  const { characters, collections, locators, capitals } = before;
  const counts = { characters, collections, locators, capitals };
  for (const name of names) {
    counts.characters += by * name.length;
    if (isGlobName(nameOf(name))) counts.collections += by;
    if (isLocator(name)) counts.locators += by;
    if (hasCapitals(name)) counts.capitals += by;
  }
  return counts;
}

function* added(differs: ReadonlyMap<ResourceName, boolean>): Iterable<ResourceName> {
  for (const [name, isAdded] of differs) if (isAdded) yield name;
}

/** Of the last part: hosts are equal in any case. */
function hasCapitals(name: ResourceName): boolean {
  return /[A-Z]/.test(name) && withSmallHost(name) !== name;
}

function indexOf(names: Iterable<ResourceName>, kind: NameKind): ReadonlyMap<ResourceName, readonly ResourceName[]> {
  const index = new Map<ResourceName, ResourceName[]>();
  for (const name of names) {
    if (!(kind === "locators" ? isLocator : hasCapitals)(name)) continue;
    const by = kind === "locators" ? nameOf(name) : withSmallHost(name);
    const others = index.get(by);
    if (others === undefined) index.set(by, [name]);
    else others.push(name);
  }
  return index;
}

function every<Value>(values: Iterable<Value>, holds: (value: Value) => boolean): boolean {
  for (const value of values) if (!holds(value)) return false;
  return true;
}
