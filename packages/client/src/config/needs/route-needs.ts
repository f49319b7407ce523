import { createUnpack, type Registry, type ResourceName, resourceTypes } from "@xdskit/api";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";

/** The needs of the routes of some virtual hosts, each name once, in the order of the routes. */
export interface RouteNeeds {
  readonly clusters: readonly ResourceName[];
  readonly plugins: readonly string[];
  readonly clusterHeaders: readonly string[];
}

const routedClusterUrl = resourceTypes.find("cluster")?.typeUrl;

/** @param only The virtual host that counts; undefined means all. */
export function routeNeeds(
  configuration: RouteConfiguration,
  only: VirtualHost | undefined,
  registry: Registry,
): RouteNeeds {
  const hosts = only === undefined ? configuration.virtualHosts : [only];
  const references = resourceTypes
    .find("route")
    ?.references({ ...configuration, virtualHosts: [...hosts] } as RouteConfiguration, createUnpack(registry));
  const clusters = (references ?? []).filter((named) => named.type === routedClusterUrl);
  const plugins = new Set<string>();
  const clusterHeaders = new Set<string>();
  for (const { action } of hosts.flatMap(({ routes }) => routes)) {
    if (action.case !== "route") continue;
    const chosen = action.value.clusterSpecifier;
    if (chosen.case === "clusterSpecifierPlugin") plugins.add(chosen.value);
    if (chosen.case === "inlineClusterSpecifierPlugin") plugins.add(chosen.value.extension?.name ?? "");
    if (chosen.case === "clusterHeader") clusterHeaders.add(chosen.value);
    if (chosen.case !== "weightedClusters") continue;
    for (const { clusterHeader } of chosen.value.clusters) if (clusterHeader !== "") clusterHeaders.add(clusterHeader);
  }
  return { clusters: clusters.map(({ name }) => name), plugins: [...plugins], clusterHeaders: [...clusterHeaders] };
}
