import {
  globOf,
  isCollection,
  perObject,
  type Reference,
  type Resource,
  type ResourceName,
  type TypeUrl,
} from "@xdskit/api";
import { changeBetween, type Difference } from "../sets/change.js";
import { emptyResourceSet, type ResourceSet } from "../sets/resource-set.js";
import { calledName } from "../sets/variant-index.js";
import { isNamedBy } from "./named-by.js";
import { emptySnapshot, type Snapshot } from "./snapshot.js";

/** Whether a snapshot has a resource of this name, in any variant. A collection is always there: it may be empty. */
export function hasNamed({ sets }: Pick<Snapshot, "sets">, reference: Reference): boolean {
  return isCollection(reference) || hasName(sets.get(reference.type), reference.name);
}

function hasName(set: ResourceSet | undefined, name: ResourceName): boolean {
  return (set?.named(name).length ?? 0) > 0;
}

/** The change of the dangling names in the newest snapshot. */
export interface DanglingChange {
  readonly appeared: readonly Reference[];
  /** Names that exist now, or that nothing names any more. */
  readonly gone: readonly Reference[];
}

/**
 * The names that a snapshot's resources refer to and that the snapshot lacks, kept up to date at the cost of each
 * change. It remembers the names in each resource, so that a removal needs no search.
 */
export interface DanglingNames {
  /** Takes the snapshot that follows. */
  update(next: Snapshot): DanglingChange;
  has(reference: Reference): boolean;
  /** The resources that name it; their contents may be outdated. */
  referrers(reference: Reference): Iterable<Resource>;
  /** Those that name it, or a collection that it is in. */
  users(reference: Reference): readonly Resource[];
  /** Those that still name it after a change; `after` says what the change makes of each, and is asked one by one. */
  stillNaming(reference: Reference, after: (referrer: Resource) => Resource | undefined): Iterable<Resource>;
  readonly size: number;
  /**
   * Returns a function that gives the changes since its last call; at its first, all dangling names have appeared. For
   * several readers of one index.
   */
  follow(): () => DanglingChange;
}

/** Dangling names, for readers of an index that another caller keeps up to date. */
export type FollowedNames = Omit<DanglingNames, "update">;

/** The index of a snapshot that no other follows. Costs all its references when it is first asked for. */
export const namesIn = perObject((snapshot: Snapshot): FollowedNames => {
  const names = createDanglingNames();
  names.update(snapshot);
  return names;
});

/** Begins with a snapshot that has nothing. */
export function createDanglingNames(): DanglingNames {
  let current = emptySnapshot();
  const types = new Map<TypeUrl, NamesOfType>();
  const readers: UnreadChanges[] = [];

  function of(type: TypeUrl): NamesOfType {
    let names = types.get(type);
    if (names === undefined) {
      names = new NamesOfType();
      types.set(type, names);
    }
    return names;
  }

  const referrers = ({ type, name }: Reference) => types.get(type)?.referrers(name) ?? [];

  return {
    update(next) {
      const before = current;
      current = next;
      for (const type of new Set([...before.sets.keys(), ...next.sets.keys()])) {
        const names = of(type);
        for (const { before: old, after } of differencesBetween(before.sets.get(type), next.sets.get(type))) {
          if (old !== undefined) for (const { type, name } of old.references) of(type).forget(name, old);
          if (after !== undefined) for (const { type, name } of after.references) of(type).note(name, after);
          if (old === undefined && after !== undefined) names.exists(calledName(after), 1);
          else if (old !== undefined && after === undefined) names.exists(calledName(old), -1);
        }
      }
      const appeared: Reference[] = [];
      const gone: Reference[] = [];
      for (const [type, names] of types) names.settle(type, next.sets.get(type), appeared, gone);
      for (const reader of readers) reader.note({ appeared, gone });
      return { appeared, gone };
    },
    has: ({ type, name }) => types.get(type)?.dangling.has(name) ?? false,
    referrers,
    users: ({ type, name }) => [
      ...new Set([name, ...collectionsOf(name)].flatMap((each) => [...referrers({ type, name: each })])),
    ],
    *stillNaming(reference, after) {
      for (const each of referrers(reference)) {
        const referrer = after(each);
        if (referrer !== undefined && isNamedBy(referrer, reference)) yield referrer;
      }
    },
    get size() {
      return [...types.values()].reduce((sum, { dangling }) => sum + dangling.size, 0);
    },
    follow() {
      const reader = new UnreadChanges();
      const appeared = [...types].flatMap(([type, { dangling }]) => Array.from(dangling, (name) => ({ type, name })));
      reader.note({ appeared, gone: [] });
      readers.push(reader);
      return () => reader.take();
    },
  };
}

