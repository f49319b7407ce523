import type { Resource, ResourceName, Version } from "@xdskit/api";
import { changeBetween } from "./change.js";
import { PerKey } from "./memo.js";
import {
  emptyFingerprint,
  equalFingerprints,
  type Fingerprint,
  FingerprintSum,
  fingerprintOf,
  readFingerprint,
} from "./names/fingerprint.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";
import { sharedBranch } from "./shared-branch.js";

/** So many of the sets, newest first, are mixed with each other. */
const mostMixed = 24;
/** So many mixtures of some sets are made name by name; where there are more, what comes and goes is kept together. */
const mostOfWindow = 256;
/** So many mixtures are looked at in all, */
const mostMixtures = 20_000;
/** and so many differences: nobody must wait for that. */
const mostDifferences = 20_000;

const known = new PerKey<ResourceSet, Mixtures>(8);

/**
 * The set with this version that is one of `sets` or a mixture of some: under each key it has what one of them has. So
 * it is with a client that is on its way from one to another, as far as a stage brought it. Undefined: there is none,
 * or it is not among as many as are looked at.
 *
 * `sets`: of one lineage, newest first. Costs a lookup for all but the first who asks.
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
 * The mixtures of some sets, by version. A version is a sum over the members, so that those of mixtures are sums of
 * differences, and no set is made but the one that is looked for.
 */
class Mixtures {
  /** By the lower half of the fingerprint. */
  readonly #byLow = new Map<number, { readonly window: Window; readonly index: number; readonly high: number }>();

  #differences = 0;

  constructor(all: readonly ResourceSet[]) {
    const sets = all.slice(0, mostMixed);
    // Most clients are on their way between neighbours; slow ones are brought over several changes at once.
    for (let distance = 1; distance < sets.length; distance += 1) {
      for (let from = 0; from + distance < sets.length; from += 1) {
        this.#add(new Window([sets[from] as ResourceSet, sets[from + distance] as ResourceSet]));
        // What waits for long, such as for drains, is of older ones.
        const isFew = distance > 1 && 2 ** distance <= mostOfWindow;
        if (isFew) this.#add(new Window(sets.slice(from, from + distance + 1)));
        if (this.#differences > mostDifferences) return;
      }
    }
  }

  find(wanted: Fingerprint): ResourceSet | undefined {
    const found = this.#byLow.get(wanted.low);
    return found?.high === wanted.high ? found.window.at(found.index) : undefined;
  }

  #add(window: Window): void {
    this.#differences += window.differences;
    if (this.#byLow.size + window.size > mostMixtures) return;
    for (const [index, { high, low }] of window.fingerprints().entries())
      if (!this.#byLow.has(low)) this.#byLow.set(low, { window, index, high });
  }
}

/** What some sets have under keys that are chosen together. */
interface Choice {
  readonly contents: ReadonlyMap<ResourceName, Resource | undefined>;
  /** From what the base has there. */
  readonly difference: Fingerprint;
}

/** Some sets, and what each of them has under the keys in which they differ. */
class Window {
  readonly #base: ResourceSet;
  readonly #choices: readonly (readonly Choice[])[];
  /** In how many keys they differ. */
  readonly differences: number;

  constructor(sets: readonly ResourceSet[]) {
    const [base, ...others] = sets as [ResourceSet, ...ResourceSet[]];
    this.#base = base;
    const keys = new Set<ResourceName>();
    for (const other of others) for (const key of changeBetween(base, other).differences.keys()) keys.add(key);
    this.differences = keys.size;
    // More than a pair of sets is only mixed name by name, and each name doubles the mixtures.
    if (2 ** keys.size <= mostOfWindow) this.#choices = Array.from(keys, (key) => choicesOf(sets, [key]));
    else this.#choices = sets.length === 2 ? together(sets, keys) : [];
  }

  get size(): number {
    return this.#choices.reduce((size, { length }) => size * length, 1);
  }

  /** Of all mixtures, in the order of their indexes. */
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

/** What several sets have under some keys, the base first: each choice once. */
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

/** A large change: as the stages do, all that comes, all that changes and all that goes is chosen together. */
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
