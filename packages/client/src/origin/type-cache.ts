import { canonicalName, globOf, type ResourceName, type ResourceType, type XdskitError } from "@xdskit/api";
import {
  type BadResource,
  type ClientTypeStatus,
  type ReceivedResource,
  type ResourceError,
  type ResourceUpdate,
  statusCode,
} from "@xdskit/protocol";
import { absentError, failingError, rejectedError } from "../client-errors.js";
import { changedCollection, wholeCollection } from "../watchers/collection-change.js";
import type { Delivery } from "../watchers/delivery.js";
import type { Collection } from "../xds-client.js";
import { type Entry, type Reason, WatchedEntry } from "./entry.js";

/** A delivery to whoever watches, whatever it watches. */
export type AnyDelivery = Pick<Delivery<never>, "busy" | "giveUp">;

/** All of one type that is there, and those who watch it. Names are canonical. */
export interface TypeCache {
  readonly type: ResourceType;
  readonly resources: ReadonlyMap<ResourceName, ReceivedResource>;
  /** What is asked for: the names and collections that are watched. */
  readonly wanted: readonly ResourceName[];
  readonly isWatched: boolean;
  /** Something is watched of which nothing is known. Costs what is watched. */
  readonly isLacking: boolean;
  /** Rises with each change of what is there. */
  readonly revision: number;
  /** `isNew`: nobody watched it before. */
  single(name: ResourceName): { readonly entry: Entry<ReceivedResource>; readonly isNew: boolean };
  collection(name: ResourceName): { readonly entry: Entry<Collection>; readonly isNew: boolean };
  /** Nobody watches this any more: what is there for its sake alone is dropped. */
  drop(entry: Pick<Entry<never>, "name">): void;
  /** Takes in what a program kept. No watcher is told: there is none yet. */
  hold(resources: readonly ReceivedResource[], isWhole: boolean): void;
  /** Takes in an update whole, and then tells the watchers; returns those that were told. */
  apply(update: ResourceUpdate): readonly AnyDelivery[];
  /** The server answers: what it returns is called once the answer is taken in, and says of collections that nothing came for that they are empty. */
  responded(): () => void;
  /** The server is there again. */
  recovered(): void;
  /** Something is wrong with all of the type. */
  trouble(error: XdskitError, isAnswer: boolean): void;
  rejected(message: string, bad: readonly BadResource[]): void;
  /** What differs between what is there and what another server gave. */
  differences(status: ClientTypeStatus): ResourceUpdate | undefined;
}

type AbsentFor = Parameters<typeof absentError>[2];

/** A `CollectionChange` in the making. */
interface Change {
  readonly upserted: ReceivedResource[];
  readonly removed: ResourceName[];
  readonly added: Set<ResourceName>;
}

