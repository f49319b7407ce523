import { canonicalName, globOf, type ResourceName, type ResourceType, type XdskitError } from "@xdskit/api";
import type { Collection, ResourceWatcher, Watch, XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";

/** Watches a collection. */
export interface MembersWatcher {
  collectionChanged(collection: Collection): void;
  /** There is no content: the origin is away, or answered with an error. */
  failed(error: XdskitError): void;
  /** The collection is not watched any more; these were its members. */
  ended(members: readonly ResourceName[]): void;
}

/** The subscriptions of one group at its origin. */
export class OriginWatches {
  readonly #client: XdsClient;
  readonly #isConnected: (type: ResourceType) => boolean;
  readonly #letGo: (type: ResourceType) => void;
  /**
   * While the origin is away, its resources are kept: a client that comes back could not get them again. Clients come
   * and go often, so one watch is kept for each name, and none of a name without a resource. By type and name.
   */
  readonly #lingering = new Map<string, { readonly type: ResourceType; readonly end: () => void }>();
  /** The number of watches of each name, by type. */
  readonly #singles = new Map<ResourceType, Map<ResourceName, number>>();
  readonly #collections = new Map<ResourceType, Map<ResourceName, number>>();
  #kept = false;
  #closed = false;
  readonly #context: NameWatchContext = {
    start: (watch) => this.#client.watch(watch.type.typeUrl, watch.name, watch),
    ended: (name, watch) => this.#nameEnded(name, watch),
    isClosed: () => this.#closed,
  };

  /** `letGo`: something of a type may not be wanted any more. */
  constructor(client: XdsClient, isConnected: (type: ResourceType) => boolean, letGo: (type: ResourceType) => void) {
    this.#client = client;
    this.#isConnected = isConnected;
    this.#letGo = letGo;
  }

  readonly isWanted = (type: ResourceType, name: ResourceName): boolean => {
    if (this.#singles.get(type)?.has(name) === true) return true;
    const watched = this.#collections.get(type);
    if (watched === undefined || watched.size === 0) return false;
    const glob = globOf(name);
    return watched.has("*") || (glob !== undefined && watched.has(glob));
  };

  /**
   * Asks for one name. After a cancel the watch ends at once; or when the origin is back if there is a resource, so
   * that it is not lost.
   */
  name(watch: NameWatch): void {
    countUp(this.#singles, watch.type, canonicalName(watch.name), 1);
    watch.start(this.#context);
  }

  #nameEnded({ type, name, isThere }: NameWatch, watch: Watch): void {
    if (this.#kept) return;
    const key = `${type.typeUrl} ${canonicalName(name)}`;
    const end = () => {
      watch.cancel();
      countUp(this.#singles, type, canonicalName(name), -1);
      this.#letGo(type);
    };
    if (this.#isConnected(type) || !isThere || this.#lingering.has(key)) end();
    else this.#lingering.set(key, { type, end });
  }

  collection(type: ResourceType, name: ResourceName, { collectionChanged, failed, ended }: MembersWatcher): () => void {
    countUp(this.#collections, type, canonicalName(name), 1);
    const members = new Set<ResourceName>();
    const watch = this.#client.watchCollection(type.typeUrl, name, {
      onChanged: (collection) => {
        for (const { name } of collection.upserted) members.add(canonicalName(name));
        for (const name of collection.removed) members.delete(canonicalName(name));
        collectionChanged(collection);
        // An empty result is worth keeping, too.
        this.#letGo(type);
      },
      onError: failed,
    });
    return () => {
      if (this.#kept) return;
      watch.cancel();
      countUp(this.#collections, type, canonicalName(name), -1);
      ended([...members]);
      this.#letGo(type);
    };
  }

  /** The origin is back, for one type or for all. */
  connected(type: ResourceType | undefined): void {
    for (const [key, each] of [...this.#lingering]) {
      if (type !== undefined && each.type !== type) continue;
      this.#lingering.delete(key);
      each.end();
    }
  }

  /** Nothing that is asked for ends before the client closes. */
  keep(): void {
    this.#kept = true;
  }

  close(): void {
    this.#kept = true;
    this.#closed = true;
    this.#lingering.clear();
  }
}

/** The parts that the watches of one group share. */
interface NameWatchContext {
  start(watch: NameWatch): Watch;
  /** The watch is not needed any more. */
  ended(name: NameWatch, watch: Watch): void;
  isClosed(): boolean;
}

/**
 * A name that a client asks for, and its watcher. There are as many as names, so it is a class, whose functions all
 * share.
 */
export abstract class NameWatch implements ResourceWatcher {
  readonly type: ResourceType;
  readonly name: ResourceName;
  #isThere = false;
  #context: NameWatchContext | undefined;
  /** Undefined before the start and after a cancel. */
  #watch: Watch | undefined;

  constructor(type: ResourceType, name: ResourceName) {
    this.type = type;
    this.name = name;
  }

  protected abstract found(received: ReceivedResource): void;
  /** The origin says that it does not exist. Other problems may pass, and are not told. */
  protected abstract absent(): void;

  /** Only `OriginWatches` calls it. */
  start(context: NameWatchContext): void {
    this.#context = context;
    this.#watch = context.start(this);
  }

  onChanged(received: ReceivedResource): void {
    this.#isThere = true;
    if (!this.isOver) this.found(received);
  }

  onError({ code }: XdskitError): void {
    this.#isThere = false;
    if (!this.isOver && code === "XDSKIT_RESOURCE_ABSENT") this.absent();
  }

  /** There is a resource. */
  get isThere(): boolean {
    return this.#isThere;
  }

  /** Nothing is told from now on. */
  protected get isOver(): boolean {
    return this.#watch === undefined || this.#context?.isClosed() === true;
  }

  cancel(): void {
    const watch = this.#watch;
    this.#watch = undefined;
    if (watch !== undefined) this.#context?.ended(this, watch);
  }
}

/** Counts up or down, and drops a count of zero. */
function countUp(
  types: Map<ResourceType, Map<ResourceName, number>>,
  type: ResourceType,
  name: ResourceName,
  by: 1 | -1,
): void {
  const counts = types.get(type) ?? new Map<ResourceName, number>();
  types.set(type, counts);
  const now = (counts.get(name) ?? 0) + by;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
}
