import {
  canonicalName,
  perObject,
  type Resource,
  type ResourceName,
  type ResourceType,
  type Version,
} from "@xdskit/api";
import { beatInterval } from "../basics/beat.js";
import { ChainedMap } from "../basics/chained-map.js";
import {
  emptyFingerprint,
  type Fingerprint,
  FingerprintSum,
  fingerprintOf,
  formatFingerprint,
} from "../names/fingerprint.js";
import { deriveVariants, type VariantIndex } from "./variant-index.js";

/**
 * The resources of one type in a snapshot. Immutable; sets that were derived from each other share the unchanged part,
 * so a snapshot costs its change (`chained-map.ts`). A set has a resource under its key: its canonical name, or for a
 * variant (xRFC TP2) its name with its constraints.
 */
export interface ResourceSet {
  readonly type: ResourceType;
  /**
   * Derived from the members' names and versions in any order: every replica and every restart computes the same
   * version.
   */
  readonly version: Version;
  readonly size: number;
  /** The resource with a name, however that is spelled. */
  get(name: ResourceName): Resource | undefined;
  /** All resources with a name, or the one with a key: several if a name comes in variants. */
  named(name: ResourceName): readonly Resource[];
  /** The resource with an alias (VHDS), the first by name if several have it; undefined if none has. */
  byAlias(alias: ResourceName): Resource | undefined;
  /** Read it in one turn of the event loop: a later set may change what is read after that. Else copy it first. */
  [Symbol.iterator](): Iterator<Resource>;
}

/** The empty set of a type: one object for each type. */
export const emptyResourceSet = perObject(
  (type: ResourceType): ResourceSet =>
    new ChainedResourceSet(type, ChainedMap.of(), undefined, undefined, undefined, emptyFingerprint),
);

/** This package's operations on sets beyond their public interface. These functions make every set. */
export const ResourceSets = {
  /**
   * The next set of a lineage, or the same one if nothing changes. `changes` are by key, and `undefined` removes. The
   * set may keep the map, so the caller must not change it afterwards.
   */
  derive(set: ResourceSet, changes: ReadonlyMap<ResourceName, Resource | undefined>): ResourceSet {
    return chained(set).derive(changes, "derive");
  },
  /**
   * A set beside the lineage, from which nothing should be derived: if `set` is the newest, it stays so. Costs the
   * change, whichever set it begins with.
   */
  branch(set: ResourceSet, changes: ReadonlyMap<ResourceName, Resource | undefined>): ResourceSet {
    return chained(set).derive(changes, "branch");
  },
  /** The resource under a key. */
  get(set: ResourceSet, key: ResourceName): Resource | undefined {
    return chained(set).members.get(key);
  },
  /** All resources with an alias, by name. */
  bearers(set: ResourceSet, alias: ResourceName): readonly Resource[] {
    return chained(set).aliases?.get(canonicalName(alias)) ?? noBearers;
  },
  /** The resources of `from` for each key that may differ in `to`; undefined if the two are of different lineages. */
  differences(from: ResourceSet, to: ResourceSet): ReadonlyMap<ResourceName, Resource | undefined> | undefined {
    return chained(from).members.differencesTo(chained(to).members);
  },
  /** The members that have a TTL, found without a look at the others; undefined if none has. */
  perishable(set: ResourceSet): (Iterable<Resource> & { readonly size: number }) | undefined {
    return chained(set).perishable;
  },
  /** The time between heartbeats for the member with the shortest TTL, in milliseconds; undefined if none has a TTL. */
  shortestInterval(set: ResourceSet): number | undefined {
    return chained(set).perishable?.shortestInterval;
  },
  /** Some of the members are variants. */
  hasVariants(set: ResourceSet): boolean {
    return chained(set).variants !== undefined;
  },
  /**
   * All resources of a name that comes in variants, in the order in which they are tried: those with constraints first.
   * Undefined for other names.
   */
  variants(set: ResourceSet, name: ResourceName): readonly Resource[] | undefined {
    return chained(set).variants?.get(name);
  },
  /** The sum over the members' names and versions. */
  fingerprint(set: ResourceSet): Fingerprint {
    return chained(set).fingerprint;
  },
  /** A number that no other set has, for keys of caches. */
  id(set: ResourceSet): number {
    return chained(set).id;
  },
};

