import { createUnpack, type Registry, type ResourceName } from "@xdskit/api";
import { type Cluster, Cluster_DiscoveryType } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ClusterConfig, ClusterConfigSchema } from "@xdskit/api/envoy/extensions/clusters/aggregate/v3/cluster";
import type { ClusterEndpoints } from "../../contract/xds-config.js";
import { sourceProblem } from "./config-source.js";

/** The needs of a cluster. */
export type ClusterNeeds =
  | { readonly kind: "aggregate"; readonly clusters: readonly ResourceName[] }
  | { readonly kind: "eds"; readonly name: ResourceName; readonly problem: string | undefined }
  | { readonly kind: "nothing"; readonly endpoints: ClusterEndpoints };

export function clusterNeeds(cluster: Cluster, registry: Registry): ClusterNeeds {
  const { clusterDiscoveryType: discovery, loadAssignment: assignment } = cluster;
  const inline = (discovery: "static" | "strict-dns" | "logical-dns"): ClusterNeeds => ({
    kind: "nothing",
    endpoints: { kind: "inline", discovery, assignment },
  });
  if (discovery.case === "clusterType") {
    const { name, typedConfig } = discovery.value;
    const content = typedConfig === undefined ? undefined : createUnpack(registry)(typedConfig);
    if (content?.schema.typeName === ClusterConfigSchema.typeName)
      return { kind: "aggregate", clusters: (content.message as ClusterConfig).clusters };
    return { kind: "nothing", endpoints: { kind: "other", type: name } };
  }
  switch (discovery.value ?? Cluster_DiscoveryType.STATIC) {
    case Cluster_DiscoveryType.EDS: {
      const { serviceName, edsConfig } = cluster.edsClusterConfig ?? {};
      return { kind: "eds", name: serviceName || cluster.name, problem: sourceProblem(edsConfig) };
    }
    case Cluster_DiscoveryType.STRICT_DNS:
      return inline("strict-dns");
    case Cluster_DiscoveryType.LOGICAL_DNS:
      return inline("logical-dns");
    case Cluster_DiscoveryType.ORIGINAL_DST:
      return { kind: "nothing", endpoints: { kind: "other", type: "ORIGINAL_DST" } };
    default:
      return inline("static");
  }
}
