import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { ResourceName, XdskitError } from "@xdskit/api";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import type { ClientTypeStatus, ReceivedResource } from "@xdskit/protocol";
import type { ClientListener } from "./client-event.js";
import type { ConfigIterator } from "./config/config-iterator.js";
import type { ConfigOptions, ConfigWatch, ConfigWatcher } from "./config/xds-config.js";
import type { Watch, WatchIterator } from "./watchers/watch.js";

/** A type of resources, as people write it (`cluster`, `cds`, a type URL), or as the message's schema, which types the resources. */
export type TypeOf<Shape extends Message> = GenMessage<Shape> | string;

/**
 * Who is told of one resource, in the shape of gRPC's A88. The calls for one watcher come one after the other. A promise that a call returns holds up
 * reading from the server until it settles, at most `limits.watcherMs`; meanwhile only the newest is kept for this watcher.
 */
export interface ResourceWatcher<Shape extends Message = Message> {
  /** It is there, or has another content. */
  onChanged(resource: ReceivedResource<Shape>): void | PromiseLike<void>;
  /** There is none to use: it does not exist, was rejected or could not be asked for, and nothing good came before; or it was there and is gone. */
  onError?(error: XdskitError): void | PromiseLike<void>;
  /** Something is wrong, and what came last is to be used on: a rejected update, a server that is away. */
  onAmbient?(error: XdskitError): void | PromiseLike<void>;
}

/** All of a type, or of a collection (`xdstp://…/*`). */
export interface Collection<Shape extends Message = Message> {
  readonly resources: ReadonlyMap<ResourceName, ReceivedResource<Shape>>;
  /** What became different since the call before. */
  readonly upserted: readonly ReceivedResource<Shape>[];
  readonly removed: readonly ResourceName[];
}

/** Who is told of a collection: one call a response, however much came. */
export interface CollectionWatcher<Shape extends Message = Message> {
  onChanged(collection: Collection<Shape>): void | PromiseLike<void>;
  onError?(error: XdskitError): void | PromiseLike<void>;
  onAmbient?(error: XdskitError): void | PromiseLike<void>;
}

/** How long `get` waits. */
export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. Default: none but the 15 s after which a name does not exist. */
  readonly timeout?: number | undefined;
}

/** What one server is asked for and gave. */
export interface ServerStatus {
  readonly server: string;
  /** A stream is up; REST: the last poll was answered; files: the last reading was good. */
  readonly connected: boolean;
  /** Whether what it gives is what watchers get: not so of one that a fallback stands in for. */
  readonly active: boolean;
  readonly types: readonly ClientTypeStatus[];
}

/** An xDS client. All watchers of one name share one subscription, and a late one gets the cache at once. */
export interface XdsClient {
  /** Throws an XdskitError for a type that is not known, and after `close`. */
  watch<Shape extends Message>(type: TypeOf<Shape>, name: "*", watcher: CollectionWatcher<Shape>): Watch;
  watch<Shape extends Message>(type: TypeOf<Shape>, name: ResourceName, watcher: ResourceWatcher<Shape>): Watch;
  /** The same as an iterator. */
  watch<Shape extends Message>(type: TypeOf<Shape>, name: "*"): WatchIterator<Collection<Shape>>;
  watch<Shape extends Message>(type: TypeOf<Shape>, name: ResourceName): WatchIterator<ReceivedResource<Shape>>;
  /** A collection by its name (`xdstp://…/*`, or `*`). */
  watchCollection<Shape extends Message>(
    type: TypeOf<Shape>,
    name: ResourceName,
    watcher: CollectionWatcher<Shape>,
  ): Watch;
  /** The first answer: rejects with the XdskitError that a watcher's `onError` would get, with one of timeout, or with the signal's reason. */
  get<Shape extends Message>(
    type: TypeOf<Shape>,
    name: ResourceName,
    options?: GetOptions,
  ): Promise<ReceivedResource<Shape>>;
  /**
   * Watches a listener with all that it leads to: its routes, their clusters, their endpoints, as gRPC does (A74). Nothing is told before each part is known, be it
   * that it cannot be had; then each change is told once it is complete.
   */
  watchConfig(listener: ResourceName, watcher: ConfigWatcher, options?: ConfigOptions): ConfigWatch;
  /** The same as an iterator. */
  watchConfig(listener: ResourceName, options?: ConfigOptions): ConfigIterator;
  /** Calls a function at every event, in the order in which they happen; returns what stops it. */
  on(listener: ClientListener): () => void;
  /** Who the client says it is, as servers are told. */
  readonly node: Node;
  /** The present moment, in the milliseconds that `status` counts in: those of the client's clock. */
  now(): number;
  /** Any server is connected, as `status` says of each. Costs the servers, so that it may be asked at any time. */
  readonly isConnected: boolean;
  /** What is asked for and held, by server. Costs the names that are asked for; the resources in it are the client's own maps. */
  status(): readonly ServerStatus[];
  /** Ends all watches and streams. Resolves when all is closed. A second call waits for the first. */
  close(): Promise<void>;
}