/** As the next of the line, or as a branch beside it. */
type How = "derive" | "branch";

let lastId = 0;

const noBearers: readonly Resource[] = [];

/** The resources that have an alias, the one with the first name in front. */
type Bearers = readonly [Resource, ...Resource[]];

/** The members of a set that have a TTL. Derived as the set is, in the size of the change. */
class Perishable {
  readonly members: ChainedMap<Resource>;
  /** By interval in milliseconds, the number of members that need a heartbeat that often. There are few intervals. */
  readonly intervals: ReadonlyMap<number, number>;

  constructor(members: ChainedMap<Resource>, intervals: ReadonlyMap<number, number>) {
    this.members = members;
    this.intervals = intervals;
  }

  static derive(before: Perishable | undefined, changes: ReadonlyMap<ResourceName, Resource | undefined>, how: How) {
    const real = new Map<ResourceName, Resource | undefined>();
    const intervals = new Map(before?.intervals);
    const count = (resource: Resource | undefined, by: 1 | -1) => {
      if (resource?.ttl === undefined) return;
      const interval = beatInterval(resource.ttl);
      const now = (intervals.get(interval) ?? 0) + by;
      if (now === 0) intervals.delete(interval);
      else intervals.set(interval, now);
    };
    for (const [name, resource] of changes) {
      const known = before?.members.get(name);
      const after = resource?.ttl === undefined ? undefined : resource;
      if (known === undefined && after === undefined) continue;
      count(known, -1);
      count(after, 1);
      real.set(name, after);
    }
    if (real.size === 0) return before;
    if (intervals.size === 0) return undefined;
    return new Perishable(before === undefined ? ChainedMap.of(existing(real)) : before.members[how](real), intervals);
  }

  get size(): number {
    return this.members.size;
  }

  get shortestInterval(): number {
    return Math.min(...this.intervals.keys());
  }

  *[Symbol.iterator](): Iterator<Resource> {
    for (const [, resource] of this.members.entries()) yield resource;
  }
}

class ChainedResourceSet implements ResourceSet {
  readonly type: ResourceType;
  readonly id = ++lastId;
  readonly members: ChainedMap<Resource>;
  /** Only while any resource has aliases. */
  readonly aliases: ChainedMap<Bearers> | undefined;
  /** Only while any resource has a TTL. */
  readonly perishable: Perishable | undefined;
  /** By name, only while any resource is a variant. */
  readonly variants: VariantIndex | undefined;
  readonly fingerprint: Fingerprint;
  readonly size: number;
  readonly version: Version;

  constructor(
    type: ResourceType,
    members: ChainedMap<Resource>,
    aliases: ChainedMap<Bearers> | undefined,
    perishable: Perishable | undefined,
    variants: VariantIndex | undefined,
    fingerprint: Fingerprint,
  ) {
    this.type = type;
    this.members = members;
    this.aliases = aliases;
    this.perishable = perishable;
    this.variants = variants;
    this.fingerprint = fingerprint;
    this.size = members.size;
    this.version = formatFingerprint(fingerprint);
  }

  get(name: ResourceName): Resource | undefined {
    return this.members.get(canonicalName(name));
  }

  named(name: ResourceName): readonly Resource[] {
    const key = canonicalName(name);
    const single = this.members.get(key);
    return this.variants?.get(key) ?? (single === undefined ? [] : [single]);
  }

  byAlias(alias: ResourceName): Resource | undefined {
    return this.aliases?.get(canonicalName(alias))?.[0];
  }

  *[Symbol.iterator](): Iterator<Resource> {
    for (const [, resource] of this.members.entries()) yield resource;
  }

