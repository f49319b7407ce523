import type { Message } from "@bufbuild/protobuf";
import type { Registry } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";
import { clusterNeeds } from "./cluster-needs.js";
import { listenerNeeds } from "./listener-needs.js";
import { type RouteNeeds, routeNeeds } from "./route-needs.js";

/** The needs of messages; each message is read once. */
export type Needs = ReturnType<typeof createNeeds>;

export function createNeeds(registry: Registry) {
  const ofListener = once((listener: Listener) => listenerNeeds(listener, registry));
  const ofRoutes = once((configuration: RouteConfiguration) => ({
    all: once((all: RouteConfiguration) => routeNeeds(all, undefined, registry)),
    one: once((host: VirtualHost) => routeNeeds(configuration, host, registry)),
  }));
  const ofCluster = once((cluster: Cluster) => clusterNeeds(cluster, registry));
  return {
    ofListener,
    /** Of one virtual host, or of all. */
    ofRoutes: (configuration: RouteConfiguration, only: VirtualHost | undefined): RouteNeeds => {
      const { all, one } = ofRoutes(configuration);
      return only === undefined ? all(configuration) : one(only);
    },
    ofCluster,
  };
}

function once<Shape extends Message, Result>(look: (message: Shape) => Result): (message: Shape) => Result {
  const known = new WeakMap<Shape, Result>();
  return (message) => {
    let result = known.get(message);
    if (result === undefined) {
      result = look(message);
      known.set(message, result);
    }
    return result;
  };
}
