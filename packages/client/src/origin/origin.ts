import type { ResourceName, ResourceType, Version, XdskitError } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { ClientEvent } from "../client-event.js";
import type { HeldResources } from "../client-options.js";
import type { Clock } from "../clock.js";
import { mergeCollections } from "../watchers/collection-change.js";
import { type DeliveryContext, type Watcher, WatcherDelivery } from "../watchers/delivery.js";
import { holdUp } from "../watchers/hold-up.js";
import type { Watch } from "../watchers/watch.js";
import type { Collection, ServerStatus } from "../xds-client.js";
import type { Entry } from "./entry.js";
import { createServers, type MakeUpstream } from "./servers.js";
import { type AnyDelivery, createTypeCache, type TypeCache } from "./type-cache.js";

/** What the authorities of one list of servers share: the servers, what they gave, and those who watch it. */
export interface Origin {
  /** `name` is canonical. */
  watch(type: ResourceType, name: ResourceName, watcher: Watcher<ReceivedResource>): Watch;
  watchCollection(type: ResourceType, name: ResourceName, watcher: Watcher<Collection>): Watch;
  /** What was kept from an earlier run. Before the first watch. */
  hold(type: ResourceType, held: Pick<HeldResources, "resources" | "version" | "isWhole">): void;
  readonly isConnected: boolean;
  status(): readonly ServerStatus[];
  close(): Promise<void>;
}

export interface OriginOptions {
  /** How many servers there are. */
  readonly servers: number;
  readonly make: MakeUpstream;
  readonly clock: Clock;
  readonly watcherMs: number;
  /** The next server is asked although all that is wanted is there. */
  readonly isEager: boolean;
  readonly acknowledge: ((update: ResourceUpdate, server: string) => Promise<void>) | undefined;
  emit(event: () => ClientEvent): void;
}

export function createOrigin(options: OriginOptions): Origin {
  const { clock, watcherMs, emit } = options;
  const caches = new Map<ResourceType, TypeCache>();
  const heldVersions = new Map<ResourceType, Version>();
  /** Types that were answered in this turn. */
  const answered = new Map<ResourceType, () => void>();
  let closed = false;

  const cacheOf = (type: ResourceType) => {
    const cache = caches.get(type) ?? createTypeCache(type);
    caches.set(type, cache);
    return cache;
  };
  const of = (type: ResourceType | undefined) =>
    type === undefined ? [...caches.values()] : [caches.get(type)].filter((cache) => cache !== undefined);

  function settled(type: ResourceType, told: readonly AnyDelivery[]): Promise<void> | undefined {
    return holdUp(told, clock, watcherMs, () => {
      const error = new Error(`the watcher's promise did not settle within ${watcherMs} ms`);
      emit(() => ({ kind: "watcher-failed", type, error }));
    });
  }

  function take(update: ResourceUpdate, server: string): Promise<void> | undefined {
    emit(() => ({ kind: "updated", server, update }));
    const told = cacheOf(update.type).apply(update);
    if (update.removed.some(({ reason }) => reason === "ttl")) servers.reconsider();
    return settled(update.type, told);
  }

  const servers = createServers(options.servers, options.make, {
    wanted: () => of(undefined).flatMap(({ type, wanted }) => (wanted.length === 0 ? [] : [[type, wanted] as const])),
    held: () =>
      of(undefined).flatMap(({ type, resources }) =>
        resources.size === 0 ? [] : [[type, [...resources.values()], heldVersions.get(type) ?? ""] as const],
      ),
    get revision() {
      return of(undefined).reduce((sum, { revision }) => sum + revision, 0);
    },
    isWatched: (type) => of(type).some(({ isWatched }) => isWatched),
    needsAnother: (type) => of(type).some((cache) => (options.isEager ? cache.isWatched : cache.isLacking)),
    responded(type) {
      const taken = caches.get(type)?.responded();
      if (taken === undefined) return;
      answered.set(type, taken);
      if (answered.size > 1) return;
      // After the update and the rejection of the same answer, if there are any.
      queueMicrotask(() => {
        for (const done of answered.values()) done();
        answered.clear();
      });
    },
    update: take,
    rejected(type, message, bad) {
      answered.delete(type);
      caches.get(type)?.rejected(message, bad);
    },
    trouble(type, error, isAnswer) {
      for (const cache of of(type)) cache.trouble(error, isAnswer);
    },
    recovered() {
      for (const cache of of(undefined)) cache.recovered();
    },
    adopt(status, server) {
      for (const each of status) {
        const update = caches.get(each.type)?.differences(each);
        if (update !== undefined) void take(update, server);
      }
    },
    acknowledge: options.acknowledge,
    emit,
  });

  const contextsOf = new Map<ResourceType, WatchContext>();
  function contextOf(type: ResourceType): WatchContext {
    const known = contextsOf.get(type);
    if (known !== undefined) return known;
    const failed = (error: unknown) => emit(() => ({ kind: "watcher-failed", type, error }));
    const made: WatchContext = {
      cache: cacheOf(type),
      one: { merge: newest, failed },
      all: { merge: mergeCollections, failed },
      isClosed: () => closed,
      unsubscribe: (name) => servers.unsubscribe(type, [name]),
    };
    contextsOf.set(type, made);
    return made;
  }

  function watch<Value>(
    context: WatchContext,
    delivery: DeliveryContext<Value>,
    { entry, isNew }: { readonly entry: Entry<Value>; readonly isNew: boolean },
    watcher: Watcher<Value>,
  ): Watch {
    const { type } = context.cache;
    const made = new EntryWatch(context, entry, watcher, delivery);
    entry.join(made);
    if (isNew) servers.subscribe(type, [entry.name]);
    servers.reconsider();
    return made;
  }

  return {
    watch(type, name, watcher) {
      const context = contextOf(type);
      return watch(context, context.one, context.cache.single(name), watcher);
    },
    watchCollection(type, name, watcher) {
      const context = contextOf(type);
      return watch(context, context.all, context.cache.collection(name), watcher);
    },
    hold(type, { resources, version, isWhole = true }) {
      cacheOf(type).hold(resources, isWhole);
      heldVersions.set(type, version);
    },
    get isConnected() {
      return servers.isConnected;
    },
    status: () => servers.status(),
    close() {
      closed = true;
      return servers.close();
    },
  };
}

const newest = <Value>(_: Value, later: Value) => later;

/** What all watches of one type share. */
interface WatchContext {
  readonly cache: TypeCache;
  readonly one: DeliveryContext<ReceivedResource>;
  readonly all: DeliveryContext<Collection>;
  isClosed(): boolean;
  unsubscribe(name: ResourceName): void;
}

/** One watch, and the delivery to its watcher. There are as many as names: one object each, of a class, whose functions all share. */
class EntryWatch<Value> extends WatcherDelivery<Value> implements Watch {
  readonly #watching: WatchContext;
  readonly #entry: Entry<Value>;

  constructor(watching: WatchContext, entry: Entry<Value>, watcher: Watcher<Value>, delivery: DeliveryContext<Value>) {
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

/** A watch of a name that nobody can be asked for: its watcher is told why. */
export function watchNothing(watcher: Pick<Watcher<never>, "onError">, error: XdskitError): Watch {
  const told: Watcher<never> = { onChanged() {}, onError: (why) => watcher.onError?.(why) };
  const delivery = new WatcherDelivery<never>(told, { merge: newest, failed() {} });
  delivery.error(error);
  return { cancel: () => delivery.cancel() };
}
