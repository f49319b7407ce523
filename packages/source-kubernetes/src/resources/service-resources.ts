import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource } from "@xdskit/api";
import { Cluster_DiscoveryType, Cluster_LbPolicy, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { OutlierDetectionSchema } from "@xdskit/api/envoy/config/cluster/v3/outlier_detection";
import { ApiVersion, type ConfigSourceSchema } from "@xdskit/api/envoy/config/core/v3/config_source";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import type { RouteActionSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import { RouterSchema } from "@xdskit/api/envoy/extensions/filters/http/router/v3/router";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
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

const ads: MessageInitShape<typeof ConfigSourceSchema> = {
  resourceApiVersion: ApiVersion.V3,
  configSourceSpecifier: { case: "ads", value: {} },
};

/** The most that the field takes: who calls a Service over DNS has no limit either. */
const unlimited = 0xffff_ffff;

function clusterOf(service: Service, port: ServicePort, name: string): Resource {
  const { externalName, policy } = service;
  return createResource(
    create(ClusterSchema, {
      name,
      ...(externalName === undefined
        ? {
            clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
            edsClusterConfig: { edsConfig: ads },
          }
        : {
            clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.LOGICAL_DNS },
            loadAssignment: externalAssignment(name, externalName, port),
          }),
      circuitBreakers: {
        thresholds: [
          {
            maxConnections: unlimited,
            maxPendingRequests: unlimited,
            maxRequests: policy.maxRequests ?? unlimited,
          },
        ],
      },
      lbPolicy: balancings[policy.balancing ?? "round_robin"],
      ...(policy.ejectPercent === undefined ? {} : { outlierDetection: ejecting(policy.ejectPercent) }),
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
function callsOf({ hashHeader, timeoutMs, retries, retryOn }: Policy): MessageInitShape<typeof RouteActionSchema> {
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
  return createResource(
    create(RouteConfigurationSchema, {
      name,
      virtualHosts: [
        {
          name,
          domains: ["*"],
          routes: [
            {
              match: { pathSpecifier: { case: "prefix", value: "" } },
              action: {
                case: "route",
                value: { ...callsOf(policy), clusterSpecifier: { case: "cluster", value: name } },
              },
            },
          ],
        },
      ],
    }),
  );
}

const router = anyPack(RouterSchema, create(RouterSchema));

function listenersOf(targets: readonly string[], route: string): readonly Resource[] {
  const manager = anyPack(
    HttpConnectionManagerSchema,
    create(HttpConnectionManagerSchema, {
      statPrefix: route,
      routeSpecifier: { case: "rds", value: { routeConfigName: route, configSource: ads } },
      httpFilters: [{ name: "envoy.filters.http.router", configType: { case: "typedConfig", value: router } }],
    }),
  );
  return targets.map((name) => createResource(create(ListenerSchema, { name, apiListener: { apiListener: manager } })));
}
