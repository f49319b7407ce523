import {
  type Finding,
  isCollection,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
} from "@xdskit/api";
import { type ClientOptions, createClient, type XdsClient } from "@xdskit/client";
import { type ResourceUpdate, statusCode } from "@xdskit/protocol";
import type { LayerName, SupplyRequest, XdsServer } from "@xdskit/server";
import type { CacheFolder, FoundType } from "../cache/cache-folder.js";
import { type CacheWriter, createCacheWriter } from "../cache/cache-writer.js";
import { createRetained, type RetainedResources } from "../cache/retained-resources.js";
import { createAcknowledgements } from "./acknowledgements.js";
import { type AskedNames, createAskedNames } from "./asked-names.js";
import { type CachedStart, type FoundInCache, findInCache } from "./cached-start.js";
import { contentOfCache } from "./content-of-cache.js";
import { createFollowed, type Followed, type Following } from "./followed.js";
import { createGroupFindings } from "./group-findings.js";
import { createGroupLayer, type GroupLayer } from "./group-layer.js";
import { PendingChanges } from "./pending/pending-changes.js";
import { PrefetchedName, type PrefetchedNameContext } from "./prefetched-name.js";
import { SuppliedName, type SuppliedNameContext } from "./supplied-name.js";
import { type AwaitedTypes, createAwaitedTypes } from "./upstream/awaited-types.js";
import { createFirstAnswers } from "./upstream/first-answers.js";
import { OriginWatches } from "./upstream/origin-watches.js";
import { createSilence, type Silence } from "./upstream/silence.js";
import { UpstreamSource } from "./upstream/upstream-source.js";
import { createUpstreamStanding, type UpstreamStanding } from "./upstream/upstream-standing.js";
import { isCollectionReference, type WatchedCollection } from "./upstream/upstream-types.js";
import type { NackPolicy } from "./verdict.js";

export interface GroupRelayOptions {
  /** The group's name. */
  readonly group: string;
  readonly layer: LayerName;
  readonly server: XdsServer;
  /** Without `acknowledge` and `retained`. */
  readonly client: ClientOptions;
  readonly collections: readonly WatchedCollection[];
  /** Whether the origin can be asked for a type. */
  canAsk(type: ResourceType): boolean;
  /** Whether to ask for every named resource before a client does. */
  readonly prefetch: boolean;
  readonly nack: NackPolicy;
  readonly ackWaitMs: number;
  /** How long a change may wait for others that the origin should have sent before it. */
  readonly holdMs: number;
  /**
   * How long an origin that answers must say nothing about a collection before it counts as empty. Also how long a
   * start waits for the other answers after the first. Milliseconds.
   */
  readonly silenceMs: number;
  readonly cache: CacheFolder | undefined;
  /** Identifies the origin in the cache. */
  readonly origin: string;
  report(findings: readonly Finding[]): void;
  /** The origin is told that clients rejected something. */
  rejected(type: ResourceType, reason: string): void;
  /** The cache could not be written. */
  cacheFailed(error: unknown): void;
}

/** How long resources from disk are kept without a client that asks for them. Milliseconds. */
const graceMs = 600_000;

/** Makes the relay of a group; it asks for nothing before `start`. */
export async function createGroupRelay(options: GroupRelayOptions): Promise<GroupRelay> {
  return new GroupRelay(options, await findInCache(options));
}

/** Relays an origin to one group of nodes: one client, one layer. */
export class GroupRelay {
  readonly #options: GroupRelayOptions;
  readonly #asked: AskedNames;
  readonly #retained: RetainedResources;
  readonly #cached: CachedStart;
  readonly #awaited: AwaitedTypes;
  readonly client: XdsClient;
  /** Brings what the origin gives into the server. Add it once: it begins with that. */
  readonly source: UpstreamSource;
  /** An older revision is served until the origin changes something. */
  isRolledBack = false;
  readonly standing: UpstreamStanding;
  readonly #writer: CacheWriter | undefined;
  readonly #origin: OriginWatches;
  readonly #first = createFirstAnswers();
  readonly #followed: Followed;
  readonly #changes: PendingChanges;
  readonly #stopListening: () => void;
  readonly #content: GroupLayer;
  readonly #findings = createGroupFindings();
  #closed = false;
  #isStarted = false;
  readonly #silence: Silence;
  readonly #names: SuppliedNameContext & PrefetchedNameContext;

