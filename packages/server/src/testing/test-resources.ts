import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource } from "@xdskit/api";
import { Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";

/** A cluster whose content is told apart by a text. */
export function cluster(name: string, content = "") {
  return create(ClusterSchema, { name, altStatName: content });
}

/** A cluster whose load assignment comes over ADS. */
export function edsCluster(name: string, serviceName: string) {
  const edsConfig = { configSourceSpecifier: { case: "ads", value: {} } } as const;
  const clusterDiscoveryType = { case: "type", value: Cluster_DiscoveryType.EDS } as const;
  return create(ClusterSchema, { name, clusterDiscoveryType, edsClusterConfig: { serviceName, edsConfig } });
}

/** A load assignment with one endpoint at a port. */
export function loadAssignment(clusterName: string, port: number) {
  const address = {
    case: "socketAddress",
    value: { address: "127.0.0.1", portSpecifier: { case: "portValue", value: port } },
  } as const;
  const endpoint = { hostIdentifier: { case: "endpoint", value: { address: { address } } } } as const;
  return create(ClusterLoadAssignmentSchema, { clusterName, endpoints: [{ lbEndpoints: [endpoint] }] });
}

export function listener(name: string, content = "") {
  return create(ListenerSchema, { name, statPrefix: content });
}

/** A listener whose routes are asked for by name. */
export function routedListener(name: string, routeConfigName: string) {
  const configSource = { configSourceSpecifier: { case: "ads", value: {} } } as const;
  const routeSpecifier = { case: "rds", value: { routeConfigName, configSource } } as const;
  const manager = create(HttpConnectionManagerSchema, { statPrefix: "http", routeSpecifier });
  const configType = { case: "typedConfig", value: anyPack(HttpConnectionManagerSchema, manager) } as const;
  return create(ListenerSchema, { name, filterChains: [{ filters: [{ name: "http", configType }] }] });
}

export function routeConfiguration(name: string, clusterName: string) {
  const action = { case: "route", value: { clusterSpecifier: { case: "cluster", value: clusterName } } } as const;
  const match = { pathSpecifier: { case: "prefix", value: "/" } } as const;
  return create(RouteConfigurationSchema, {
    name,
    virtualHosts: [{ name, domains: ["*"], routes: [{ match, action }] }],
  });
}

/** The same as a resource. */
export function clusterResource(name: string, content = ""): Resource {
  return createResource(cluster(name, content));
}
