import {
  canonicalName,
  type Finding,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  type XdskitError,
} from "@xdskit/api";
import { type ClientOptions, createClient, type Watch, type XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { LayerName, Supply, SupplyRequest, XdsServer } from "@xdskit/server";
import { createAcknowledgements } from "./acknowledgements.js";
import type { CacheFolder } from "./cache-folder.js";
import { createCacheWriter } from "./cache-writer.js";
import { createFollowed } from "./followed.js";
import { createGroupLayer, servedAs } from "./group-layer.js";
import { createHeldOfGroup } from "./held-resources.js";
import { createLingeringWatches } from "./lingering-watches.js";
import { createUpstreamStanding, type UpstreamStanding } from "./upstream-standing.js";
import { isCollectionReference } from "./upstream-types.js";
import type { NackPolicy } from "./verdict.js";

/** A collection that is always asked for. */
export interface WatchedCollection {
  readonly type: ResourceType;
  /** `*`, or `xdstp://…/*`. */
  readonly name: ResourceName;
}

export interface GroupRelayOptions {
  /** The group's name. */
  readonly group: string;
  readonly layer: LayerName;
  readonly server: XdsServer;
  /** Without `acknowledge` and `held`. */
  readonly client: ClientOptions;
  readonly collections: readonly WatchedCollection[];
  /** What the origin can be asked for. */
  canAsk(type: ResourceType): boolean;
  /** Whether everything that is named is asked for before a client does. */
  readonly prefetch: boolean;
  readonly nack: NackPolicy;
  readonly ackWaitMs: number;
  readonly cache: CacheFolder | undefined;
  /** What tells the origin from others, in the cache. */
  readonly origin: string;
  report(findings: readonly Finding[]): void;
  /** The origin is told that clients rejected something. */
  rejected(type: ResourceType, reason: string): void;
  /** The cache could not be written. */
  cacheFailed(error: unknown): void;
}

/** What relays an origin to one group of nodes: one client, one layer. */
export interface GroupRelay {
  readonly group: string;
  /** Resolves once the first answers are served: the origin's, or the cache's. */
  start(): Promise<void>;
  readonly supply: Supply;
  readonly client: XdsClient;
  readonly standing: UpstreamStanding;
  close(): Promise<void>;
}

/** Where one collection says nothing although another did, there is none: a server of the state of the world need not say so. Milliseconds. */
const silenceMs = 15_000;
/** For how long what is on disk is kept although nobody asked for it since the start. Milliseconds. */
const graceMs = 600_000;

/** Makes it; nothing is asked for before `start`. */
export async function createGroupRelay(options: GroupRelayOptions): Promise<GroupRelay> {
  const { group, server, layer: layerName, collections, canAsk, prefetch, cache, report } = options;
  const types = server.types;
  const wildcards = new Set(collections.filter(({ name }) => name === "*").map(({ type }) => type));
  const singles = new Map<string, number>();
  const held = createHeldOfGroup({ isWanted }, graceMs, () => performance.now());
  const read = await cache?.read();
  report(read?.findings ?? []);
  for (const { type, resources } of read?.types ?? []) held.begin(type, resources);

  const client = createClient({
    ...options.client,
    held: read?.types ?? [],
    acknowledge: createAcknowledgements({
      ...{ server, layer: layerName, policy: options.nack, waitMs: options.ackWaitMs },
      rejected({ type }, reason) {
        standing.rejected(type, reason);
        options.rejected(type, reason);
      },
    }),
  });
  const standing = createUpstreamStanding(client, (read?.types.length ?? 0) > 0);
  const { origin, cacheFailed: failed } = options;
  const writer = cache && createCacheWriter({ cache, held, client, origin, failed });
  const letGo = (type: ResourceType) => {
    held.touch(type);
    writer?.wake();
  };
  const lingering = createLingeringWatches(() => standing.isConnected);
  const watches = new Set<Watch>();
  /** Collections and names without an answer yet, of those that `start` waits for. */
  const unanswered = new Set<string>();
  let firstAnswer = () => {};
  let allAnswered = () => {};
  let closed = false;

  const followed = createFollowed(
    (reference) => {
      const type = types.byTypeUrl(reference.type)?.type;
      if (type === undefined || !canAsk(type) || wildcards.has(type)) return false;
      if (isCollectionReference(reference)) return true;
      // The names of virtual hosts are learned from requests alone.
      return prefetch && !reference.name.endsWith("/*");
    },
    (reference) => follow(reference),
  );
  const layer = createGroupLayer({
    layer: server.config.layer(layerName),
    changed: (type, key, resource) => followed.set(type, key, resource),
    report,
  });

  function isWanted(type: ResourceType, name: ResourceName): boolean {
    if (wildcards.has(type) || singles.has(keyOf(type, name))) return true;
    return [...collectionNames(type)].some((glob) => name.startsWith(glob.slice(0, -1)));
  }

  const globs = new Map<ResourceType, Map<ResourceName, number>>();
  const collectionNames = (type: ResourceType): Iterable<ResourceName> => globs.get(type)?.keys() ?? [];

  function answered(key: string): void {
    if (!unanswered.delete(key)) return;
    firstAnswer();
    if (unanswered.size === 0) allAnswered();
  }

  /** All of a type, or of a folder; returns what ends it. */
  function watchCollection(type: ResourceType, name: ResourceName, awaited: boolean): () => void {
    const key = keyOf(type, name);
    if (awaited) unanswered.add(key);
    const names = globs.get(type) ?? new Map<ResourceName, number>();
    globs.set(type, names.set(name, (names.get(name) ?? 0) + 1));
    const members = new Set<ResourceName>();
    const watch = client.watchCollection(type.typeUrl, name, {
      onChanged(collection) {
        for (const { name } of collection.upserted) members.add(canonicalName(name));
        for (const name of collection.removed) members.delete(canonicalName(name));
        layer.collection(type, collection);
        // That there is nothing is worth keeping, too.
        letGo(type);
        answered(key);
      },
    });
    watches.add(watch);
    return () => {
      watch.cancel();
      watches.delete(watch);
      const left = (names.get(name) ?? 1) - 1;
      if (left === 0) names.delete(name);
      else names.set(name, left);
      answered(key);
      if (closed) return;
      layer.collection(type, { resources: new Map(), upserted: [], removed: [...members] });
      letGo(type);
    };
  }

  /** One name, for the layer. */
  function watchSingle(type: ResourceType, name: ResourceName, awaited: boolean): () => void {
    const key = keyOf(type, name);
    if (awaited) unanswered.add(key);
    // What it is called by may be an alias.
    let own: ResourceName | undefined;
    const end = watchName(type, name, {
      found(received) {
        const before = own;
        own = canonicalName(received.name);
        if (before !== undefined && before !== own) layer.single(type, before, undefined);
        layer.single(type, own, received);
        answered(key);
      },
      absent() {
        if (own !== undefined) layer.single(type, own, undefined);
        own = undefined;
        answered(key);
      },
    });
    return () => {
      end();
      answered(key);
      if (!closed && own !== undefined) layer.single(type, own, undefined);
    };
  }

  interface NameWatcher {
    found(received: ReceivedResource): void;
    absent(): void;
  }

  /** Returns what ends it: at once, or once the origin is there again, lest what is held of it is forgotten. */
  function watchName(type: ResourceType, name: ResourceName, { found, absent }: NameWatcher): () => void {
    const key = keyOf(type, canonicalName(name));
    singles.set(key, (singles.get(key) ?? 0) + 1);
    let ended = false;
    const watch = client.watch(type.typeUrl, name, {
      onChanged(received) {
        if (!ended) found(received);
      },
      onError(error) {
        // Everything else may pass: an origin that is away, a resource that it is to mend.
        if (!ended && isAbsence(error)) absent();
      },
    });
    watches.add(watch);
    return () => {
      if (ended) return;
      ended = true;
      lingering.end(() => {
        watch.cancel();
        watches.delete(watch);
        const left = (singles.get(key) ?? 1) - 1;
        if (left === 0) singles.delete(key);
        else singles.set(key, left);
        letGo(type);
      });
    };
  }

  function follow({ type: url, name }: Reference): () => void {
    const type = types.byTypeUrl(url)?.type;
    if (type === undefined) return () => {};
    const awaited = unanswered.size > 0;
    return isCollectionReference({ type: url, name })
      ? watchCollection(type, name, awaited)
      : watchSingle(type, name, awaited);
  }

  function supply({ type, name, signal, update }: SupplyRequest): Promise<Resource | undefined> | undefined {
    if (!canAsk(type) || signal.aborted) return undefined;
    return new Promise((resolve) => {
      let first = true;
      const say = (resource: Resource | undefined) => {
        if (first) resolve(resource);
        else update(resource);
        first = false;
      };
      let own: ResourceName | undefined;
      const note = (resource: Resource | undefined) => {
        if (own !== undefined && own !== resource?.key) followed.set(type, `${name} ${own}`, undefined);
        own = resource?.key;
        if (own !== undefined) followed.set(type, `${name} ${own}`, resource);
      };
      const end = watchName(type, name, {
        found(received) {
          const resource = servedAs(received, report);
          if (resource === undefined) return;
          note(resource);
          say(resource);
        },
        absent() {
          note(undefined);
          say(undefined);
        },
      });
      signal.addEventListener("abort", () => {
        end();
        if (!closed) note(undefined);
      });
    });
  }

  return {
    ...{ group, client, standing },
    supply,
    async start() {
      // What is asked for by name waits until something is known.
      server.config.layer(layerName).update({});
      const first = new Promise<void>((resolve) => {
        firstAnswer = resolve;
      });
      const all = new Promise<void>((resolve) => {
        allAnswered = resolve;
      });
      client.on((event) => {
        if (event.kind === "updated") held.take(event.update);
        if (event.kind === "connected") lingering.flush();
        writer?.event(event);
      });
      for (const { type, name } of collections) watchCollection(type, name, true);
      if (unanswered.size === 0) return;
      await first;
      await Promise.race([all, unrefDelay(silenceMs)]);
      unanswered.clear();
    },
    async close() {
      closed = true;
      lingering.close();
      followed.close();
      for (const watch of watches) watch.cancel();
      await writer?.close();
      await client.close();
    },
  };
}

function keyOf(type: ResourceType, name: ResourceName): string {
  return `${type.typeUrl} ${name}`;
}

function isAbsence({ code }: XdskitError): boolean {
  return code === "XDSKIT_RESOURCE_ABSENT";
}

function unrefDelay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref());
}