  constructor(options: GroupRelayOptions, { start: cached, types: found, findings: wrong }: FoundInCache) {
    const { server, cache } = options;
    const report = (findings: readonly Finding[]) => {
      this.#findings.report(findings);
      options.report(findings);
    };
    report(wrong);
    this.#options = options;
    this.#cached = cached;
    this.#asked = createAskedNames(options, server.types);
    const isWanted = (type: ResourceType, name: ResourceName) => this.#origin.isWanted(type, name);
    const isWaiting = (type: ResourceType, name: ResourceName) => this.#changes.isWaiting(type, name);
    this.#retained = createRetained({ isWanted, isWaiting, graceMs, now: () => performance.now() });
    for (const { type, resources } of found) this.#retained.begin(type, resources);
    const layer = server.config.layer(options.layer);
    this.#awaited = createAwaitedTypes(
      (type) => cached.damaged.has(type),
      (types) => layer.awaits(Array.from(types, ({ typeUrl }) => typeUrl)),
      // The next start need not wait for the silence again.
      (type) => this.#touch(type),
    );
    this.client = this.#createClient(found);
    this.#silence = createSilence(this.client, this.#awaited, options.silenceMs);
    this.standing = createUpstreamStanding(this.client, cached.isServed, () => this.#changes.connected());
    const { client } = this;
    const { origin, cacheFailed: failed } = options;
    const { cached: written, served } = this.#findings;
    const about = { client, origin, isAwaited: this.#awaited.has, written, failed };
    this.#writer = cache && createCacheWriter({ cache, retained: this.#retained, ...about });
    this.#origin = new OriginWatches(client, this.standing.isConnectedFor, (type) => this.#touch(type));
    this.#followed = createFollowed(this.#asked.isFollowed, (reference) => this.#follow(reference));
    this.#changes = new PendingChanges({
      snapshot: () => server.snapshotOf(options.group) ?? server.layerSnapshot(options.layer),
      names: () => server.danglingNames(options.group),
      mayCome: (reference) => this.#mayCome(reference),
      types: server.types,
      maxMs: options.holdMs,
      isAbsent: (reference) => this.#followed.isAbsent(reference),
      isAway: () => !this.standing.isConnected,
      waits: (key, type, resource) => {
        this.#followed.set(type, `waiting: ${key}`, resource);
        // The cache has what is served.
        this.#touch(type);
      },
      isRolledBack: () => this.isRolledBack,
      report,
    });
    // Resources that were asked for by name are served by the end of the turn.
    this.#stopListening = server.on(
      () => this.#changes.lookLater(),
      (kind) => kind === "on-demand",
    );
    const start = { begin: () => this.#begin(), known: this.#awaited.known };
    this.source = new UpstreamSource({ group: options.group, layer: options.layer, ...start, report });
    this.#content = createGroupLayer({
      source: this.source,
      pending: this.#changes,
      changed: (type, key, resource) => {
        served(type, key);
        this.#followed.set(type, key, resource);
      },
      report,
    });
    const parts = { origin: this.#origin, followed: this.#followed, content: this.#content, pending: this.#changes };
    this.#names = { ...parts, report, served, isClosed: () => this.#closed };
  }

  #createClient(found: readonly FoundType[]): XdsClient {
    const { server, layer, nack: policy, ackWaitMs: waitMs, client, rejected } = this.#options;
    const acknowledge = createAcknowledgements({
      server,
      layer,
      policy,
      waitMs,
      isWaiting: (type, name) => this.#changes.isWaiting(type, name),
      rejected: ({ type }, reason) => {
        this.standing.rejected(type, reason);
        rejected(type, reason);
      },
      // Its version is known only now.
      answered: ({ type }) => this.#touch(type),
    });
    return createClient({ ...client, retained: found, acknowledge });
  }

  #touch(type: ResourceType): void {
    this.#retained.touch(type);
    this.#writer?.wake();
  }

  #follow(reference: Reference): Following {
    const type = this.#options.server.types.byTypeUrl(reference.type)?.type;
    if (type === undefined) return { isAbsent: false, end() {} };
    return isCollectionReference(reference)
      ? { isAbsent: false, end: this.#relayAll(type, reference.name) }
      : new PrefetchedName(this.#names, type, reference.name, this.#expect(this.#retained.has(type, reference.name)));
  }

  /**
   * Names in collections that are asked for and were answered, and names that are asked for because something names
   * them. At the start, and while the origin is away, no change begins to wait for a name.
   */
  #mayCome(reference: Reference): boolean {
    if (!this.#isStarted || !this.standing.isConnected || isCollection(reference)) return false;
    if (this.#asked.isFollowed(reference)) return !this.#followed.isAbsent(reference);
    const type = this.#options.server.types.byTypeUrl(reference.type)?.type;
    return type !== undefined && this.#asked.isInCollection(reference) && !this.#awaited.has(type);
  }

  /** Relays a whole type, or a folder, into the layer; returns a function that ends it. */
  #relayAll(type: ResourceType, name: ResourceName): () => void {
    if (this.#cached.damaged.has(type)) this.#awaited.add(type, name);
    const answered = this.#expect(this.#cached.whole.has(type));
    const end = this.#origin.collection(type, name, {
      changed: (collection) => {
        this.#content.collection(type, collection);
        this.#awaited.delete(type, name);
        answered();
      },
      failed: ({ code }) => {
        if (code !== "XDSKIT_UPSTREAM_AWAY") this.#awaited.failed(type, name);
      },
      ended: (removed) => this.#content.collection(type, { resources: new Map(), upserted: [], removed }),
    });
    return () => {
      answered();
      end();
      this.#awaited.delete(type, name);
    };
  }

  /** Returns a function to call once an answer came. The cached content is served at once, whatever else is missing. */
  #expect(isRetained: boolean): () => void {
    return this.#cached.isServed && !isRetained ? () => {} : this.#first.expect();
  }

  supply({ type, lease }: SupplyRequest): Promise<Resource | undefined> | undefined {
    if (!this.#options.canAsk(type)) return undefined;
    new SuppliedName(this.#names, lease);
    // The answer comes as an update.
    return new Promise(() => {});
  }

  get group(): string {
    return this.#options.group;
  }

  /** The part of the server's configuration that it fills. */
  get layer(): LayerName {
    return this.#options.layer;
  }

  /**
   * Resolves once the content of every type that is asked for as a whole is known. With a damaged cache that may be
   * long after the start.
   */
  get known(): Promise<void> {
    return this.#awaited.known;
  }

  /** What is wrong at present with the things that the origin or the cache gave. */
  get findings(): readonly Finding[] {
    return this.#findings.all;
  }

  get isKnown(): boolean {
    return this.#awaited.isEmpty;
  }

  /** Resolves once the first answers, from the origin or the cache, are there. */
  async #begin(): Promise<void> {
    const { collections, canAsk, silenceMs, server } = this.#options;
    for (const { type, name } of collections)
      if (!this.#cached.whole.has(type) && (canAsk(type) || this.#cached.damaged.has(type)))
        this.#awaited.add(type, name);
    this.#awaited.begun();
    this.client.on((event) => {
      if (event.kind === "updated") this.#updated(event.update);
      if (event.kind === "connected") {
        this.#origin.connected(event.type);
        this.#awaited.connected(event.type);
      }
      if (event.kind === "disconnected" && event.type !== undefined && event.error?.code === statusCode.unimplemented) {
        // Another server of the origin may know the type.
        if (this.client.status().length === 1) this.#awaited.notOffered(event.type);
      }
      this.#silence.event(event);
      this.#writer?.event(event);
    });
    if (this.#cached.isServed) {
      const { isFollowed } = this.#asked;
      const { whole } = this.#cached;
      const cached = { retained: this.#retained, whole, types: server.types, collections, isFollowed };
      this.source.beginWith(contentOfCache(cached, this.#options.report));
    }
    for (const { type, name } of collections) this.#relayAll(type, name);
    await this.#first.settled(silenceMs);
    this.#isStarted = true;
  }

  #updated(update: ResourceUpdate): void {
    // Only the cache needs it, and drops from it what nobody asks for.
    if (this.#writer !== undefined) this.#retained.take(update);
    const lapsed = update.removed.flatMap(({ name, reason }) => (reason === "ttl" ? [name] : []));
    // Once the removals are taken.
    if (lapsed.length > 0) setImmediate(() => this.#changes.lapsed(update.type, lapsed));
  }

  /** From now on everything that is asked for stays, for the cache, whoever leaves. */
  keep(): void {
    this.#origin.keep();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#silence.close();
    this.#stopListening();
    // Before the client closes, which knows the versions, and while it is known what waits.
    await this.#writer?.close();
    this.#changes.close();
    this.#origin.close();
    this.#followed.close();
    await this.client.close();
  }
}