  derive(changes: ReadonlyMap<ResourceName, Resource | undefined>, how: How): ResourceSet {
    const isFirst = this.size === 0;
    // A start gives every resource there is: its map becomes the set's, and is not copied.
    const differs = isFirst && how === "derive" ? undefined : new Map<ResourceName, Resource | undefined>();
    let isWhole = true;
    const bearers = new Map<ResourceName, readonly Resource[]>();
    const sum = new FingerprintSum(this.fingerprint);
    let hasTtl = this.perishable !== undefined;
    let hasVariants = this.variants !== undefined;
    // Without a pair and a result for each of a hundred thousand, as `for … of` makes them.
    changes.forEach((after, key) => {
      const before = isFirst ? undefined : this.members.get(key);
      isWhole &&= after !== undefined;
      if (before?.version === after?.version) return;
      differs?.set(key, after);
      if (before !== undefined) sum.subtract(fingerprintOf(key, before.version));
      if (after !== undefined) {
        sum.add(fingerprintOf(key, after.version));
        hasTtl ||= after.ttl !== undefined;
        hasVariants ||= after.variant !== undefined;
      }
      if (before?.aliases.length || after?.aliases.length) this.#moveAliases(key, before, after, bearers);
    });
    const real = differs ?? (isWhole ? changes : existing(changes));
    if (real.size === 0) return this;
    const aliasMap = this.#deriveAliases(bearers, how);
    const perishable = hasTtl ? Perishable.derive(this.perishable, real, how) : undefined;
    const variants = hasVariants ? deriveVariants(this.variants, (key) => this.members.get(key), real, how) : undefined;
    // The empty set of a type is shared and lives for ever, so no lineage starts at it. Its first change has all
    // members.
    const members = isFirst ? ChainedMap.of(real as Map<ResourceName, Resource>) : this.members[how](real);
    return new ChainedResourceSet(this.type, members, aliasMap, perishable, variants, sum.value);
  }

  /** Updates the bearers of the aliases that one resource had and has. */
  #moveAliases(
    key: ResourceName,
    before: Resource | undefined,
    after: Resource | undefined,
    bearers: Map<ResourceName, readonly Resource[]>,
  ): void {
    for (const alias of (before?.aliases ?? []).map(canonicalName)) {
      bearers.set(
        alias,
        this.#bearers(bearers, alias).filter((resource) => resource.key !== key),
      );
    }
    for (const alias of (after?.aliases ?? []).map(canonicalName)) {
      const others = this.#bearers(bearers, alias).filter((resource) => resource.key !== key);
      bearers.set(
        alias,
        [...others, after as Resource].sort((a, b) => (a.key < b.key ? -1 : 1)),
      );
    }
  }

  #bearers(changed: ReadonlyMap<ResourceName, readonly Resource[]>, alias: ResourceName): readonly Resource[] {
    return changed.get(alias) ?? this.aliases?.get(alias) ?? [];
  }

  #deriveAliases(bearers: ReadonlyMap<ResourceName, readonly Resource[]>, how: How): ChainedMap<Bearers> | undefined {
    if (bearers.size === 0) return this.aliases;
    const changes = new Map<ResourceName, Bearers | undefined>();
    for (const [alias, [first, ...rest]] of bearers) changes.set(alias, first && [first, ...rest]);
    return this.aliases === undefined ? ChainedMap.of(existing(changes)) : this.aliases[how](changes);
  }
}

function existing<Value>(changes: ReadonlyMap<string, Value | undefined>): Map<string, Value> {
  const entries = new Map<string, Value>();
  for (const [key, value] of changes) if (value !== undefined) entries.set(key, value);
  return entries;
}

function chained(set: ResourceSet): ChainedResourceSet {
  if (set instanceof ChainedResourceSet) return set;
  throw new TypeError("a ResourceSet must come from emptySnapshot and updateSnapshot");
}
