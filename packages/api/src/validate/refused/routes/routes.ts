import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type {
  RetryPolicy_RetryBackOff,
  RouteAction,
  RouteAction_RequestMirrorPolicy,
  RouteAction_UpgradeConfig,
  VirtualCluster,
  VirtualHost,
  WeightedCluster,
} from "@xdskit/api/envoy/config/route/v3/route_components";
import type { ScopedRouteConfiguration } from "@xdskit/api/envoy/config/route/v3/scoped_route";
import type { SpecialProblem } from "../problem.js";
import { quoted, refused, refusedByEnvoy } from "../problem.js";
import { isShorter } from "../spans.js";

/** A sum of weights is a number of 32 bits. */
export const maxWeight = 0xffff_ffff;

/** Clusters that share a route's requests. */
export function weightedClusterProblems({ clusters }: WeightedCluster): SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  let sum = 0;
  for (const [index, { name, clusterHeader, weight }] of clusters.entries()) {
    const steps = ["clusters", index];
    if ((name === "") === (clusterHeader === "")) {
      const both = name === "" ? "needs a name or a cluster_header" : "may have a name or a cluster_header, not both";
      problems.push(refused(steps, both));
    }
    if (weight === undefined) problems.push(refusedByEnvoy(steps, "needs a weight"));
    sum += weight ?? 0;
  }
  if (sum === 0) problems.push(refused(["clusters"], "must have at least one weight above 0"));
  if (sum > maxWeight) problems.push(refused(["clusters"], `have a weight of ${sum} in all; the most is ${maxWeight}`));
  return problems;
}

/** Upgrades of a route or a connection manager: each protocol once, in any case. */
export function upgradeProblems({
  upgradeConfigs,
}: {
  readonly upgradeConfigs: readonly Pick<RouteAction_UpgradeConfig, "upgradeType" | "connectConfig">[];
}) {
  const problems: SpecialProblem[] = [];
  const seen = new Set<string>();
  for (const [index, { upgradeType, connectConfig }] of upgradeConfigs.entries()) {
    const type = upgradeType.toLowerCase();
    const steps = ["upgrade_configs", index];
    if (seen.has(type)) problems.push(refused([...steps, "upgrade_type"], `${quoted(upgradeType)} is there twice`));
    seen.add(type);
    if (connectConfig !== undefined && type !== "connect" && type !== "connect-udp")
      problems.push(refused([...steps, "connect_config"], "is for the upgrade_type CONNECT"));
  }
  return problems;
}

/** A route's action: path rewriting and upgrades. */
export function routeActionProblems(action: RouteAction): SpecialProblem[] {
  const rewrites = [
    ...(action.prefixRewrite === "" ? [] : ["prefix_rewrite"]),
    ...(action.regexRewrite === undefined ? [] : ["regex_rewrite"]),
    ...(action.pathRewritePolicy === undefined ? [] : ["path_rewrite_policy"]),
  ];
  const [first, second] = rewrites;
  const twice = second === undefined ? [] : [refused([second], `cannot be combined with ${first}`)];
  return [...twice, ...upgradeProblems(action)];
}

/** RouteAction.RequestMirrorPolicy: the targets of mirrored requests. */
export function mirrorProblems(policy: RouteAction_RequestMirrorPolicy): SpecialProblem[] {
  if ((policy.cluster === "") !== (policy.clusterHeader === "")) return [];
  return [refused([], "needs exactly one of cluster and cluster_header")];
}

/** RetryPolicy.RetryBackOff. gRPC's clients use the longer time. */
export function retryBackOffProblems(backOff: RetryPolicy_RetryBackOff) {
  if (!isShorter(backOff.maxInterval, backOff.baseInterval)) return [];
  return [refusedByEnvoy(["max_interval"], "must be at least base_interval")];
}

/** VirtualCluster: without headers it matches no request. */
export function virtualClusterProblems({ headers }: VirtualCluster): SpecialProblem[] {
  return headers.length === 0 ? [refused(["headers"], "must have at least one item")] : [];
}

/** VirtualHost: its routes are a list or a tree. */
export function virtualHostProblems(host: VirtualHost) {
  if (host.matcher === undefined || host.routes.length === 0) return [];
  return [refused(["matcher"], "cannot be combined with routes")];
}

/** ScopedRouteConfiguration: it has routes, or their name. */
export function scopedRouteProblems({
  routeConfigurationName,
  routeConfiguration,
}: ScopedRouteConfiguration): SpecialProblem[] {
  if (routeConfigurationName !== "" || routeConfiguration !== undefined) return [];
  return [refused(["route_configuration_name"], "must be set, unless there is a route_configuration")];
}

/** The default limit for a body, unless the route configuration sets another. */
export const usualBodySize = 4096;

/** Bodies of direct responses. */
export function bodySizeProblems(routes: RouteConfiguration): SpecialProblem[] {
  const most = routes.maxDirectResponseBodySizeBytes ?? usualBodySize;
  // For Envoy a limit of 0 means no limit.
  if (most === 0) return [];
  return routes.virtualHosts.flatMap((host, hostIndex) =>
    host.routes.flatMap(({ action }, index) => {
      if (action.case !== "directResponse") return [];
      const { case: kind, value } = action.value.body?.specifier ?? {};
      const size = typeof value === "string" ? Buffer.byteLength(value) : (value as Uint8Array | undefined)?.length;
      if ((kind !== "inlineString" && kind !== "inlineBytes") || size === undefined || size <= most) return [];
      const steps = ["virtual_hosts", hostIndex, "routes", index, "direct_response", "body"];
      const message = `has ${size} bytes; the most is ${most}, unless max_direct_response_body_size_bytes says otherwise`;
      return [refused(steps, message)];
    }),
  );
}
