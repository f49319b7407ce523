import { perObject, type Registry, type ResourceName } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { LbEndpoint, LbEndpointCollection } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";
import { type ClusterNeeds, clusterNeeds } from "./cluster-needs.js";
import { endpointsOf, listsOf } from "./endpoint-lists.js";
import { type ListenerNeeds, listenerNeeds } from "./listener-needs.js";
import { type RouteNeeds, routeNeeds } from "./route-needs.js";

/** The needs of messages; each message is read once. */
export interface Needs {
  readonly ofListener: (listener: Listener) => ListenerNeeds;
  /** Of one virtual host, or of all. */
  ofRoutes(configuration: RouteConfiguration, only: VirtualHost | undefined): RouteNeeds;
  readonly ofCluster: (cluster: Cluster) => ClusterNeeds;
  /** The lists of endpoints that it names, each once. */
  readonly listsOf: (assignment: ClusterLoadAssignment) => readonly ResourceName[];
  readonly endpointsOf: (list: LbEndpointCollection) => readonly LbEndpoint[];
}

export function createNeeds(registry: Registry): Needs {
  const ofListener = perObject((listener: Listener) => listenerNeeds(listener, registry));
  const ofRoutes = perObject((configuration: RouteConfiguration) => ({
    all: perObject((all: RouteConfiguration) => routeNeeds(all, undefined, registry)),
    one: perObject((host: VirtualHost) => routeNeeds(configuration, host, registry)),
  }));
  const ofCluster = perObject((cluster: Cluster) => clusterNeeds(cluster, registry));
  return {
    ofListener,
    ofRoutes: (configuration: RouteConfiguration, only: VirtualHost | undefined): RouteNeeds => {
      const { all, one } = ofRoutes(configuration);
      return only === undefined ? all(configuration) : one(only);
    },
    ofCluster,
    listsOf: perObject(listsOf),
    endpointsOf: perObject((list: LbEndpointCollection) => endpointsOf(list, registry)),
  };
}
