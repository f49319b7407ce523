import type { Resource, ResourceName, Version } from "@xdskit/api";
import { maxAlternatives } from "../basics/limits.js";
import { PerKey } from "../basics/memo.js";
import {
  emptyFingerprint,
  equalFingerprints,
  type Fingerprint,
  FingerprintSum,
  fingerprintOf,
  readFingerprint,
} from "../names/fingerprint.js";
import { changeBetween } from "./change.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";
import { sharedBranch } from "./shared-branch.js";

/** The number of sets, newest first, that are mixed with each other. */
const maxMixed = 24;
/**
 * The number of mixtures of some sets that are made name by name; if there are more, names that come or go stay
 * together.
 */
const maxOfWindow = 256;
/** The number of all mixtures that are tried, and of the differences that they are made of: nobody must wait long. */
const maxMixtures = 20_000;

/** The number of resources that the next sets add to one of them. */
const maxUnited = 5_000;

const known = new PerKey<ResourceSet, Mixtures>(maxAlternatives);

/**
 * The set with this version that is one of `sets` or a mixture of some: under each key it has the content of one of
 * them. A client on its way from one to another has such a mixture, as far as a stage brought it. Undefined if there is
 * none, or if it is not among those that are tried.
 *
 * `sets`: of one lineage, newest first. Costs a lookup for all callers but the first.
 */
export function mixtureOf(version: Version, sets: readonly ResourceSet[]): ResourceSet | undefined {
  const [newest, oldest] = [sets[0], sets.at(-1)];
  const wanted = readFingerprint(version);
  if (newest === undefined || oldest === undefined || wanted === undefined) return undefined;
  for (const set of sets) if (equalFingerprints(ResourceSets.fingerprint(set), wanted)) return set;
  const key = `${ResourceSets.id(oldest)}`;
  return (known.get(newest, key) ?? known.set(newest, key, new Mixtures(sets))).find(wanted);
}

/**
 * The mixtures of some sets, by version. A version is a sum over the members, so the versions of mixtures are sums of
 * differences, and only the wanted set is made.
 */
class Mixtures {
  /** By the lower half of the fingerprint. */
  readonly #byLow = new Map<
    number,
    { readonly family: MixtureFamily; readonly index: number; readonly high: number }
  >();

  #differences = 0;

  constructor(all: readonly ResourceSet[]) {
    const sets = all.slice(0, maxMixed);
    for (const from of sets.keys()) this.#addFamily(new Unions(sets.slice(from)));
    // Most clients are on their way between neighbours; slow ones skip several changes at once.
    for (let distance = 1; distance < sets.length; distance += 1) {
      for (let from = 0; from + distance < sets.length; from += 1) {
        this.#add(new Window([sets[from] as ResourceSet, sets[from + distance] as ResourceSet]));
        // Changes that wait for long, such as for drains, are of older sets.
        const isFew = distance > 1 && 2 ** distance <= maxOfWindow;
        if (isFew) this.#add(new Window(sets.slice(from, from + distance + 1)));
        if (this.#differences > maxMixtures) return;
      }
    }
  }

  find(wanted: Fingerprint): ResourceSet | undefined {
    const found = this.#byLow.get(wanted.low);
    return found?.high === wanted.high ? found.family.at(found.index) : undefined;
  }

  #add(window: Window): void {
    this.#differences += window.differences;
    if (this.#byLow.size + window.size > maxMixtures) return;
    this.#addFamily(window);
  }

  #addFamily(family: MixtureFamily): void {
    for (const [index, { high, low }] of family.fingerprints().entries())
      if (!this.#byLow.has(low)) this.#byLow.set(low, { family, index, high });
  }
}

/** Mixtures of the same sets. */
interface MixtureFamily {
  /** In the order of their indexes. */
  fingerprints(): readonly Fingerprint[];
  at(index: number): ResourceSet;
}

/**
 * The first set with all that the next ones had and it lacks, up to each of these: a client has that after changes one
 * upon another, of which each took something away that stays for drains.
 */
class Unions implements MixtureFamily {
  readonly #base: ResourceSet;
  readonly #others: readonly ResourceSet[];

  constructor([base, ...others]: readonly ResourceSet[]) {
    this.#base = base as ResourceSet;
    this.#others = others;
  }

