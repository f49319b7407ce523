import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Cluster, Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ConfigSource, ConfigSourceSchema } from "@xdskit/api/envoy/config/core/v3/config_source";
import { type ClusterLoadAssignment, ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  type LbEndpointCollection,
  LbEndpointCollectionSchema,
  LbEndpointSchema,
} from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { type Listener, ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { type FilterChain, FilterChainSchema } from "@xdskit/api/envoy/config/listener/v3/listener_components";
import { type RouteConfiguration, RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { type VirtualHost, VirtualHostSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import { ClusterConfigSchema } from "@xdskit/api/envoy/extensions/clusters/aggregate/v3/cluster";
import {
  type HttpConnectionManager,
  HttpConnectionManagerSchema,
} from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { TcpProxySchema } from "@xdskit/api/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy";

export const ads: ConfigSource = create(ConfigSourceSchema, { configSourceSpecifier: { case: "ads", value: {} } });

/** An HTTP connection manager whose routes have a name, or stand in it. */
export function manager(routes: string | RouteConfiguration): HttpConnectionManager {
  const routeSpecifier =
    typeof routes === "string"
      ? ({ case: "rds", value: { routeConfigName: routes, configSource: ads } } as const)
      : ({ case: "routeConfig", value: routes } as const);
  return create(HttpConnectionManagerSchema, { statPrefix: "in", routeSpecifier });
}

/** A listener as gRPC's clients ask for it, and as other control planes make it: without a prefix of statistics. */
export function apiListener(name: string, routes: string | RouteConfiguration): Listener {
  const apiListener = anyPack(HttpConnectionManagerSchema, { ...manager(routes), statPrefix: "" });
  return create(ListenerSchema, { name, apiListener: { apiListener } });
}

/** A listener with filter chains, as for Envoy. */
export function socketListener(name: string, ...filterChains: readonly FilterChain[]): Listener {
  const socket = { address: "127.0.0.1", portSpecifier: { case: "portValue", value: 10_000 } } as const;
  const address = { address: { case: "socketAddress", value: socket } } as const;
  return create(ListenerSchema, { name, address, filterChains: [...filterChains] });
}

export function httpChain(name: string, routes: string | RouteConfiguration): FilterChain {
  const typedConfig = anyPack(HttpConnectionManagerSchema, manager(routes));
  return create(FilterChainSchema, {
    name,
    filters: [{ name: "filter", configType: { case: "typedConfig", value: typedConfig } }],
  });
}

export function tcpChain(name: string, cluster: string): FilterChain {
  const proxy = create(TcpProxySchema, { statPrefix: "in", clusterSpecifier: { case: "cluster", value: cluster } });
  const typedConfig = anyPack(TcpProxySchema, proxy);
  return create(FilterChainSchema, {
    name,
    filters: [{ name: "filter", configType: { case: "typedConfig", value: typedConfig } }],
  });
}

/** Routes of one virtual host for all domains, to these clusters. */
export function routes(name: string, ...clusters: readonly string[]): RouteConfiguration {
  return create(RouteConfigurationSchema, { name, virtualHosts: [host("all", ["*"], ...clusters)] });
}

export function hosts(name: string, ...virtualHosts: readonly VirtualHost[]): RouteConfiguration {
  return create(RouteConfigurationSchema, { name, virtualHosts: [...virtualHosts] });
}

export function host(name: string, domains: readonly string[], ...clusters: readonly string[]): VirtualHost {
  const to = (cluster: string): NonNullable<MessageInitShape<typeof VirtualHostSchema>["routes"]>[number] => ({
    match: { pathSpecifier: { case: "prefix", value: `/${cluster}` } },
    action: { case: "route", value: { clusterSpecifier: { case: "cluster", value: cluster } } },
  });
  return create(VirtualHostSchema, { name, domains: [...domains], routes: clusters.map(to) });
}

/** A cluster of EDS; `service` names its load assignment if the cluster's name does not. */
export function edsCluster(name: string, service = "", altStatName = ""): Cluster {
  return create(ClusterSchema, {
    name,
    altStatName,
    clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: ads, serviceName: service },
  });
}

export function inlineCluster(name: string, type: Cluster_DiscoveryType, ...ports: readonly number[]): Cluster {
  return create(ClusterSchema, {
    name,
    clusterDiscoveryType: { case: "type", value: type },
    loadAssignment: assignment(name, ...ports),
  });
}

export function aggregateCluster(name: string, ...clusters: readonly string[]): Cluster {
  const typedConfig = anyPack(ClusterConfigSchema, create(ClusterConfigSchema, { clusters: [...clusters] }));
  return create(ClusterSchema, {
    name,
    clusterDiscoveryType: { case: "clusterType", value: { name: "envoy.clusters.aggregate", typedConfig } },
  });
}

/** A load assignment whose localities name lists of endpoints. */
export function listAssignment(clusterName: string, ...lists: readonly string[]): ClusterLoadAssignment {
  const ledsConfig = { configSourceSpecifier: { case: "self", value: {} } } as const;
  const endpoints = lists.map((ledsCollectionName) => ({
    locality: { zone: ledsCollectionName },
    lbConfig: { case: "ledsClusterLocalityConfig", value: { ledsConfig, ledsCollectionName } } as const,
  }));
  return create(ClusterLoadAssignmentSchema, { clusterName, endpoints });
}

export function endpointList(...ports: readonly number[]): LbEndpointCollection {
  const entries = assignment("", ...ports).endpoints.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map((endpoint) => ({
      resourceSpecifier: { case: "inlineEntry", value: { resource: anyPack(LbEndpointSchema, endpoint) } } as const,
    })),
  );
  return create(LbEndpointCollectionSchema, { entries });
}

export function assignment(clusterName: string, ...ports: readonly number[]): ClusterLoadAssignment {
  const at = (portValue: number) => {
    const socket = { address: "127.0.0.1", portSpecifier: { case: "portValue", value: portValue } } as const;
    const address = { address: { case: "socketAddress", value: socket } } as const;
    return { hostIdentifier: { case: "endpoint", value: { address } } } as const;
  };
  return create(ClusterLoadAssignmentSchema, { clusterName, endpoints: [{ lbEndpoints: ports.map(at) }] });
}