/** The changes since the last read. */
class UnreadChanges {
  #appeared = new Map<string, Reference>();
  #gone = new Map<string, Reference>();

  note({ appeared, gone }: DanglingChange): void {
    for (const each of gone) if (!this.#appeared.delete(idOf(each))) this.#gone.set(idOf(each), each);
    for (const each of appeared) if (!this.#gone.delete(idOf(each))) this.#appeared.set(idOf(each), each);
  }

  take(): DanglingChange {
    const change = { appeared: [...this.#appeared.values()], gone: [...this.#gone.values()] };
    this.#appeared = new Map();
    this.#gone = new Map();
    return change;
  }
}

/** The names of one type that are named, and which of them dangle. */
class NamesOfType {
  readonly dangling = new Set<ResourceName>();
  /** Most names are named once; the others by the keys of those that name them. */
  readonly #named = new Map<ResourceName, Resource | Map<string, Resource>>();
  /** Names that may have changed since they were last settled. */
  readonly #touched = new Set<ResourceName>();
  /** The number of members of each collection; not counted before a resource names a collection. */
  #members: Map<ResourceName, number> | undefined;

  note(name: ResourceName, referrer: Resource): void {
    this.#touched.add(name);
    const known = this.#named.get(name);
    if (known === undefined || isSame(known, referrer)) this.#named.set(name, referrer);
    else if (known instanceof Map) known.set(keyOfReferrer(referrer), referrer);
    else this.#named.set(name, new Map([known, referrer].map((each) => [keyOfReferrer(each), each])));
  }

  forget(name: ResourceName, referrer: Resource): void {
    this.#touched.add(name);
    const known = this.#named.get(name);
    if (known instanceof Map) known.delete(keyOfReferrer(referrer));
    if (known instanceof Map ? known.size === 0 : isSame(known, referrer)) this.#named.delete(name);
  }

  /** A name came, or went. */
  exists(name: ResourceName, by: 1 | -1): void {
    if (this.#named.has(name)) this.#touched.add(name);
    if (this.#members === undefined) return;
    for (const collection of collectionsOf(name)) {
      count(this.#members, collection, by);
      if (this.#named.has(collection)) this.#touched.add(collection);
    }
  }

  settle(type: TypeUrl, set: ResourceSet | undefined, appeared: Reference[], gone: Reference[]): void {
    for (const name of this.#touched) {
      const dangles = this.#named.has(name) && !this.#isThere({ type, name }, set);
      if (dangles === this.dangling.has(name)) continue;
      if (dangles) this.dangling.add(name);
      else this.dangling.delete(name);
      (dangles ? appeared : gone).push({ type, name });
    }
    this.#touched.clear();
  }

  referrers(name: ResourceName): Iterable<Resource> {
    const known = this.#named.get(name);
    return known === undefined ? [] : known instanceof Map ? known.values() : [known];
  }

  #isThere(reference: Reference, set: ResourceSet | undefined): boolean {
    if (!isCollection(reference)) return hasName(set, reference.name);
    if (this.#members === undefined) {
      this.#members = new Map();
      for (const resource of set ?? [])
        for (const each of collectionsOf(calledName(resource))) count(this.#members, each, 1);
    }
    return this.#members.has(reference.name);
  }
}

function* differencesBetween(from: ResourceSet | undefined, to: ResourceSet | undefined): Iterable<Difference> {
  if (from === to) return;
  if (from === undefined || from.size === 0) {
    // The first snapshot is compared with none, and no such change is kept for others.
    for (const after of to ?? []) yield { key: after.key, before: undefined, after };
    return;
  }
  yield* changeBetween(from, to ?? emptyResourceSet(from.type)).differences.values();
}

function idOf({ type, name }: Reference): string {
  return `${type} ${name}`;
}

function keyOfReferrer({ type, key }: Resource): string {
  return `${type.typeUrl} ${key}`;
}

function isSame(known: Resource | Map<string, Resource> | undefined, { type, key }: Resource): boolean {
  return known !== undefined && !(known instanceof Map) && known.type === type && known.key === key;
}

function count(members: Map<ResourceName, number>, collection: ResourceName, by: 1 | -1): void {
  const left = (members.get(collection) ?? 0) + by;
  if (left > 0) members.set(collection, left);
  else members.delete(collection);
}

/** The collections that a name is in: its glob, or of the old style all, and all below each part of it. */
function* collectionsOf(name: ResourceName): Iterable<ResourceName> {
  const glob = globOf(name);
  if (glob !== undefined) yield glob;
  yield "*";
  for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1)) {
    yield `${name.slice(0, slash)}/*`;
  }
}
