import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { snakeCase } from "../../../text/snake-case.js";
import type { SpecialProblem } from "../problem.js";
import { none, refused, refusedByEnvoy, within } from "../problem.js";
import { dropProblems, numericEndpoints, weightProblems } from "./endpoints.js";

/** Cluster.DiscoveryType */
const types = ["STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS", "ORIGINAL_DST"] as const;
/** Cluster.LbPolicy */
const ringHash = 2;
const maglev = 5;
export const lbPolicies = { clusterProvided: 6, loadBalancingPolicyConfig: 7 };

/** How a cluster finds its endpoints; undefined if an extension does. The default is STATIC. */
export function discoveryTypeOf({
  clusterDiscoveryType: { case: kind, value },
}: Cluster): (typeof types)[number] | undefined {
  if (kind === undefined) return "STATIC";
  return kind === "type" ? types[value] : undefined;
}

/** Fields that do not match the cluster's type. */
export function typeProblems(cluster: Cluster): readonly SpecialProblem[] {
  switch (discoveryTypeOf(cluster)) {
    case "STATIC": {
      const advice = ": the endpoints of a STATIC cluster are not resolved; STRICT_DNS and LOGICAL_DNS resolve names";
      const { loadAssignment } = cluster;
      if (loadAssignment === undefined) return none;
      const problems = [...numericEndpoints(loadAssignment, advice), ...dropProblems(loadAssignment, refused)];
      return within(
        [...problems, ...(addsWeights(cluster) ? weightProblems(loadAssignment) : none)],
        "load_assignment",
      );
    }
    case "EDS":
      return edsProblems(cluster);
    case "STRICT_DNS":
      return [...resolverProblems(cluster), ...namedDropProblems(cluster, refused)];
    case "LOGICAL_DNS":
      // gRPC's clients read the address, and nothing else.
      return [
        ...logicalDnsProblems(cluster),
        ...resolverProblems(cluster),
        ...namedDropProblems(cluster, refusedByEnvoy),
      ];
    case "ORIGINAL_DST":
      return originalDstProblems(cluster);
    default:
      return none;
  }
}

/** Endpoints come over EDS to clusters of that type alone. What an extension's type needs is left to Envoy. */
export function edsConfigProblems(cluster: Cluster): readonly SpecialProblem[] {
  const type = discoveryTypeOf(cluster);
  if (cluster.edsClusterConfig === undefined || type === undefined || type === "EDS") return none;
  // gRPC's clients do not look at it.
  const refuse = type === "LOGICAL_DNS" ? refusedByEnvoy : refused;
  return [refuse(["eds_cluster_config"], `must not be set in a cluster of type ${type}: it is for type EDS`)];
}

/** Whether all weights are added up at once. Subsets are balanced one by one. */
function addsWeights({ lbPolicy, loadBalancingPolicy, lbSubsetConfig }: Cluster): boolean {
  const isHashed = lbPolicy === ringHash || lbPolicy === maglev;
  return isHashed && loadBalancingPolicy === undefined && lbSubsetConfig === undefined;
}

function namedDropProblems({ loadAssignment }: Cluster, refuse: typeof refused): readonly SpecialProblem[] {
  return loadAssignment === undefined ? none : within(dropProblems(loadAssignment, refuse), "load_assignment");
}

function edsProblems({ edsClusterConfig }: Cluster): readonly SpecialProblem[] {
  if (edsClusterConfig?.edsConfig !== undefined) return none;
  const example = "such as { ads: {}, resource_api_version: V3 }";
  return [refused(["type"], `a cluster of type EDS needs eds_cluster_config.eds_config, ${example}`)];
}

function logicalDnsProblems({ loadAssignment }: Cluster): readonly SpecialProblem[] {
  const localities = loadAssignment?.endpoints ?? [];
  if (localities.length === 1 && localities[0]?.lbEndpoints.length === 1) return none;
  const count = localities.reduce((sum, { lbEndpoints }) => sum + lbEndpoints.length, 0);
  const found = `has ${count} in ${localities.length} ${localities.length === 1 ? "locality" : "localities"}`;
  const steps = loadAssignment === undefined ? ["type"] : ["load_assignment"];
  return [
    refused(steps, `a cluster of type LOGICAL_DNS needs exactly one endpoint in one locality; this one ${found}`),
  ];
}

/** Clusters that resolve names have their own resolver. */
function resolverProblems({ loadAssignment }: Cluster): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  for (const [locality, { lbEndpoints }] of (loadAssignment?.endpoints ?? []).entries()) {
    for (const [index, { hostIdentifier }] of lbEndpoints.entries()) {
      const address = hostIdentifier.case === "endpoint" ? hostIdentifier.value.address?.address : undefined;
      if (address?.case !== "socketAddress" || address.value.resolverName === "") continue;
      const steps = ["load_assignment", "endpoints", locality, "lb_endpoints", index, "endpoint", "address"];
      const message = "must not be set in a cluster that resolves its endpoints itself";
      problems.push(refused([...steps, "socket_address", "resolver_name"], message));
    }
  }
  return problems;
}

