import type { ResourceName, XdskitError } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { LbEndpoint, LbEndpointCollection } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";
import type { ReceivedResource } from "@xdskit/protocol";
import type { WatchIterator } from "./watch.js";

/**
 * Everything that a listener leads to, at one moment; nothing of it is missing (gRPC's A74). Immutable. A part that did
 * not change is the same object as before, so parts can be compared by `===`.
 */
export interface XdsConfig {
  readonly listener: ReceivedResource<Listener>;
  /**
   * One for each route configuration, in the order of the listener's filter chains; empty if the listener has no HTTP.
   */
  readonly routes: readonly ConfigRoutes[];
  /** The first of `routes` that has one. For an API listener, as gRPC uses it, there is no other. */
  readonly routeConfiguration: RouteConfiguration | undefined;
  /** The virtual host that serves `authority`, in `routeConfiguration`; undefined if no authority was given. */
  readonly virtualHost: VirtualHost | undefined;
  /** By name: the clusters that routes, filters and `subscribe` name, and those that aggregate clusters name. */
  readonly clusters: ReadonlyMap<ResourceName, ConfigCluster>;
}

/** One route configuration that a listener uses, or why it is missing. */
export type ConfigRoutes =
  | {
      readonly kind: "routes";
      /** The place of its use: `api_listener`, `default_filter_chain`, a filter chain's name or `filter_chains[0]`. */
      readonly usedBy: readonly string[];
      readonly name: ResourceName;
      /** Undefined if the listener itself holds the routes. */
      readonly resource: ReceivedResource<RouteConfiguration> | undefined;
      readonly configuration: RouteConfiguration;
      /** The virtual host that serves `authority`; undefined if no authority was given. */
      readonly virtualHost: VirtualHost | undefined;
      /**
       * The clusters that its routes name, also for mirrored requests and in weighted clusters: of the virtual host, or
       * of all virtual hosts if no authority was given.
       */
      readonly clusters: readonly ResourceName[];
      /** Cluster specifier plugins that its routes use: they choose a cluster for each request (`subscribe`). */
      readonly plugins: readonly string[];
      /** Request headers that name a cluster. */
      readonly clusterHeaders: readonly string[];
      /** More virtual hosts come on demand (VHDS); the client does not ask for them. */
      readonly hasOnDemandHosts: boolean;
    }
  | {
      readonly kind: "error";
      readonly usedBy: readonly string[];
      readonly name: ResourceName;
      readonly error: XdskitError;
    };

/** A cluster, or why it is missing. */
export type ConfigCluster =
  | {
      readonly kind: "cluster";
      readonly name: ResourceName;
      readonly resource: ReceivedResource<Cluster>;
      readonly endpoints: ClusterEndpoints;
    }
  | {
      readonly kind: "aggregate";
      readonly name: ResourceName;
      readonly resource: ReceivedResource<Cluster>;
      /**
       * The clusters below that are not aggregates themselves, in order of priority, each once (A37). Each has its own
       * entry, which may be an error.
       */
      readonly leaves: readonly ResourceName[];
    }
  | {
      readonly kind: "error";
      readonly name: ResourceName;
      /**
       * Undefined if there is no cluster. An aggregate cluster that forms a loop or is too deep exists, but cannot be
       * used.
       */
      readonly resource: ReceivedResource<Cluster> | undefined;
      readonly error: XdskitError;
    };

/** The source of a cluster's endpoints. */
export type ClusterEndpoints =
  /** From EDS. `lists`: those that its localities name instead of endpoints (gRPC's A95), each once. */
  | {
      readonly kind: "assignment";
      readonly resource: ReceivedResource<ClusterLoadAssignment>;
      readonly lists: readonly EndpointList[];
    }
  /** In the cluster itself: addresses (`static`), or host names, which the program must resolve. */
  | {
      readonly kind: "inline";
      readonly discovery: "static" | "strict-dns" | "logical-dns";
      readonly assignment: ClusterLoadAssignment | undefined;
    }
  /** EDS does not have them, or cannot be asked. */
  | { readonly kind: "error"; readonly name: ResourceName; readonly error: XdskitError }
  /**
   * The cluster finds them by itself: from the connection's destination, or in its own way. `type` is that of its
   * configuration.
   */
  | { readonly kind: "other"; readonly type: string };

/** The endpoints of a locality that names them as a list, or why there is none: then the locality is unreachable. */
export type EndpointList =
  | {
      readonly kind: "list";
      /** The `leds_collection_name` of the locality. */
      readonly name: ResourceName;
      readonly resource: ReceivedResource<LbEndpointCollection>;
      /** If there are none, the locality is unreachable. */
      readonly endpoints: readonly LbEndpoint[];
    }
  | { readonly kind: "error"; readonly name: ResourceName; readonly error: XdskitError };

/**
 * There is a problem with this resource, and its last good content stays in use: a rejected update, a server that is
 * away.
 */
export interface ConfigProblem {
  readonly type: "listener" | "route" | "cluster" | "endpoint" | "locality-endpoint-collection";
  readonly name: ResourceName;
  readonly error: XdskitError;
}

/**
 * Watches the configuration of a listener. The calls come one after the other; a promise that a call returns holds up
 * reading from servers, as a resource watcher's does.
 */
export interface ConfigWatcher {
  /**
   * Called first when everything is known, then at every change; the configuration is always complete. `previous` is
   * the one of the call before.
   */
  onChanged(config: XdsConfig, previous: XdsConfig | undefined): void | PromiseLike<void>;
  /**
   * There is no usable configuration: no such listener, or none of its route configurations. A problem of one cluster
   * is an entry of the configuration.
   */
  onError?(error: XdskitError): void | PromiseLike<void>;
  /** All problems beside the configuration in use. Called when they change, at last with an empty list. */
  onAmbient?(problems: readonly ConfigProblem[]): void | PromiseLike<void>;
}

/** Options of a watch of a configuration. */
export interface ConfigOptions {
  /**
   * The data plane's authority (`:authority`, the host) chooses the virtual host. Default: no choice, and the
   * configuration has the clusters of all virtual hosts.
   */
  readonly authority?: string | undefined;
}

/** A watch of a listener with everything that it needs. */
export interface ConfigWatch {
  /**
   * Adds a cluster that no route names: one that a plugin or a header chose, or that is in use until its last request
   * ends. It stays until all its subscriptions are cancelled.
   */
  subscribe(cluster: ResourceName): { cancel(): void };
  cancel(): void;
}

/** A configuration that is read by `for await`; leaving the loop cancels the watch. A slow reader gets the newest. */
export interface ConfigIterator extends WatchIterator<XdsConfig>, ConfigWatch {}
