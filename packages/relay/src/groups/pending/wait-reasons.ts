import { getOrInsert, maxNamesKept, type Reference, type Resource } from "@xdskit/api";
import { type FollowedNames, hasNamed, namesIn, type Snapshot } from "@xdskit/protocol";
import { dropOldest } from "@xdskit/server";
import { changeKey, comingAt, isRemoved, type OriginChange, waitKeysAt } from "./origin-change.js";

export interface WaitReasonsOptions {
  /** The resources that are served now. During the start nothing is served yet: those that will be. */
  snapshot(): Snapshot | undefined;
  /** The index of what is served. Costs all of it at the first call: most origins never need it. */
  names(): FollowedNames | undefined;
  /** Whether a name that is missing now may come soon. */
  mayCome(reference: Reference): boolean;
  /** Whether the origin has said of a name that it asked for that it does not exist. */
  isAbsent?(reference: Reference): boolean;
}

/** A change that waits, or may have to. */
export interface WaitingChange extends OriginChange {
  /** The names that are new and were missing when the change came. */
  readonly missing: readonly Reference[];
}

const noReferences: readonly Reference[] = [];

/** Finds what changes of an origin must wait for, by the names in what is served and in what waits. */
export class WaitReasons {
  readonly #options: WaitReasonsOptions;
  /**
   * Names that did not come in time. No change waits for them again: names that clients ask for come and go with the
   * clients.
   */
  readonly #vain = new Set<string>();

  constructor(options: WaitReasonsOptions) {
    this.#options = options;
  }

  #namesIn(snapshot: Snapshot): FollowedNames {
    return this.#options.names() ?? namesIn(snapshot);
  }

  /** The names in a resource for which it must wait: those that are new, and may come. */
  missingOf(resource: Resource): readonly Reference[] {
    let served: Snapshot | undefined;
    let missing: Reference[] | undefined;
    for (const reference of resource.references) {
      if (!this.#options.mayCome(reference)) continue;
      served ??= this.#options.snapshot();
      if (served === undefined) return noReferences;
      if (hasNamed(served, reference) || this.#vain.has(changeKey(reference.type, reference.name))) continue;
      missing ??= [];
      missing.push(reference);
    }
    if (served === undefined || missing === undefined) return noReferences;
    // Served resources already lack some of these names, perhaps the old content of this one: they are not new.
    const names = this.#namesIn(served);
    return missing.filter((each) => !names.has(each));
  }

  /** The candidates that name a missing resource which does not come with them. */
  incomplete(candidates: ReadonlyMap<string, WaitingChange>): Set<string> {
    const served = this.#options.snapshot();
    const staying = new Set<string>();
    const namedBy = new Map<string, string[]>();
    for (const [key, { missing }] of candidates) {
      for (const reference of missing) {
        if (served !== undefined && hasNamed(served, reference)) continue;
        if (this.#options.isAbsent?.(reference) === true) continue;
        const coming = comingAt(candidates, changeKey(reference.type, reference.name));
        if (coming === undefined) staying.add(key);
        else {
          getOrInsert(namedBy, coming, () => []).push(key);
        }
      }
    }
    // A change that waits is missing for the resources that name it. The set grows during the loop.
    for (const key of staying) for (const by of namedBy.get(key) ?? []) staying.add(by);
    return staying;
  }

  /**
   * The removals of resources that are still named; `stays` tells whether a resource that names one stays, by its
   * `changeKey`.
   */
  stillNamed(candidates: ReadonlyMap<string, WaitingChange>, stays: (place: string) => boolean): Set<string> {
    const served = this.#options.snapshot();
    const staying = new Set<string>();
    if (served === undefined) return staying;
    let names: FollowedNames | undefined;
    for (const [key, { type, name, resource }] of candidates) {
      if (resource !== undefined || served.of(type).named(name).length === 0) continue;
      const staysNow = (one: Resource) => (stays(changeKey(one.type.typeUrl, one.key)) ? one : undefined);
      const reference = { type: type.typeUrl, name };
      names ??= this.#namesIn(served);
      const [referrer] = names.stillNaming(reference, staysNow);
      if (referrer !== undefined) staying.add(key);
    }
    // A resource that stays keeps everything that it names. The set grows during the loop.
    for (const key of staying) {
      const removal = candidates.get(key);
      const before = removal && served.of(removal.type).get(removal.name);
      for (const reference of before?.references ?? []) {
        const below = changeKey(reference.type, reference.name);
        if (isRemoved(candidates, below)) for (const each of waitKeysAt(below)) staying.add(each);
      }
    }
    return staying;
  }

  /** Says of a removal that it goes, `why`, although something still names it. */
  stillNamedText({ type, name }: OriginChange, why: string): string {
    const [referrer] = this.#options.names()?.referrers({ type: type.typeUrl, name }) ?? [];
    const by = referrer === undefined ? "something" : `${referrer.type.name} ${JSON.stringify(referrer.name)}`;
    return `${why}, and ${by} still names it: it goes now`;
  }

  /**
   * The time of a change is over: the names that it still lacks and that no waiting change brings. No change waits for
   * them from now on.
   */
  giveUp({ missing }: WaitingChange, waiting: ReadonlyMap<string, OriginChange>): readonly Reference[] {
    const served = this.#options.snapshot();
    const lacking = missing.filter((each) => {
      const isOnItsWay = comingAt(waiting, changeKey(each.type, each.name)) !== undefined;
      return !isOnItsWay && !(served !== undefined && hasNamed(served, each));
    });
    for (const { type, name } of lacking) dropOldest(this.#vain.add(changeKey(type, name)), maxNamesKept);
    return lacking;
  }

  /** Changes wait again for the names of these resources. */
  came(changes: readonly OriginChange[]): void {
    if (this.#vain.size === 0) return;
    for (const { type, name, resource } of changes)
      if (resource !== undefined) this.#vain.delete(changeKey(type.typeUrl, name));
  }
}
