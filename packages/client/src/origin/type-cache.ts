import { canonicalName, globOf, type ResourceName, type ResourceType, type XdskitError } from "@xdskit/api";
import {
  type BadResource,
  type ClientTypeStatus,
  type ReceivedResource,
  type ResourceError,
  type ResourceUpdate,
  statusCode,
} from "@xdskit/protocol";
import type { Collection } from "../contract/xds-client.js";
import { absentError, failingError, rejectedError } from "../errors/client-errors.js";
import { changedCollection, wholeCollection } from "../watchers/collection-change.js";
import type { WatcherDelivery } from "../watchers/delivery.js";
import { differencesFrom } from "./cache-differences.js";
import { CachedResources, namesAndAliases } from "./cached-resources.js";
import { Entry, type Reason } from "./entry.js";

/** A delivery to a watcher of any kind. */
export type AnyDelivery = Pick<WatcherDelivery<never>, "busy" | "giveUp">;

type AbsentFor = Parameters<typeof absentError>[2];

/** A `CollectionChange` that is being built. */
interface CachedChange {
  readonly upserted: ReceivedResource[];
  readonly removed: ResourceName[];
  readonly added: Set<ResourceName>;
}

const noChange = (): CachedChange => ({ upserted: [], removed: [], added: new Set() });

/** All cached resources of one type, and their watchers. Names are canonical. */
export class TypeCache {
  readonly type: ResourceType;
  readonly #cached = new CachedResources();
  readonly resources = this.#cached.byName;
  readonly #singles = new Map<ResourceName, Entry<ReceivedResource>>();
  readonly #collections = new Map<ResourceName, Entry<Collection>>();
  /** By name or alias: the values that watchers of single names have. */
  readonly #given = new Map<ResourceName, ReceivedResource>();
  /** The members of each collection that is watched and was answered. */
  readonly #members = new Map<ResourceName, Map<ResourceName, ReceivedResource>>();
  /** Collections for which the last answer brought an error. */
  readonly #failed = new Set<Entry<Collection>>();
  /** One reason for all names that are absent without their own error. */
  readonly #absences = new Map<AbsentFor, Reason>();
  #isWhole = false;
  #revision = 0;
  /** Watchers were told that the server is away. */
  #wasAway = false;
  readonly #givenOf = (name: ResourceName) => this.#given.get(name);
  readonly #allOf = (name: ResourceName) => wholeOf(this.#members.get(name));
  readonly #everyEntry = () => [...this.#singles.values(), ...this.#collections.values()];

  constructor(type: ResourceType) {
    this.type = type;
  }

  #collectionsOf(name: ResourceName) {
    const glob = this.#collections.size === 0 ? undefined : globOf(name);
    return [this.#collections.get("*"), glob === undefined ? undefined : this.#collections.get(glob)].filter(isThere);
  }

