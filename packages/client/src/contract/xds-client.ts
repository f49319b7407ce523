/// <reference types="node" preserve="true" />
import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { ResourceName, XdskitError } from "@xdskit/api";
import type { Node } from "@xdskit/api/envoy/config/core/v3/base";
import type { ClientTypeStatus, ReceivedResource } from "@xdskit/protocol";
import type { ClientListener } from "../events/client-event.js";
import type { Watch, WatchIterator } from "./watch.js";
import type { ConfigIterator, ConfigOptions, ConfigWatch, ConfigWatcher } from "./xds-config.js";

/**
 * A type of resources: a name (`cluster`, `cds`), a type URL, or the schema of its message, which also types the
 * resources.
 */
export type TypeOf<Shape extends Message> = GenMessage<Shape> | string;

/**
 * Watches one resource, in the shape of gRPC's A88. The calls to one watcher come one after the other. A promise that a
 * call returns holds up reading from the server until it settles, at most `limits.watcherMs`; meanwhile the client
 * keeps only the newest value for this watcher.
 */
export interface ResourceWatcher<Shape extends Message = Message> {
  /** The resource exists, or its content changed. */
  onChanged(resource: ReceivedResource<Shape>): void | PromiseLike<void>;
  /**
   * There is no usable resource: it does not exist, was rejected or could not be asked for, and there was no good one
   * before; or it was removed.
   */
  onError?(error: XdskitError): void | PromiseLike<void>;
  /** There is a problem, but the last resource stays in use: a rejected update, a server that is away. */
  onAmbient?(error: XdskitError): void | PromiseLike<void>;
}

/** All of a type, or of a collection (`xdstp://…/*`). */
export interface Collection<Shape extends Message = Message> {
  readonly resources: ReadonlyMap<ResourceName, ReceivedResource<Shape>>;
  /** The changes since the previous call. */
  readonly upserted: readonly ReceivedResource<Shape>[];
  readonly removed: readonly ResourceName[];
}

/** Watches a collection: one call for each response, however many resources came. */
export interface CollectionWatcher<Shape extends Message = Message> {
  onChanged(collection: Collection<Shape>): void | PromiseLike<void>;
  onError?(error: XdskitError): void | PromiseLike<void>;
  onAmbient?(error: XdskitError): void | PromiseLike<void>;
}

/** The time limit of `get`. */
export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. Default: no limit, but a name does not exist after 15 s without an answer. */
  readonly timeout?: number | undefined;
}

/** A client's requests to one server, and the results. */
export interface ServerStatus {
  readonly server: string;
  /** gRPC: a stream is up; REST: the last poll was answered; files: the last read was good. */
  readonly connected: boolean;
  /** Whether watchers get the resources of this server. False while a fallback answers in its place. */
  readonly active: boolean;
  readonly types: readonly ClientTypeStatus[];
}

/** An xDS client. All watchers of one name share one subscription, and a late one gets the cache at once. */
export interface XdsClient {
  /**
   * Throws an XdskitError for an unknown type, and after `close`.
   *
   * @example
   * ```ts
   * import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
   * import { createClient } from "@xdskit/client";
   *
   * const client = createClient({ servers: ["127.0.0.1:18000"], node: { id: "shop-1" } });
   * const watch = client.watch(ClusterLoadAssignmentSchema, "web", {
   *   onChanged: ({ message }) => console.log(message.endpoints.length),
   *   onError: (error) => console.log("nothing to use:", error.message),
   * });
   * watch.cancel();
   * ```
   */
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
  /**
   * The first answer. Rejects with the XdskitError that a watcher's `onError` would get, with a timeout error, or with
   * the signal's reason.
   */
  get<Shape extends Message>(
    type: TypeOf<Shape>,
    name: ResourceName,
    options?: GetOptions,
  ): Promise<ReceivedResource<Shape>>;
  /**
   * Watches a listener with everything that it needs: its routes, their clusters and their endpoints, as gRPC does
   * (A74). The first call comes when each part is known, or known to be missing; every later change is told once it is
   * complete.
   */
  watchConfig(listener: ResourceName, watcher: ConfigWatcher, options?: ConfigOptions): ConfigWatch;
  /** The same as an iterator. */
  watchConfig(listener: ResourceName, options?: ConfigOptions): ConfigIterator;
  /** Calls a function for every event, in order; returns a function that stops it. */
  on(listener: ClientListener): () => void;
  /** The node that servers are told. */
  readonly node: Node;
  /** The present time in milliseconds of the client's clock, which `status` uses too. */
  now(): number;
  /** Whether any server is connected. Cheap enough to read at any time: it looks at each server once. */
  readonly isConnected: boolean;
  /**
   * The requested and current resources, by server. Costs the number of requested names; the maps of resources are the
   * client's own.
   */
  status(): readonly ServerStatus[];
  /** Ends all watches and streams. Resolves when everything is closed. A second call waits for the first. */
  close(): Promise<void>;
}