function originalDstProblems(cluster: Cluster): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  if (cluster.loadAssignment !== undefined)
    problems.push(refused(["load_assignment"], "a cluster of type ORIGINAL_DST must not have one"));
  if (cluster.lbPolicy !== lbPolicies.clusterProvided)
    problems.push(refused(["lb_policy"], "must be CLUSTER_PROVIDED in a cluster of type ORIGINAL_DST"));
  const { case: kind, value } = cluster.lbConfig;
  if (kind === "originalDstLbConfig" && value.httpHeaderName !== "" && !value.useHttpHeader)
    problems.push(refused(["original_dst_lb_config", "http_header_name"], "needs use_http_header: true too"));
  return problems;
}

/** Fields that load_balancing_policy excludes. */
export function loadBalancingPolicyProblems(cluster: Cluster): readonly SpecialProblem[] {
  const { loadBalancingPolicy, lbSubsetConfig, commonLbConfig } = cluster;
  if (loadBalancingPolicy === undefined) return none;
  if (loadBalancingPolicy.policies.length === 0)
    return [refused(["load_balancing_policy"], "needs at least one policy")];
  const type = discoveryTypeOf(cluster);
  // gRPC's clients read load_balancing_policy, and ignore the fields that it replaces.
  const conflict = type === "EDS" || type === "LOGICAL_DNS" || type === undefined ? refusedByEnvoy : refused;
  const problems: SpecialProblem[] = [];
  const message = "cannot be combined with load_balancing_policy";
  if (lbSubsetConfig !== undefined) problems.push(conflict(["lb_subset_config"], message));
  const locality = commonLbConfig?.localityConfigSpecifier.case;
  if (locality !== undefined) problems.push(conflict(["common_lb_config", snakeCase(locality)], message));
  if (commonLbConfig?.consistentHashingLbConfig !== undefined)
    problems.push(conflict(["common_lb_config", "consistent_hashing_lb_config"], message));
  return problems;
}

/** An lb_policy that does not match the cluster's type or its configuration. */
export function lbPolicyProblems(cluster: Cluster): readonly SpecialProblem[] {
  const { lbPolicy, loadBalancingPolicy, lbSubsetConfig } = cluster;
  if (loadBalancingPolicy !== undefined) return none;
  if (lbPolicy === lbPolicies.loadBalancingPolicyConfig)
    return [refused(["lb_policy"], "needs load_balancing_policy with LOAD_BALANCING_POLICY_CONFIG")];
  if (lbPolicy !== lbPolicies.clusterProvided) return lbConfigProblems(cluster);
  if (lbSubsetConfig !== undefined)
    return [refused(["lb_subset_config"], "cannot be combined with lb_policy CLUSTER_PROVIDED")];
  const type = discoveryTypeOf(cluster);
  if (type === undefined || type === "ORIGINAL_DST") return none;
  return [refused(["lb_policy"], `must not be CLUSTER_PROVIDED in a cluster of type ${type}, which provides none`)];
}

const leastRing = 1024n;

function lbConfigProblems(cluster: Cluster): readonly SpecialProblem[] {
  const { lbPolicy, commonLbConfig } = cluster;
  const problems: SpecialProblem[] = [];
  const type = commonLbConfig?.consistentHashingLbConfig?.useHostnameForHashing ? discoveryTypeOf(cluster) : undefined;
  if (type === "STATIC" || type === "EDS") {
    const steps = ["common_lb_config", "consistent_hashing_lb_config", "use_hostname_for_hashing"];
    const message = `must not be set in a cluster of type ${type}: it needs a name`;
    problems.push((type === "EDS" ? refusedByEnvoy : refused)(steps, message));
  }
  if (lbPolicy !== ringHash && lbPolicy !== maglev) return problems;
  const { lbConfig } = cluster;
  if (lbPolicy === ringHash && lbConfig.case === "ringHashLbConfig") {
    const { minimumRingSize = leastRing, maximumRingSize } = lbConfig.value;
    if (maximumRingSize !== undefined && minimumRingSize > maximumRingSize) {
      const message = `must be at least minimum_ring_size, which is ${minimumRingSize}`;
      problems.push(refused(["ring_hash_lb_config", "maximum_ring_size"], message));
    }
  }
  if (lbPolicy === maglev && lbConfig.case === "maglevLbConfig") {
    const { tableSize } = lbConfig.value;
    if (tableSize !== undefined && !isPrime(Number(tableSize)))
      problems.push(refused(["maglev_lb_config", "table_size"], "must be a prime number"));
  }
  return problems;
}

/** As Envoy counts, 1 is a prime. The protos' rules allow at most five million. */
function isPrime(number: number): boolean {
  if (number < 1 || number > 5_000_011) return number > 0;
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
}
