import { type Clock, getOrInsert, type ResourceName, type ResourceType, type XdskitError } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { Collection, ServerStatus } from "../contract/xds-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { RetainedResources } from "../options/client-options.js";
import { mergeCollections } from "../watchers/collection-change.js";
import { type Watcher, type WatcherContext, WatcherDelivery } from "../watchers/delivery.js";
import { holdUp } from "../watchers/hold-up.js";
import type { Entry } from "./entry.js";
import { type MakeUpstream, type RetainedVersion, Servers, type ServersOwner } from "./servers.js";
import { type AnyDelivery, TypeCache } from "./type-cache.js";

export interface OriginOptions {
  /** The number of servers. */
  readonly servers: number;
  readonly make: MakeUpstream;
  readonly clock: Clock;
  readonly watcherMs: number;
  /** Ask the next server even if all wanted resources are cached. */
  readonly isEager: boolean;
  readonly acknowledge: ((update: ResourceUpdate, server: string) => Promise<void>) | undefined;
  emit(event: () => ClientEvent): void;
}

/** The servers of one list, their resources and the watchers: shared by all authorities with that list. */
export class Origin {
  readonly #options: OriginOptions;
  readonly #caches = new Map<ResourceType, TypeCache>();
  readonly #retainedVersions = new Map<ResourceType, RetainedVersion>();
  /** Types that were answered in this turn. */
  readonly #answered = new Map<ResourceType, () => void>();
  #closed = false;
  readonly #servers: Servers;
  readonly #contextsOf = new Map<ResourceType, WatchContext>();

  constructor(options: OriginOptions) {
    this.#options = options;
    this.#servers = new Servers(options.servers, options.make, this.#ownerOfServers(options));
  }