  #absenceFor(reason: AbsentFor, error: ResourceError | undefined): Reason {
    if (error !== undefined) return absence(this.type, reason, error);
    const shared = this.#absences.get(reason) ?? absence(this.type, reason, undefined);
    this.#absences.set(reason, shared);
    return shared;
  }

  #tellCollections(changes: ReadonlyMap<Entry<Collection>, CachedChange>, deliveries: AnyDelivery[]): void {
    for (const [entry, change] of changes) {
      let content = this.#members.get(entry.name);
      if (content === undefined) {
        content = entry.name === "*" ? this.resources : membersOf(this.resources, entry.name);
        this.#members.set(entry.name, content);
        // Some of its resources may be cached because others asked for them by name.
        entry.valueChanged(wholeCollection(content));
      } else {
        if (content !== this.resources) {
          for (const resource of change.upserted) content.set(canonicalName(resource.name), resource);
          for (const name of change.removed) content.delete(name);
        }
        entry.valueChanged(changedCollection(content, change));
      }
      for (const each of entry.deliveries) deliveries.push(each);
    }
  }

  /** The watched names and collections. */
  get wanted(): readonly ResourceName[] {
    return [...this.#singles.keys(), ...this.#collections.keys()];
  }

  get isWatched(): boolean {
    return this.#singles.size + this.#collections.size > 0;
  }

  /** Whether a watched name has no answer yet. Costs the watched names. */
  get isLacking(): boolean {
    return this.#everyEntry().some(({ isAnswered }) => !isAnswered);
  }

  /** Rises with each change of the cache. */
  get revision(): number {
    return this.#revision;
  }

  /** `isNew`: it had no watcher before. */
  single(name: ResourceName): { readonly entry: Entry<ReceivedResource>; readonly isNew: boolean } {
    const known = this.#singles.get(name);
    if (known !== undefined) return { entry: known, isNew: false };
    const resource = this.#cached.find(name);
    if (resource !== undefined) this.#given.set(name, resource);
    const entry = new Entry(name, this.#givenOf);
    this.#singles.set(name, entry);
    return { entry, isNew: true };
  }

  collection(name: ResourceName): { readonly entry: Entry<Collection>; readonly isNew: boolean } {
    const known = this.#collections.get(name);
    if (known !== undefined) return { entry: known, isNew: false };
    // Resources of an earlier run were complete; names that others asked for are only a part.
    if (this.#isWhole) this.#members.set(name, name === "*" ? this.resources : membersOf(this.resources, name));
    const entry = new Entry<Collection>(name, this.#allOf);
    this.#collections.set(name, entry);
    return { entry, isNew: true };
  }

  /** The last watcher left: drops the resources that no one else watches. */
  drop(entry: Pick<Entry<never>, "name">): void {
    const { name } = entry;
    const isSingle = (this.#singles.get(name) as unknown) === entry;
    if (isSingle) this.#singles.delete(name);
    else {
      this.#collections.delete(name);
      this.#members.delete(name);
    }
    const isWanted = (resource: ReceivedResource) =>
      this.#collectionsOf(canonicalName(resource.name)).length > 0 ||
      namesAndAliases(resource).some((each) => this.#singles.has(each));
    const found = isSingle ? [this.#given.get(name)].filter(isThere) : [...this.resources.values()];
    if (isSingle) this.#given.delete(name);
    for (const resource of found) {
      if (isWanted(resource)) continue;
      for (const each of this.#cached.remove(canonicalName(resource.name))) this.#given.delete(each);
      this.#revision += 1;
    }
    if (this.resources.size === 0) this.#isWhole = false;
  }

  /** Takes resources of an earlier run. No watcher is told: there is none yet. */
  hold(kept: readonly ReceivedResource[], isWhole: boolean): void {
    this.#isWhole = isWhole;
    for (const resource of kept) this.#cached.put(resource);
    this.#revision += 1;
  }

  /** Takes a whole update, and then tells the watchers; returns those that were told. */
  apply({ upserted, removed, absent, failing }: ResourceUpdate): readonly AnyDelivery[] {
    const deliveries: AnyDelivery[] = [];
    const changed = new Map<Entry<ReceivedResource>, ReceivedResource>();
    const gone = new Map<Entry<ReceivedResource>, readonly [error: Reason, lapsed: boolean]>();
    const changes = new Map<Entry<Collection>, CachedChange>();
    const changeOf = (entry: Entry<Collection>) => {
      const change = changes.get(entry) ?? noChange();
      changes.set(entry, change);
      return change;
    };
    this.#revision += 1;
    for (const resource of upserted) {
      const canonical = canonicalName(resource.name);
      const isNew = !this.resources.has(canonical);
      this.#cached.put(resource);
      for (const name of namesAndAliases(resource)) {
        const entry = this.#singles.get(name);
        // A resource with this name goes before one with this alias.
        if (entry === undefined || this.#cached.find(name) !== resource) continue;
        this.#given.set(name, resource);
        changed.set(entry, resource);
      }
      for (const entry of this.#collectionsOf(canonical)) {
        const change = changeOf(entry);
        change.upserted.push(resource);
        if (isNew) change.added.add(canonical);
      }
    }
    for (const { name: written, reason, ...more } of [...removed, ...absent]) {
      const name = canonicalName(written);
      const wasThere = this.resources.has(name);
      const error = "error" in more ? more.error : undefined;
      for (const each of this.#cached.remove(name)) {
        this.#given.delete(each);
        const entry = this.#singles.get(each);
        if (entry !== undefined) gone.set(entry, [this.#absenceFor(reason, error), reason === "ttl"]);
      }
      if (wasThere) for (const entry of this.#collectionsOf(name)) changeOf(entry).removed.push(name);
      const collection = this.#collections.get(name);
      if (collection === undefined || this.#members.has(name)) continue;
      // The server says that there is nothing, so the collection is empty.
      if (reason === "told" && (error === undefined || error.code === statusCode.notFound)) changeOf(collection);
      else collection.trouble(absentError(this.type, name, reason, error), true);
    }
    for (const [entry, resource] of changed) {
      entry.valueChanged(resource);
      for (const each of entry.deliveries) deliveries.push(each);
    }
    for (const [entry, [error, lapsed]] of gone) {
      entry.gone(error, lapsed);
      for (const each of entry.deliveries) deliveries.push(each);
    }
    this.#tellCollections(changes, deliveries);
    const beside = new Map<Entry<Collection>, ResourceError>();
    for (const error of failing) {
      const name = canonicalName(error.name);
      const single = this.#singles.get(name);
      single?.trouble(failingError(this.type, error), true);
      for (const each of single?.deliveries ?? []) deliveries.push(each);
      // A watcher of a collection hears the first error.
      const own = this.#collections.get(name);
      for (const entry of own === undefined ? this.#collectionsOf(name) : [own])
        if (!beside.has(entry)) beside.set(entry, error);
    }
    for (const [entry, error] of beside) {
      entry.trouble(failingError(this.type, error), true);
      this.#failed.add(entry);
      for (const each of entry.deliveries) deliveries.push(each);
    }
    return deliveries;
  }

  /**
   * The server answers. Call the returned function once the answer was taken: it tells collections without resources
   * that they are empty.
   */
  responded(): () => void {
    this.recovered();
    this.#failed.clear();
    const asked = [...this.#collections.values()].filter(({ name }) => !this.#members.has(name));
    return () => {
      const isUnanswered = (entry: Entry<Collection>) =>
        this.#collections.get(entry.name) === entry && !this.#members.has(entry.name);
      const empty = asked.filter((entry) => isUnanswered(entry) && !this.#failed.has(entry));
      this.#tellCollections(new Map(empty.map((entry) => [entry, noChange()])), []);
    };
  }

  /** The server is back. */
  recovered(): void {
    if (this.#wasAway) for (const entry of this.#everyEntry()) entry.recovered();
    this.#wasAway = false;
  }

  /** The whole type has a problem. */
  trouble(error: XdskitError, isAnswer: boolean): void {
    this.#wasAway ||= !isAnswer;
    for (const entry of this.#everyEntry()) entry.trouble(error, isAnswer);
  }

  rejected(message: string, bad: readonly BadResource[]): void {
    if (bad.length === 0) this.trouble(rejectedError(this.type, message, undefined), true);
    const whole = rejectedError(this.type, message, bad.length === 1 ? bad[0] : undefined);
    const notified = new Set<Entry<Collection>>();
    for (const each of bad) {
      const name = each.name === undefined ? undefined : canonicalName(each.name);
      if (name !== undefined) this.#singles.get(name)?.trouble(rejectedError(this.type, message, each), true);
      // The name is unknown, so the watchers of the whole type are told.
      for (const entry of name === undefined ? this.#collections.values() : this.#collectionsOf(name))
        notified.add(entry);
    }
    for (const entry of notified) entry.trouble(whole, true);
  }

  /** The differences between the cache and another server's resources. */
  differences(status: ClientTypeStatus): ResourceUpdate | undefined {
    const isUnanswered = (name: ResourceName) =>
      (name === "*" ? this.#collections : this.#singles).get(name)?.isAnswered === false;
    const update = differencesFrom(this.#cached, status, isUnanswered);
    return update && { type: this.type, ...update };
  }
}

/** A top-level function, so that the reason keeps nothing of its update alive. */
function absence(type: ResourceType, reason: AbsentFor, reported: ResourceError | undefined): Reason {
  return (name) => absentError(type, name, reason, reported);
}

function membersOf(resources: ReadonlyMap<ResourceName, ReceivedResource>, glob: ResourceName) {
  return new Map([...resources].filter(([name]) => globOf(name) === glob));
}

function wholeOf(content: ReadonlyMap<ResourceName, ReceivedResource> | undefined) {
  return content && wholeCollection(content);
}

function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