export function createTypeCache(type: ResourceType): TypeCache {
  const resources = new Map<ResourceName, ReceivedResource>();
  /** Alias → name. */
  const byAlias = new Map<ResourceName, ResourceName>();
  const singles = new Map<ResourceName, Entry<ReceivedResource>>();
  const collections = new Map<ResourceName, Entry<Collection>>();
  /** By name or alias: what the watchers of single names have. */
  const given = new Map<ResourceName, ReceivedResource>();
  /** The members of each collection that is watched and was answered. */
  const members = new Map<ResourceName, Map<ResourceName, ReceivedResource>>();
  /** Collections that the last answer brought an error for. */
  const failed = new Set<Entry<Collection>>();
  /** Of what is absent without an error of its own: one for all names. */
  const absences = new Map<AbsentFor, Reason>();
  let held = false;
  let revision = 0;
  /** Watchers were told that the server is away. */
  let wasAway = false;

  const collectionsOf = (name: ResourceName) => {
    const glob = collections.size === 0 ? undefined : globOf(name);
    return [collections.get("*"), glob === undefined ? undefined : collections.get(glob)].filter(isThere);
  };
  const everyEntry = () => [...singles.values(), ...collections.values()];
  const namesOf = ({ name, aliases }: ReceivedResource) => [name, ...aliases].map(canonicalName);
  const isMember = (collection: ResourceName, name: ResourceName) => collection === "*" || globOf(name) === collection;

  const givenOf = (name: ResourceName) => given.get(name);
  const allOf = (name: ResourceName) => {
    const content = members.get(name);
    return content && wholeCollection(content);
  };

  /** By its name or an alias. */
  const find = (name: ResourceName) => resources.get(name) ?? resources.get(byAlias.get(name) ?? name);

  function put(resource: ReceivedResource): void {
    const name = canonicalName(resource.name);
    forgetAliases(name);
    resources.set(name, resource);
    for (const alias of resource.aliases) byAlias.set(canonicalName(alias), name);
  }
  function forgetAliases(name: ResourceName): void {
    for (const alias of (resources.get(name)?.aliases ?? []).map(canonicalName)) {
      if (byAlias.get(alias) === name) byAlias.delete(alias);
    }
  }
  /** Names for whose watchers it is gone: not those that another resource has by now. */
  function remove(name: ResourceName): readonly ResourceName[] {
    const aliases = resources.get(name)?.aliases ?? [];
    forgetAliases(name);
    resources.delete(name);
    const others = aliases.map(canonicalName).filter((alias) => alias !== name && find(alias) === undefined);
    const names = [...new Set([name, ...others])];
    for (const each of names) given.delete(each);
    return names;
  }

  function absenceFor(reason: AbsentFor, error: ResourceError | undefined): Reason {
    if (error !== undefined) return absence(type, reason, error);
    const shared = absences.get(reason) ?? absence(type, reason, undefined);
    absences.set(reason, shared);
    return shared;
  }

  function tellCollections(changes: ReadonlyMap<Entry<Collection>, Change>, told: AnyDelivery[]): void {
    for (const [entry, change] of changes) {
      let content = members.get(entry.name);
      if (content === undefined) {
        content = entry.name === "*" ? resources : membersOf(entry.name);
        members.set(entry.name, content);
        // Others may have asked for some of it by name before.
        entry.changed(wholeCollection(content));
      } else {
        if (content !== resources) {
          for (const resource of change.upserted) content.set(canonicalName(resource.name), resource);
          for (const name of change.removed) content.delete(name);
        }
        entry.changed(changedCollection(content, change));
      }
      for (const each of entry.deliveries) told.push(each);
    }
  }
  const membersOf = (glob: ResourceName) => new Map([...resources].filter(([name]) => isMember(glob, name)));

  return {
    type,
    resources,
    get wanted() {
      return [...singles.keys(), ...collections.keys()];
    },
    get isWatched() {
      return singles.size + collections.size > 0;
    },
    get isLacking() {
      return everyEntry().some(({ isAnswered }) => !isAnswered);
    },
    get revision() {
      return revision;
    },
    single(name) {
      const known = singles.get(name);
      if (known !== undefined) return { entry: known, isNew: false };
      const resource = find(name);
      if (resource !== undefined) given.set(name, resource);
      const entry = new WatchedEntry(name, givenOf);
      singles.set(name, entry);
      return { entry, isNew: true };
    },
    collection(name) {
      const known = collections.get(name);
      if (known !== undefined) return { entry: known, isNew: false };
      // What was kept from an earlier run is all that there was; what others ask for by name is a part.
      if (held) members.set(name, name === "*" ? resources : membersOf(name));
      const entry = new WatchedEntry<Collection>(name, allOf);
      collections.set(name, entry);
      return { entry, isNew: true };
    },
    drop(entry) {
      const { name } = entry;
      const isSingle = (singles.get(name) as unknown) === entry;
      if (isSingle) {
        singles.delete(name);
      } else {
        collections.delete(name);
        members.delete(name);
      }
      const isWanted = (resource: ReceivedResource) =>
        collectionsOf(canonicalName(resource.name)).length > 0 || namesOf(resource).some((each) => singles.has(each));
      const found = isSingle ? [given.get(name)].filter(isThere) : [...resources.values()];
      if (isSingle) given.delete(name);
      for (const resource of found) {
        if (isWanted(resource)) continue;
        remove(canonicalName(resource.name));
        revision += 1;
      }
      if (resources.size === 0) held = false;
    },
    hold(kept, isWhole) {
      held = isWhole;
      for (const resource of kept) put(resource);
      revision += 1;
    },
    apply({ upserted, removed, absent, failing }) {
      const told: AnyDelivery[] = [];
      const changed = new Map<Entry<ReceivedResource>, ReceivedResource>();
      const gone = new Map<Entry<ReceivedResource>, readonly [error: Reason, lapsed: boolean]>();
      const changes = new Map<Entry<Collection>, Change>();
      const changeOf = (entry: Entry<Collection>) => {
        const change = changes.get(entry) ?? { upserted: [], removed: [], added: new Set() };
        changes.set(entry, change);
        return change;
      };
      revision += 1;
      for (const resource of upserted) {
        const canonical = canonicalName(resource.name);
        const isNew = !resources.has(canonical);
        put(resource);
        for (const name of namesOf(resource)) {
          const entry = singles.get(name);
          // What has this name of its own goes before what has it as an alias.
          if (entry === undefined || find(name) !== resource) continue;
          given.set(name, resource);
          changed.set(entry, resource);
        }
        for (const entry of collectionsOf(canonical)) {
          const change = changeOf(entry);
          change.upserted.push(resource);
          if (isNew) change.added.add(canonical);
        }
      }
      for (const { name: written, reason, ...more } of [...removed, ...absent]) {
        const name = canonicalName(written);
        const wasThere = resources.has(name);
        for (const each of remove(name)) {
          const entry = singles.get(each);
          const error = "error" in more ? more.error : undefined;
          if (entry !== undefined) gone.set(entry, [absenceFor(reason, error), reason === "ttl"]);
        }
        if (wasThere) for (const entry of collectionsOf(name)) changeOf(entry).removed.push(name);
        const collection = collections.get(name);
        if (collection === undefined || members.has(name)) continue;
        const error = "error" in more ? more.error : undefined;
        // The server says that there is nothing: that is what the collection is.
        if (reason === "told" && (error === undefined || error.code === statusCode.notFound)) changeOf(collection);
        else collection.trouble(absentError(type, name, reason, error), true);
      }
      for (const [entry, resource] of changed) {
        entry.changed(resource);
        for (const each of entry.deliveries) told.push(each);
      }
      for (const [entry, [error, lapsed]] of gone) {
        entry.gone(error, lapsed);
        for (const each of entry.deliveries) told.push(each);
      }
      tellCollections(changes, told);
      const beside = new Map<Entry<Collection>, ResourceError>();
      for (const error of failing) {
        const name = canonicalName(error.name);
        const single = singles.get(name);
        single?.trouble(failingError(type, error), true);
        for (const each of single?.deliveries ?? []) told.push(each);
        // Who watches many hears of the first.
        const own = collections.get(name);
        for (const entry of own === undefined ? collectionsOf(name) : [own])
          if (!beside.has(entry)) beside.set(entry, error);
      }
      for (const [entry, error] of beside) {
        entry.trouble(failingError(type, error), true);
        failed.add(entry);
        for (const each of entry.deliveries) told.push(each);
      }
      return told;
    },
    responded() {
      this.recovered();
      failed.clear();
      const asked = [...collections.values()].filter(({ name }) => !members.has(name));
      return () => {
        const isUnheard = (entry: Entry<Collection>) =>
          collections.get(entry.name) === entry && !members.has(entry.name);
        const empty = asked.filter((entry) => isUnheard(entry) && !failed.has(entry));
        tellCollections(
          new Map(empty.map((entry) => [entry, { upserted: [], removed: [], added: new Set<ResourceName>() }])),
          [],
        );
      };
    },
    recovered() {
      if (wasAway) for (const entry of everyEntry()) entry.recovered();
      wasAway = false;
    },
    trouble(error, isAnswer) {
      wasAway ||= !isAnswer;
      for (const entry of everyEntry()) entry.trouble(error, isAnswer);
    },
    rejected(message, bad) {
      if (bad.length === 0) this.trouble(rejectedError(type, message, undefined), true);
      const whole = rejectedError(type, message, bad.length === 1 ? bad[0] : undefined);
      const told = new Set<Entry<Collection>>();
      for (const each of bad) {
        const name = each.name === undefined ? undefined : canonicalName(each.name);
        if (name !== undefined) singles.get(name)?.trouble(rejectedError(type, message, each), true);
        // Of whom it was is not known: those hear it who wait for all of the type.
        for (const entry of name === undefined ? collections.values() : collectionsOf(name)) told.add(entry);
      }
      for (const entry of told) entry.trouble(whole, true);
    },
    differences({ resources: theirs, names, states }) {
      const upserted = [...theirs.values()].filter((resource) => {
        const mine = resources.get(canonicalName(resource.name));
        return mine !== resource && (mine === undefined || !sameContent(mine, resource));
      });
      const askedFor = new Set(names.map(canonicalName));
      const there = new Set(Array.from(theirs.values(), ({ name }) => canonicalName(name)));
      const lost = [...resources.values()].filter((resource) => {
        if (there.has(canonicalName(resource.name))) return false;
        const own = namesOf(resource).filter((name) => askedFor.has(name));
        // What is asked for by name is answered by name: until then what there was stays.
        return own.length === 0 || own.some((name) => states(name) === "absent");
      });
      if (upserted.length === 0 && lost.length === 0) return undefined;
      const removed = lost.map(({ name }) => ({ name, reason: "removed" as const }));
      return { type, upserted, removed, absent: [], failing: [] };
    },
  };
}

/** Outside of all else, so that the reason keeps nothing of what it came with. */
function absence(type: ResourceType, reason: AbsentFor, told: ResourceError | undefined): Reason {
  return (name) => absentError(type, name, reason, told);
}

function sameContent(a: ReceivedResource, b: ReceivedResource): boolean {
  return a.typeUrl === b.typeUrl && Buffer.compare(a.value, b.value) === 0;
}

function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
