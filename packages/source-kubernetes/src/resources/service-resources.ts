import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource } from "@xdskit/api";
import { edsCluster, grpcListener, type RouteOption, routeConfiguration } from "@xdskit/api/builders";
import { Cluster_DiscoveryType, Cluster_LbPolicy, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { OutlierDetectionSchema } from "@xdskit/api/envoy/config/cluster/v3/outlier_detection";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { Policy } from "../objects/policy.js";
import type { Service, ServicePort } from "../objects/service.js";
import { externalAssignment } from "./load-assignment.js";
import { portName, targetsOf } from "./names.js";

/** Everything about a Service but where it is answered: changes of its pods change none of it. */
export function serviceResources(service: Service): readonly Resource[] {
  return service.ports.flatMap((port) => {
    const name = portName(service, port);
    return [
      clusterOf(service, port, name),
      routesOf(service.policy, name),
      ...listenersOf(targetsOf(service, port), name),
    ];
  });
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
  if (externalName === undefined) return createResource(edsCluster(common));
  return createResource(
    create(ClusterSchema, {
      ...common,
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
    ...{ enforcingFailurePercentage: 100, failurePercentageMinimumHosts: 2, failurePercentageRequestVolume: 10 },
    ...{ enforcingSuccessRate: 0, enforcingConsecutive5xx: 0, enforcingConsecutiveGatewayFailure: 0 },
    maxEjectionPercent: 50,
  };
}

/** What every call of a Service has. */
function callsOf({ hashHeader, timeoutMs, retries, retryOn }: Policy): RouteOption["route"] {
  return {
    ...(hashHeader === undefined
      ? {}
      : { hashPolicy: [{ policySpecifier: { case: "header", value: { headerName: hashHeader } } }] }),
    ...(timeoutMs === undefined ? {} : { maxStreamDuration: { maxStreamDuration: durationFromMs(timeoutMs) } }),
    ...(retries === undefined && retryOn === undefined
      ? {}
      : { retryPolicy: { retryOn: (retryOn ?? ["unavailable"]).join(), numRetries: retries ?? 1 } }),
  };
}

/** The names of all targets lead to one route. */
function routesOf(policy: Policy, name: string): Resource {
  const routes = [{ prefix: "", cluster: name, route: callsOf(policy) }];
  return createResource(routeConfiguration({ name, virtualHosts: [{ name, routes }] }));
}

function listenersOf(targets: readonly string[], route: string): readonly Resource[] {
  const httpConnectionManager = { statPrefix: route };
  const { apiListener } = grpcListener({ name: route, routeConfigName: route, httpConnectionManager });
  return targets.map((name) => createResource(create(ListenerSchema, { name, apiListener })));
}