  /** The origin's side for its servers. */
  #ownerOfServers({ isEager, acknowledge, emit }: OriginOptions): ServersOwner {
    return {
      wanted: (of) =>
        this.#of(of).flatMap(({ type, wanted }) => (wanted.length === 0 ? [] : [[type, wanted] as const])),
      current: (of) =>
        this.#of(of).flatMap(({ type, resources }) =>
          resources.size === 0
            ? []
            : [[type, [...resources.values()], this.#retainedVersions.get(type) ?? unknownVersion] as const],
        ),
      revision: (of) => this.#of(of).reduce((sum, cache) => sum + cache.revision, 0),
      isWatched: (type) => this.#of(type).some(({ isWatched }) => isWatched),
      needsAnother: (type) => this.#of(type).some((cache) => (isEager ? cache.isWatched : cache.isLacking)),
      responded: (type) => {
        const taken = this.#caches.get(type)?.responded();
        if (taken === undefined) return;
        this.#answered.set(type, taken);
        if (this.#answered.size > 1) return;
        // After the update and the rejection of the same answer, if there are any.
        queueMicrotask(() => {
          for (const done of this.#answered.values()) done();
          this.#answered.clear();
        });
      },
      update: (update, server) => this.#take(update, server),
      rejected: (type, message, bad) => {
        this.#answered.delete(type);
        this.#caches.get(type)?.rejected(message, bad);
      },
      trouble: (type, error, isAnswer) => {
        for (const cache of this.#of(type)) cache.trouble(error, isAnswer);
      },
      recovered: () => {
        for (const cache of this.#of(undefined)) cache.recovered();
      },
      adopt: (status, server) => {
        for (const each of status) {
          const update = this.#caches.get(each.type)?.differences(each);
          if (update !== undefined) void this.#take(update, server);
        }
      },
      acknowledge,
      emit,
    };
  }

  #cacheOf(type: ResourceType) {
    const cache = getOrInsert(this.#caches, type, () => new TypeCache(type));
    return cache;
  }

  #of(type: ResourceType | undefined) {
    return type === undefined
      ? [...this.#caches.values()]
      : [this.#caches.get(type)].filter((cache) => cache !== undefined);
  }

  #taken(type: ResourceType, deliveries: readonly AnyDelivery[]): Promise<void> | undefined {
    const { clock, watcherMs } = this.#options;
    return holdUp(deliveries, clock, watcherMs, () => {
      const error = new Error(`the watcher's promise did not settle within ${watcherMs} ms`);
      this.#options.emit(() => ({ kind: "watcher-failed", type, error }));
    });
  }

  #take(update: ResourceUpdate, server: string): Promise<void> | undefined {
    this.#options.emit(() => ({ kind: "updated", server, update }));
    const deliveries = this.#cacheOf(update.type).apply(update);
    if (update.removed.some(({ reason }) => reason === "ttl")) this.#servers.reconsider();
    return this.#taken(update.type, deliveries);
  }

  #contextOf(type: ResourceType): WatchContext {
    const known = this.#contextsOf.get(type);
    if (known !== undefined) return known;
    const failed = (error: unknown) => this.#options.emit(() => ({ kind: "watcher-failed", type, error }));
    const made: WatchContext = {
      cache: this.#cacheOf(type),
      one: { merge: newestValue, failed },
      all: { merge: mergeCollections, failed },
      isClosed: () => this.#closed,
      unsubscribe: (name) => this.#servers.unsubscribe(type, [name]),
    };
    this.#contextsOf.set(type, made);
    return made;
  }

  #watch<Value>(
    context: WatchContext,
    delivery: WatcherContext<Value>,
    { entry, isNew }: { readonly entry: Entry<Value>; readonly isNew: boolean },
    watcher: Watcher<Value>,
  ): Watch {
    const { type } = context.cache;
    const made = new EntryWatch(context, entry, watcher, delivery);
    entry.join(made);
    if (isNew) this.#servers.subscribe(type, [entry.name]);
    this.#servers.reconsider();
    return made;
  }

  /** `name` is canonical. */
  watch(type: ResourceType, name: ResourceName, watcher: Watcher<ReceivedResource>): Watch {
    const context = this.#contextOf(type);
    return this.#watch(context, context.one, context.cache.single(name), watcher);
  }

  watchCollection(type: ResourceType, name: ResourceName, watcher: Watcher<Collection>): Watch {
    const context = this.#contextOf(type);
    return this.#watch(context, context.all, context.cache.collection(name), watcher);
  }

  /** Takes resources of an earlier run. Call it before the first watch. */
  hold(type: ResourceType, { resources, version, isAll, isWhole = true }: Omit<RetainedResources, "type">): void {
    this.#cacheOf(type).hold(resources, isWhole);
    this.#retainedVersions.set(type, { version, isAll });
  }

  get isConnected(): boolean {
    return this.#servers.isConnected;
  }

  status(): readonly ServerStatus[] {
    return this.#servers.status();
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#servers.close();
  }
}

const unknownVersion: RetainedVersion = { version: "" };

const newestValue = <Value>(_: Value, later: Value) => later;

/** The parts that all watches of one type share. */
interface WatchContext {
  readonly cache: TypeCache;
  readonly one: WatcherContext<ReceivedResource>;
  readonly all: WatcherContext<Collection>;
  isClosed(): boolean;
  unsubscribe(name: ResourceName): void;
}

/**
 * One watch, and the delivery to its watcher. There are as many as names, so it is a class, whose functions all share.
 */
class EntryWatch<Value> extends WatcherDelivery<Value> implements Watch {
  readonly #watching: WatchContext;
  readonly #entry: Entry<Value>;

  constructor(watching: WatchContext, entry: Entry<Value>, watcher: Watcher<Value>, delivery: WatcherContext<Value>) {
    super(watcher, delivery);
    this.#watching = watching;
    this.#entry = entry;
  }

  override cancel(): void {
    const entry = this.#entry;
    super.cancel();
    if (!entry.leave(this) || entry.isWatched || this.#watching.isClosed()) return;
    this.#watching.cache.drop(entry);
    this.#watching.unsubscribe(entry.name);
  }
}

/** A watch of a name that no server can be asked for: its watcher is told why. */
export function watchNothing(watcher: Pick<Watcher<never>, "onError">, error: XdskitError): Watch {
  const errorsOnly: Watcher<never> = { onChanged() {}, onError: (why) => watcher.onError?.(why) };
  const delivery = new WatcherDelivery<never>(errorsOnly, { merge: newestValue, failed() {} });
  delivery.error(error);
  return { cancel: () => delivery.cancel() };
}
