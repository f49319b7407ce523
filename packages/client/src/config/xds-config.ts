import type { ResourceName, XdskitError } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";
import type { ReceivedResource } from "@xdskit/protocol";

/**
 * All that a listener leads to, as it stood at one moment: nothing of it is still on its way (gRPC's A74). Immutable. A part that did not change since the
 * configuration before is the same object, so that parts can be compared by `===`.
 */
export interface XdsConfig {
  readonly listener: ReceivedResource<Listener>;
  /** One for each route configuration, in the order of the listener's filter chains; empty where nothing in the listener speaks HTTP. */
  readonly routes: readonly ConfigRoutes[];
  /** Of the first of `routes` that has one: all there is for an API listener, as of gRPC. */
  readonly routeConfiguration: RouteConfiguration | undefined;
  /** That which serves `authority`, in `routeConfiguration`; undefined if no authority was given. */
  readonly virtualHost: VirtualHost | undefined;
  /** By name: what routes, filters and `subscribe` name, and what aggregate clusters name in turn. */
  readonly clusters: ReadonlyMap<ResourceName, ConfigCluster>;
}

/** One route configuration that a listener uses, or why it cannot be had. */
export type ConfigRoutes =
  | {
      readonly kind: "routes";
      /** Where it is used: `api_listener`, `default_filter_chain`, a filter chain's name or `filter_chains[0]`. */
      readonly usedBy: readonly string[];
      readonly name: ResourceName;
      /** Undefined where it stands in the listener itself. */
      readonly resource: ReceivedResource<RouteConfiguration> | undefined;
      readonly configuration: RouteConfiguration;
      /** That which serves `authority`; undefined if none was given. */
      readonly virtualHost: VirtualHost | undefined;
      /** What its routes name, those for mirrored requests and of weighted clusters too: of the virtual host, or of all where no authority was given. */
      readonly clusters: readonly ResourceName[];
      /** Cluster specifier plugins that its routes use: they name clusters when a request comes (`subscribe`). */
      readonly plugins: readonly string[];
      /** Request headers that name a cluster. */
      readonly clusterHeaders: readonly string[];
      /** More virtual hosts come on demand (VHDS); they are not looked for. */
      readonly hasOnDemandHosts: boolean;
    }
  | {
      readonly kind: "error";
      readonly usedBy: readonly string[];
      readonly name: ResourceName;
      readonly error: XdskitError;
    };

/** A cluster, or why there is none. */
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
      /** The clusters below that are no aggregates themselves, in order of priority, each once (A37). Each has its own entry, which may be an error. */
      readonly leaves: readonly ResourceName[];
    }
  | {
      readonly kind: "error";
      readonly name: ResourceName;
      /** Undefined where there is no cluster; an aggregate cluster that leads back to itself or too deep is there, and of no use. */
      readonly resource: ReceivedResource<Cluster> | undefined;
      readonly error: XdskitError;
    };

/** Where the endpoints of a cluster are. */
export type ClusterEndpoints =
  /** From EDS. */
  | { readonly kind: "assignment"; readonly resource: ReceivedResource<ClusterLoadAssignment> }
  /** In the cluster itself: addresses (`static`), or host names, which whoever uses them resolves. */
  | {
      readonly kind: "inline";
      readonly discovery: "static" | "strict-dns" | "logical-dns";
      readonly assignment: ClusterLoadAssignment | undefined;
    }
  /** EDS has none, or it cannot be asked. */
  | { readonly kind: "error"; readonly name: ResourceName; readonly error: XdskitError }
  /** The cluster finds them by itself: by the connection's destination, or in a way of its own. `type` is that of its configuration. */
  | { readonly kind: "other"; readonly type: string };

/** Something is wrong, and what came last of this resource is used on: a rejected update, a server that is away. */
export interface ConfigProblem {
  readonly type: "listener" | "route" | "cluster" | "endpoint";
  readonly name: ResourceName;
  readonly error: XdskitError;
}

/** Who is told of a listener's configuration. The calls come one after the other; a promise that one returns holds up reading from servers as a resource watcher's does. */
export interface ConfigWatcher {
  /** First when all of it is known, then at every change, each of which is complete again. `previous` is what the call before had. */
  onChanged(config: XdsConfig, previous: XdsConfig | undefined): void | PromiseLike<void>;
  /** There is no configuration to use: no such listener, or none of its route configurations can be had. What is wrong with a cluster alone stands in the configuration. */
  onError?(error: XdskitError): void | PromiseLike<void>;
  /** All that is wrong beside what is used; called when that becomes different, at last with an empty list. */
  onAmbient?(problems: readonly ConfigProblem[]): void | PromiseLike<void>;
}

/** What is watched of a configuration. */
export interface ConfigOptions {
  /** The data plane's authority (`:authority`, the host): chooses the virtual host. Default: no choice, and the clusters of all virtual hosts are part of the configuration. */
  readonly authority?: string | undefined;
}

/** A listener that is watched with all that it leads to. */
export interface ConfigWatch {
  /**
   * Makes a cluster part of the configuration that no route names: one that a plugin or a header chose, or that is used until the last request to it ended.
   * For as long as one of its subscriptions is not cancelled.
   */
  subscribe(cluster: ResourceName): { cancel(): void };
  cancel(): void;
}