  fingerprints(): readonly Fingerprint[] {
    const sum = new FingerprintSum(ResourceSets.fingerprint(this.#base));
    return Array.from(this.#steps(), (gone) => {
      for (const { key, version } of gone) sum.add(fingerprintOf(key, version));
      return sum.value;
    });
  }

  at(index: number): ResourceSet {
    const gone = [...this.#steps()].slice(0, index + 1).flat();
    return sharedBranch(this.#base, new Map(gone.map((resource) => [resource.key, resource])));
  }

  /** What each of the others adds. */
  *#steps(): Iterable<readonly Resource[]> {
    const seen = new Set<ResourceName>();
    let changes = 0;
    for (const other of this.#others) {
      const gone = changeBetween(other, this.#base).removed.filter(({ key }) => !seen.has(key));
      changes += gone.length;
      if (changes > maxUnited) return;
      for (const { key } of gone) seen.add(key);
      yield gone;
    }
  }
}

/** The contents of a set under keys that are chosen together. */
interface Choice {
  readonly contents: ReadonlyMap<ResourceName, Resource | undefined>;
  /** From the base's contents there. */
  readonly difference: Fingerprint;
}

/** Some sets, and the contents of each under the keys in which they differ. */
class Window implements MixtureFamily {
  readonly #base: ResourceSet;
  readonly #choices: readonly (readonly Choice[])[];
  /** The number of keys in which they differ. */
  readonly differences: number;

  constructor(sets: readonly ResourceSet[]) {
    const [base, ...others] = sets as [ResourceSet, ...ResourceSet[]];
    this.#base = base;
    const keys = new Set<ResourceName>();
    for (const other of others) for (const key of changeBetween(base, other).differences.keys()) keys.add(key);
    this.differences = keys.size;
    // More than a pair of sets is only mixed name by name, and each name doubles the mixtures.
    if (2 ** keys.size <= maxOfWindow) this.#choices = Array.from(keys, (key) => choicesOf(sets, [key]));
    else this.#choices = sets.length === 2 ? together(sets, keys) : [];
  }

  get size(): number {
    return this.#choices.reduce((size, { length }) => size * length, 1);
  }

  fingerprints(): readonly Fingerprint[] {
    let all = [ResourceSets.fingerprint(this.#base)];
    for (const choices of this.#choices) {
      all = choices.flatMap(({ difference }) =>
        all.map((before) => {
          const sum = new FingerprintSum(before);
          sum.add(difference);
          return sum.value;
        }),
      );
    }
    return all;
  }

  at(index: number): ResourceSet {
    const changes = new Map<ResourceName, Resource | undefined>();
    let rest = index;
    for (const choices of this.#choices) {
      for (const [key, resource] of choices[rest % choices.length]?.contents ?? []) changes.set(key, resource);
      rest = Math.floor(rest / choices.length);
    }
    return sharedBranch(this.#base, changes);
  }
}

/** The contents of several sets under some keys, the base's first: each choice once. */
function choicesOf(sets: readonly ResourceSet[], keys: Iterable<ResourceName>): readonly Choice[] {
  const [base] = sets;
  const choices: Choice[] = [];
  for (const set of sets) {
    const sum = new FingerprintSum(emptyFingerprint);
    const contents = new Map<ResourceName, Resource | undefined>();
    for (const key of keys) {
      const before = base && ResourceSets.get(base, key);
      const after = ResourceSets.get(set, key);
      if (before !== undefined) sum.subtract(fingerprintOf(key, before.version));
      if (after !== undefined) sum.add(fingerprintOf(key, after.version));
      contents.set(key, after);
    }
    const difference = sum.value;
    if (!choices.some((one) => equalFingerprints(one.difference, difference))) choices.push({ contents, difference });
  }
  return choices;
}

/** A large change: as in the stages, all added, all changed and all removed resources are chosen together. */
function together(sets: readonly ResourceSet[], keys: Iterable<ResourceName>): readonly (readonly Choice[])[] {
  const [after, before] = sets as [ResourceSet, ResourceSet];
  const groups: Record<"comes" | "changes" | "goes", ResourceName[]> = { comes: [], changes: [], goes: [] };
  for (const key of keys) {
    if (ResourceSets.get(before, key) === undefined) groups.comes.push(key);
    else groups[ResourceSets.get(after, key) === undefined ? "goes" : "changes"].push(key);
  }
  return Object.values(groups)
    .filter(({ length }) => length > 0)
    .map((group) => choicesOf(sets, group));
}
