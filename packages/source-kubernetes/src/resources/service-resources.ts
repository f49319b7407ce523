import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createResource, type Resource, renamedResource } from "@xdskit/api";
import { edsCluster, grpcListener, type RouteOption, routeConfiguration } from "@xdskit/api/builders";
import { Cluster_DiscoveryType, Cluster_LbPolicy, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { OutlierDetectionSchema } from "@xdskit/api/envoy/config/cluster/v3/outlier_detection";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { Policy } from "../objects/policy.js";
import type { Service, ServicePort } from "../objects/service.js";
import { callsOf } from "./calls.js";
import { externalAssignment } from "./load-assignment.js";
import { portName, targetsOf, unresolvedName } from "./names.js";

/** Everything about a Service but where it is answered: changes of its pods change none of it. */
export function serviceResources(service: Service, attached: AttachedRoutes): readonly Resource[] {
  return service.ports.flatMap((port) => {
    const name = portName(service, port);
    const routes = attached.get(port.port) ?? [{ prefix: "", cluster: name, route: callsOf(service.policy) }];
    return [
      clusterOf(service, port, name),
      createResource(routeConfiguration({ name, virtualHosts: [{ name, routes }] })),
      ...listenersOf(targetsOf(service, port), name),
      ...unresolvedOf(routes, unresolvedName(name)),
    ];
  });
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

function clusterOf(service: Service, port: ServicePort, name: string): Resource {
  const { externalName, policy } = service;
  const maxRequests = policy.maxRequests ?? unlimited;
  const common = {
    name,
    circuitBreakers: { thresholds: [{ maxConnections: unlimited, maxPendingRequests: unlimited, maxRequests }] },
    lbPolicy: balancings[policy.balancing ?? "round_robin"],
    ...(policy.ejectPercent === undefined ? {} : { outlierDetection: ejecting(policy.ejectPercent) }),
  };
  if (externalName === undefined) return edsClusterOf(common, policy);
  return createResource(
    create(ClusterSchema, {
      ...common,
      clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.LOGICAL_DNS },
      loadAssignment: externalAssignment(name, externalName, port),
    }),
  );
}

/** The cluster that was made last: most Services have the same policy. */
let last: { readonly policy: string; readonly cluster: Resource } | undefined;

function edsClusterOf(
  options: Parameters<typeof edsCluster>[0],
  { balancing, maxRequests, ejectPercent }: Policy,
): Resource {
  const { name } = options;
  const policy = JSON.stringify([balancing, maxRequests, ejectPercent]);
  if (last?.policy !== policy) last = { policy, cluster: createResource(edsCluster(options)) };
  const { cluster } = last;
  if (cluster.name === name) return cluster;
  // It names its load assignment alone.
  return renamedResource(
    cluster,
    name,
    cluster.references.map(({ type }) => ({ type, name })),
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
    ...{ enforcingFailurePercentage: 100, failurePercentageMinimumHosts: 2, failurePercentageRequestVolume: 10 },
    ...{ enforcingSuccessRate: 0, enforcingConsecutive5xx: 0, enforcingConsecutiveGatewayFailure: 0 },
    maxEjectionPercent: 50,
  };
}

/** The names of all targets lead to one route configuration. Most of what a cluster gives is listeners. */
function listenersOf(targets: readonly string[], route: string): readonly Resource[] {
  const httpConnectionManager = { statPrefix: route };
  const first = createResource(grpcListener({ name: route, routeConfigName: route, httpConnectionManager }));
  return targets.map((name) => (name === route ? first : renamedResource(first, name)));
}
