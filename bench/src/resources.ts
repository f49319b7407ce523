import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Cluster, Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ApiVersion, type ConfigSourceSchema } from "@xdskit/api/envoy/config/core/v3/config_source";
import { type ClusterLoadAssignment, ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { type Listener, ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { type RouteConfiguration, RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { RouterSchema } from "@xdskit/api/envoy/extensions/filters/http/router/v3/router";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";

// The synthetic resources. README.md lists their fields: every server under test builds the same.

const listenerName = "listener-0";
const routeName = "route-0";

const clusterName = (index: number) => `cluster-${String(index).padStart(6, "0")}`;
const markerText = (marker: number) => `m-${String(marker).padStart(8, "0")}`;

const fromAds: MessageInitShape<typeof ConfigSourceSchema> = {
  resourceApiVersion: ApiVersion.V3,
  configSourceSpecifier: { case: "ads", value: {} },
};

/** Metadata of about this many bytes; undefined for 0. */
function padding(bytes: number) {
  return bytes === 0 ? undefined : { filterMetadata: { bench: { pad: "x".repeat(bytes) } } };
}

function cluster(index: number, marker: number, payload: number): Cluster {
  return create(ClusterSchema, {
    name: clusterName(index),
    altStatName: markerText(marker),
    clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: fromAds },
    connectTimeout: { seconds: 1n },
    metadata: padding(payload),
  });
}

function loadAssignment(group: number, index: number, endpoints: number, marker: number, payload: number) {
  const address = `10.${group % 256}.${Math.floor(index / 256) % 256}.${index % 256}`;
  return create(ClusterLoadAssignmentSchema, {
    clusterName: clusterName(index),
    endpoints: [
      {
        locality: { region: "region", zone: "zone" },
        lbEndpoints: Array.from({ length: endpoints }, (_, number) => ({
          hostIdentifier: {
            case: "endpoint" as const,
            value: {
              hostname: number === 0 ? markerText(marker) : "",
              address: {
                address: {
                  case: "socketAddress" as const,
                  value: { address, portSpecifier: { case: "portValue" as const, value: 8000 + number } },
                },
              },
            },
          },
          metadata: number === 0 ? padding(payload) : undefined,
          loadBalancingWeight: 1,
        })),
      },
    ],
  });
}

function listener(marker: number): Listener {
  const manager = create(HttpConnectionManagerSchema, {
    statPrefix: markerText(marker),
    routeSpecifier: { case: "rds", value: { configSource: fromAds, routeConfigName: routeName } },
    httpFilters: [
      { name: "router", configType: { case: "typedConfig", value: anyPack(RouterSchema, create(RouterSchema)) } },
    ],
  });
  return create(ListenerSchema, {
    name: listenerName,
    address: {
      address: {
        case: "socketAddress",
        value: { address: "127.0.0.1", portSpecifier: { case: "portValue", value: 10000 } },
      },
    },
    filterChains: [
      {
        filters: [
          {
            name: "http",
            configType: { case: "typedConfig", value: anyPack(HttpConnectionManagerSchema, manager) },
          },
        ],
      },
    ],
  });
}

function route(marker: number): RouteConfiguration {
  return create(RouteConfigurationSchema, {
    name: routeName,
    virtualHosts: [
      {
        name: markerText(marker),
        domains: ["*"],
        routes: [
          {
            match: { pathSpecifier: { case: "prefix", value: "/" } },
            action: {
              case: "route",
              value: { clusterSpecifier: { case: "cluster", value: clusterName(0) } },
            },
          },
        ],
      },
    ],
  });
}

/** The kinds of resources that the control API names. */
export const kinds = ["cds", "eds", "lds", "rds"] as const;
export type Kind = (typeof kinds)[number];

/** The size of the synthetic configuration: `payload` in bytes for each resource. */
export interface Shape {
  readonly clusters: number;
  readonly endpoints: number;
  readonly payload: number;
  readonly groups: number;
}

/** The first `count` resources of a kind in one group; there is one listener and one route configuration. */
export function build(
  kind: Kind,
  group: number,
  count: number,
  marker: number,
  shape: Shape,
): (Cluster | ClusterLoadAssignment | Listener | RouteConfiguration)[] {
  const indices = Array.from({ length: count }, (_, index) => index);
  switch (kind) {
    case "cds":
      return indices.map((index) => cluster(index, marker, shape.payload));
    case "eds":
      return indices.map((index) => loadAssignment(group, index, shape.endpoints, marker, shape.payload));
    case "lds":
      return [listener(marker)];
    case "rds":
      return [route(marker)];
  }
}
