import type { ResourceName, ResourceType, Version, XdskitError } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { ClientEvent } from "../client-event.js";
import type { HeldResources } from "../client-options.js";
import type { Clock } from "../clock.js";
import { mergeCollections } from "../watchers/collection-change.js";
import { createDelivery, type Watcher } from "../watchers/delivery.js";
import { holdUp } from "../watchers/hold-up.js";
import type { Collection, ServerStatus, Watch } from "../xds-client.js";
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
  /** The type of each delivery, for events. */
  const watchedType = new WeakMap<AnyDelivery, ResourceType>();
  let closed = false;

  const cacheOf = (type: ResourceType) => {
    const cache = caches.get(type) ?? createTypeCache(type);
    caches.set(type, cache);
    return cache;
  };
  const of = (type: ResourceType | undefined) =>
    type === undefined ? [...caches.values()] : [caches.get(type)].filter((cache) => cache !== undefined);

  function settled(told: readonly AnyDelivery[]): Promise<void> | undefined {
    return holdUp(told, clock, watcherMs, (delivery) => {
      const type = watchedType.get(delivery);
      if (type === undefined) return;
      const error = new Error(`the watcher's promise did not settle within ${watcherMs} ms`);
      emit(() => ({ kind: "watcher-failed", type, error }));
    });
  }

  function take(update: ResourceUpdate, server: string): Promise<void> | undefined {
    emit(() => ({ kind: "updated", server, update }));
    const told = cacheOf(update.type).apply(update);
    if (update.removed.some(({ reason }) => reason === "ttl")) servers.reconsider();
    return settled(told);
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

  function watch<Value>(
    cache: TypeCache,
    { entry, isNew }: { readonly entry: Entry<Value>; readonly isNew: boolean },
    watcher: Watcher<Value>,
    merge: (earlier: Value, later: Value) => Value,
    drop: () => void,
  ): Watch {
    const { type } = cache;
    const failed = (error: unknown) => emit(() => ({ kind: "watcher-failed", type, error }));
    const delivery = createDelivery(watcher, merge, failed);
    watchedType.set(delivery, type);
    entry.join(delivery);
    if (isNew) servers.subscribe(type, [entry.name]);
    servers.reconsider();
    let cancelled = false;
    return {
      cancel() {
        if (cancelled) return;
        cancelled = true;
        delivery.cancel();
        entry.leave(delivery);
        if (entry.deliveries.size > 0 || closed) return;
        drop();
        servers.unsubscribe(type, [entry.name]);
      },
    };
  }

  return {
    watch(type, name, watcher) {
      const cache = cacheOf(type);
      const found = cache.single(name);
      return watch(cache, found, watcher, newest, () => cache.drop(found.entry));
    },
    watchCollection(type, name, watcher) {
      const cache = cacheOf(type);
      const found = cache.collection(name);
      return watch(cache, found, watcher, mergeCollections, () => cache.drop(found.entry));
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

/** A watch of a name that nobody can be asked for: its watcher is told why. */
export function watchNothing(watcher: Pick<Watcher<never>, "onError">, error: XdskitError): Watch {
  const delivery = createDelivery<never>(
    { onChanged() {}, onError: (why) => watcher.onError?.(why) },
    newest,
    () => {},
  );
  delivery.error(error);
  return { cancel: () => delivery.cancel() };
}
