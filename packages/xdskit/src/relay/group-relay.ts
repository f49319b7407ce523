import {
  canonicalName,
  type Finding,
  globOf,
  isCollection,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  type TypeUrl,
} from "@xdskit/api";
import { type ClientOptions, createClient, type XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { LayerName, Supply, SupplyRequest, XdsServer } from "@xdskit/server";
import { createAcknowledgements } from "./acknowledgements.js";
import { createAwaitedTypes } from "./awaited-types.js";
import type { CacheFolder } from "./cache-folder.js";
import { createCacheWriter } from "./cache-writer.js";
import { createFirstAnswers } from "./first-answers.js";
import { createFollowed } from "./followed.js";
import { createGroupLayer } from "./group-layer.js";
import { createHeldChanges } from "./held-changes.js";
import { createHeldOfGroup } from "./held-resources.js";
import { createOriginWatches, NameWatch } from "./origin-watches.js";
import { SuppliedName, type SuppliedNameContext } from "./supplied-name.js";
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
  /** How long a change waits at most for others that the origin should have sent before it. */
  readonly holdMs: number;
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
  /** Resolves once it is known what there is of every type that is asked for as a whole. Where the cache was damaged that may be long after the start. */
  readonly known: Promise<void>;
  readonly isKnown: boolean;
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
  const { types } = server;
  const globsOf = new Map<TypeUrl, Set<ResourceName>>();
  for (const { type, name } of collections)
    globsOf.set(type.typeUrl, (globsOf.get(type.typeUrl) ?? new Set()).add(canonicalName(name)));
  const wildcards = new Set(collections.filter(({ name }) => name === "*").map(({ type }) => type));
  const held = createHeldOfGroup({ isWanted: (type, name) => origin.isWanted(type, name) }, graceMs, () =>
    performance.now(),
  );
  const { types: found, findings } = (await cache?.read()) ?? { types: [], findings: [] };
  report(findings);
  for (const { type, resources } of found) held.begin(type, resources);
  const whole = new Set(found.filter(({ isWhole }) => isWhole).map(({ type }) => type));
  const damaged = new Set(found.filter(({ isWhole }) => !isWhole).map(({ type }) => type));
  // Endpoints alone are nothing that a client could begin with.
  const isCached = collections.length === 0 ? whole.size > 0 : collections.some(({ type }) => whole.has(type));
  const ownLayer = server.config.layer(layerName);
  const awaited = createAwaitedTypes(
    (type) => damaged.has(type),
    (types) => ownLayer.awaits(Array.from(types, ({ typeUrl }) => typeUrl)),
  );

  const acknowledgement = createAcknowledgements({
    server,
    layer: layerName,
    policy: options.nack,
    waitMs: options.ackWaitMs,
    isWaiting: (type, name) => changes.isWaiting(type, name),
    rejected({ type }, reason) {
      standing.rejected(type, reason);
      options.rejected(type, reason);
    },
  });
  const client = createClient({
    ...options.client,
    held: found,
    async acknowledge(update) {
      try {
        await acknowledgement(update);
      } finally {
        // Only now it is known of what version it is.
        if (update.upserted.length + update.removed.length > 0) touch(update.type);
      }
    },
  });
  const standing = createUpstreamStanding(client, isCached);
  const { origin: fingerprint, cacheFailed: failed } = options;
  const writer =
    cache && createCacheWriter({ cache, held, client, origin: fingerprint, isAwaited: awaited.has, failed });
  const touch = (type: ResourceType) => {
    held.touch(type);
    writer?.wake();
  };
  const origin = createOriginWatches(client, () => standing.isConnected, touch);
  const first = createFirstAnswers();
  let closed = false;
  let isStarted = false;
  let silence: NodeJS.Timeout | undefined;

  const followed = createFollowed(
    (reference) => {
      const type = types.byTypeUrl(reference.type)?.type;
      if (type === undefined || !canAsk(type) || wildcards.has(type)) return false;
      if (isCollectionReference(reference)) return true;
      // The names of virtual hosts are learned from requests alone.
      return prefetch && !reference.name.endsWith("/*");
    },
    (reference) => {
      const type = types.byTypeUrl(reference.type)?.type;
      if (type === undefined) return () => {};
      return isCollectionReference(reference) ? relayAll(type, reference.name) : relayOne(type, reference.name);
    },
  );
  /** Names in collections that are asked for, of which it is known what there is. At the start, and while the origin is away, nothing is waited for. */
  function mayCome(reference: Reference): boolean {
    const globs = globsOf.get(reference.type);
    if (globs === undefined || !isStarted || !standing.isConnected || isCollection(reference)) return false;
    const type = types.byTypeUrl(reference.type)?.type;
    return type !== undefined && !awaited.has(type) && globs.has(globOf(reference.name) ?? "*");
  }

  const changes = createHeldChanges({
    snapshot: () => server.snapshotOf(group),
    mayCome,
    types,
    mostMs: options.holdMs,
    report,
  });
  // What is asked for by name is served by the end of the turn.
  const stopListening = server.on(({ kind }) => {
    if (kind === "on-demand") changes.lookLater();
  });
  const layer = createGroupLayer({
    layer: ownLayer,
    held: changes,
    changed: (type, key, resource) => followed.set(type, key, resource),
    report,
  });

  /** All of a type, or of a folder, goes into the layer; returns what ends it. */
  function relayAll(type: ResourceType, name: ResourceName): () => void {
    if (damaged.has(type)) awaited.add(type, name);
    // What is known from the cache is served at once, whatever is missing beside it.
    const answered = isCached && awaited.has(type) ? () => {} : first.expect();
    const end = origin.collection(type, name, {
      changed(collection) {
        layer.collection(type, collection);
        awaited.delete(type, name);
        answered();
      },
      ended: (removed) => layer.collection(type, { resources: new Map(), upserted: [], removed }),
    });
    return () => {
      answered();
      end();
      awaited.delete(type, name);
    };
  }

  /** One name goes into the layer. */
  function relayOne(type: ResourceType, name: ResourceName): () => void {
    const answered = first.expect();
    // What it is called by may be an alias.
    let own: ResourceName | undefined;
    const put = (received: ReceivedResource | undefined) => {
      const before = own;
      own = received && canonicalName(received.name);
      if (before !== undefined && before !== own) layer.single(type, before, undefined);
      if (own !== undefined) layer.single(type, own, received);
      answered();
    };
    const watch = new PrefetchedName(type, name, put);
    origin.name(watch);
    return () => {
      watch.cancel();
      if (!closed) put(undefined);
    };
  }

  const supplying: SuppliedNameContext = { origin, followed, held: changes, report, isClosed: () => closed };

  function supply(request: SupplyRequest): Promise<Resource | undefined> | undefined {
    if (!canAsk(request.type)) return undefined;
    new SuppliedName(supplying, request.lease);
    // The answer comes as an update.
    return new Promise(() => {});
  }

  return {
    group,
    client,
    standing,
    supply,
    known: awaited.known,
    get isKnown() {
      return awaited.isEmpty;
    },
    async start() {
      for (const { type, name } of collections) if (!whole.has(type)) awaited.add(type, name);
      // What is asked for by name waits until something is known.
      ownLayer.update({});
      client.on((event) => {
        if (event.kind === "updated") held.take(event.update);
        if (event.kind === "connected") origin.connected();
        if (event.kind === "responded") silence ??= setTimeout(awaited.fallSilent, silenceMs).unref();
        writer?.event(event);
      });
      for (const { type, name } of collections) relayAll(type, name);
      await first.settled(silenceMs);
      // Without a cache it was the origin that answered.
      if (!isCached) awaited.fallSilent();
      isStarted = true;
    },
    async close() {
      closed = true;
      clearTimeout(silence);
      stopListening();
      changes.close();
      // While the client still knows of what version it is.
      await writer?.close();
      origin.close();
      followed.close();
      await client.close();
    },
  };
}

/** A name that is asked for before a client does. */
class PrefetchedName extends NameWatch {
  readonly #put: (received: ReceivedResource | undefined) => void;

  constructor(type: ResourceType, name: ResourceName, put: (received: ReceivedResource | undefined) => void) {
    super(type, name);
    this.#put = put;
  }

  protected found(received: ReceivedResource): void {
    this.#put(received);
  }

  protected absent(): void {
    this.#put(undefined);
  }
}
