import { create } from "@bufbuild/protobuf";
import { type Cluster, Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { checkCall } from "../errors/option-table.js";
import { adsSource, type ConfigSourceFields } from "./config-source.js";
import { type EndpointOption, endpointsRule, loadAssignment } from "./endpoints.js";
import { type BesideFields, builderCall } from "./fields.js";

type ClusterFields = BesideFields<typeof ClusterSchema, "name" | "clusterDiscoveryType">;

/** The options of a cluster whose endpoints are a resource. */
export type EdsClusterOptions = Omit<ClusterFields, "edsClusterConfig" | "loadAssignment"> & {
  readonly name: string;
  /** The name of its load assignment. Default: its own. */
  readonly serviceName?: string | undefined;
  /** Where clients get that. Default: on their ADS stream. */
  readonly edsConfig?: ConfigSourceFields | undefined;
};

/** The options of a cluster that names its endpoints itself. */
export type ClusterOptions = Omit<ClusterFields, "edsClusterConfig" | "loadAssignment"> & {
  readonly name: string;
  readonly endpoints: readonly EndpointOption[];
};

const calls = {
  eds: builderCall({
    call: "edsCluster",
    example: '{ name: "web" }',
    needs: ["name"],
    beside: ClusterSchema,
    own: { name: "string", serviceName: "string", edsConfig: "object" },
  }),
  dns: builderCall({
    call: "dnsCluster",
    example: '{ name: "db", endpoints: [{ address: "db.internal", portValue: 5432 }] }',
    needs: ["name", "endpoints"],
    beside: ClusterSchema,
    own: { name: "string", endpoints: endpointsRule },
  }),
  static: builderCall({
    call: "staticCluster",
    example: '{ name: "web", endpoints: [{ address: "127.0.0.1", portValue: 8080 }] }',
    needs: ["name", "endpoints"],
    beside: ClusterSchema,
    own: { name: "string", endpoints: endpointsRule },
  }),
};

/**
 * Makes a cluster whose endpoints come over EDS: `loadAssignment` of the same name. Other fields of `Cluster` may stand
 * beside; Envoy's defaults hold, such as 5 s to connect, and round robin.
 *
 * @example
 * ```ts
 * import { edsCluster, loadAssignment } from "@xdskit/api/builders";
 *
 * const web = edsCluster({ name: "web", connectTimeout: { seconds: 1n } });
 * const endpoints = loadAssignment({ clusterName: "web", endpoints: [{ address: "10.0.0.1", portValue: 8080 }] });
 * ```
 */
export function edsCluster(options: EdsClusterOptions): Cluster {
  checkCall(calls.eds, options);
  const { serviceName, edsConfig = adsSource, ...more } = options;
  return create(ClusterSchema, {
    ...more,
    clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig, ...(serviceName === undefined ? {} : { serviceName }) },
  });
}

/**
 * Makes a cluster of host names: each address that DNS has for them is an endpoint (strict DNS).
 *
 * @example
 * ```ts
 * import { dnsCluster } from "@xdskit/api/builders";
 *
 * const search = dnsCluster({ name: "search", endpoints: [{ address: "search.internal", portValue: 443 }] });
 * ```
 */
export function dnsCluster(options: ClusterOptions): Cluster {
  checkCall(calls.dns, options);
  return withEndpoints(Cluster_DiscoveryType.STRICT_DNS, options);
}

/**
 * Makes a cluster of IP addresses that do not change by themselves.
 *
 * @example
 * ```ts
 * import { staticCluster } from "@xdskit/api/builders";
 *
 * const web = staticCluster({ name: "web", endpoints: [{ address: "127.0.0.1", portValue: 8080 }] });
 * ```
 */
export function staticCluster(options: ClusterOptions): Cluster {
  checkCall(calls.static, options);
  return withEndpoints(Cluster_DiscoveryType.STATIC, options);
}

function withEndpoints(value: Cluster_DiscoveryType, { endpoints, ...more }: ClusterOptions): Cluster {
  return create(ClusterSchema, {
    ...more,
    clusterDiscoveryType: { case: "type", value },
    loadAssignment: loadAssignment({ clusterName: more.name, endpoints }),
  });
}
