import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource, renamedResource, resourcesAlike } from "@xdskit/api";
import { edsCluster, grpcListener, type RouteOption, routeConfiguration } from "@xdskit/api/builders";
import { Cluster_DiscoveryType, Cluster_LbPolicy, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { OutlierDetectionSchema } from "@xdskit/api/envoy/config/cluster/v3/outlier_detection";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { HttpProtocolOptionsSchema } from "@xdskit/api/envoy/extensions/upstreams/http/v3/http_protocol_options";
import type { Policy } from "../objects/policy.js";
import type { KubernetesService, ServicePort } from "../objects/service.js";
import { callsOf } from "./calls.js";
import { externalAssignment } from "./load-assignment.js";
import { portName, targetsOf, unresolvedName } from "./names.js";

/** Everything about a Service but where it is answered: changes of its pods change none of it. */
export function serviceResources(service: KubernetesService, attached: AttachedRoutes): readonly Resource[] {
  return service.ports.flatMap((port) => {
    const alike = alikeOf(service.policy, port.isHttp2);
    const name = portName(service, port);
    const routes = attached.get(port.port);
    return [
      service.externalName === undefined ? alike.cluster(name) : dnsCluster(service, service.externalName, port, name),
      routes === undefined ? alike.route(name) : routeOf(name, routes),
      ...listenersOf(targetsOf(service, port), name),
      ...(routes === undefined ? [] : unresolvedOf(routes, unresolvedName(name))),
    ];
  });
}

/** What the ports of Services with one policy and protocol have alike but for their names. */
interface Alike {
  readonly cluster: (name: string) => Resource;
  /** Without attached routes. */
  readonly route: (name: string) => Resource;
}

/** By policy and protocol: most Services have one of a few. */
const known = new Map<string, Alike>();
const mostKnown = 16;

function alikeOf(policy: Policy, isHttp2: boolean): Alike {
  const key = JSON.stringify([isHttp2, Object.entries(policy).sort()]);
  const found = known.get(key);
  if (found !== undefined) return found;
  const alike: Alike = {
    cluster: (name) => createResource(edsCluster(clusterOptions(name, policy, isHttp2))),
    route: (name) => routeOf(name, [{ prefix: "", cluster: name, route: callsOf(policy) }]),
  };
  if (known.size >= mostKnown) return alike;
  known.set(key, { cluster: resourcesAlike(alike.cluster), route: resourcesAlike(alike.route) });
  return alikeOf(policy, isHttp2);
}

function routeOf(name: string, routes: readonly RouteOption[]): Resource {
  return createResource(routeConfiguration({ name, virtualHosts: [{ name, routes }] }));
}

/** The routes of each port that has some, by its number. */
type AttachedRoutes = ReadonlyMap<number, readonly RouteOption[]>;

/** The cluster without endpoints, if routes lead to it. */
function unresolvedOf(routes: readonly RouteOption[], name: string): readonly Resource[] {
  const isUsed = routes.some(({ cluster, weightedClusters = {} }) => cluster === name || name in weightedClusters);
  if (!isUsed) return [];
  return [
    createResource(edsCluster({ name })),
    createResource(create(ClusterLoadAssignmentSchema, { clusterName: name })),
  ];
}

/** The most that the field takes: who calls a Service over DNS has no limit either. */
const unlimited = 0xffff_ffff;

/** Without it, Envoys speak HTTP/1.1 to pods. gRPC's clients read nothing of it. */
const overHttp2 = {
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": anyPack(
    HttpProtocolOptionsSchema,
    create(HttpProtocolOptionsSchema, {
      upstreamProtocolOptions: {
        case: "explicitHttpConfig",
        value: { protocolConfig: { case: "http2ProtocolOptions", value: {} } },
      },
    }),
  ),
};

function clusterOptions(name: string, policy: Policy, isHttp2: boolean) {
  const maxRequests = policy.maxRequests ?? unlimited;
  return {
    name,
    circuitBreakers: { thresholds: [{ maxConnections: unlimited, maxPendingRequests: unlimited, maxRequests }] },
    lbPolicy: balancings[policy.balancing ?? "round_robin"],
    ...(policy.ejectPercent === undefined ? {} : { outlierDetection: ejecting(policy.ejectPercent) }),
    ...(isHttp2 ? { typedExtensionProtocolOptions: overHttp2 } : {}),
  };
}

function dnsCluster({ policy }: KubernetesService, externalName: string, port: ServicePort, name: string): Resource {
  return createResource(
    create(ClusterSchema, {
      ...clusterOptions(name, policy, port.isHttp2),
      clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.LOGICAL_DNS },
      loadAssignment: externalAssignment(name, externalName, port),
    }),
  );
}

const balancings: Readonly<Record<NonNullable<Policy["balancing"]>, Cluster_LbPolicy>> = {
  round_robin: Cluster_LbPolicy.ROUND_ROBIN,
  least_request: Cluster_LbPolicy.LEAST_REQUEST,
  ring_hash: Cluster_LbPolicy.RING_HASH,
};

/** By the share of calls that fail, and by nothing else. */
function ejecting(failurePercentageThreshold: number): MessageInitShape<typeof OutlierDetectionSchema> {
  return {
    failurePercentageThreshold,
    enforcingFailurePercentage: 100,
    failurePercentageMinimumHosts: 2,
    failurePercentageRequestVolume: 10,
    enforcingSuccessRate: 0,
    enforcingConsecutive5xx: 0,
    enforcingConsecutiveGatewayFailure: 0,
    maxEjectionPercent: 50,
  };
}

/** Of the first target of a port. */
const firstListener = resourcesAlike((name) =>
  createResource(grpcListener({ name, routeConfigName: name, httpConnectionManager: { statPrefix: name } })),
);

/** The names of all targets lead to one route configuration. Most of what a cluster gives is listeners. */
function listenersOf(targets: readonly string[], route: string): readonly Resource[] {
  const first = firstListener(route);
  return targets.map((name) => (name === route ? first : renamedResource(first, name)));
}
