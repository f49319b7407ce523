import type { HttpConnectionManager } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { cidrProblems } from "../cidr-ranges.js";
import type { SpecialProblem } from "../problem.js";
import { refused, within } from "../problem.js";
import { upgradeProblems } from "../routes/routes.js";
import { httpOrderProblems } from "./filters.js";

/** Problems for which Envoy refuses an HTTP connection manager. */
export function connectionManagerProblems(manager: HttpConnectionManager): SpecialProblem[] {
  const problems: SpecialProblem[] = [
    ...httpOrderProblems(manager.httpFilters, "http_filters"),
    ...upgradeProblems(manager),
    ...manager.upgradeConfigs.flatMap(({ filters }, index) =>
      within(httpOrderProblems(filters, "filters"), "upgrade_configs", index),
    ),
    ...within(cidrProblems(manager.internalAddressConfig?.cidrRanges ?? [], "cidr_ranges"), "internal_address_config"),
    ...inlineScopeProblems(manager),
  ];
  if (manager.stripMatchingHostPort && manager.stripPortMode.case !== undefined && manager.stripPortMode.value === true)
    problems.push(refused(["strip_any_host_port"], "cannot be combined with strip_matching_host_port"));
  if (manager.originalIpDetectionExtensions.length > 0) {
    const message = "cannot be combined with original_ip_detection_extensions";
    if (manager.useRemoteAddress) problems.push(refused(["use_remote_address"], message));
    if (manager.xffNumTrustedHops > 0) problems.push(refused(["xff_num_trusted_hops"], message));
  }
  return problems;
}

/** Scopes inside the connection manager include their routes. */
function inlineScopeProblems({ routeSpecifier }: HttpConnectionManager): SpecialProblem[] {
  if (routeSpecifier.case !== "scopedRoutes") return [];
  const { configSpecifier } = routeSpecifier.value;
  if (configSpecifier.case !== "scopedRouteConfigurationsList") return [];
  const { scopedRouteConfigurations: scopes } = configSpecifier.value;
  return scopes.flatMap(({ routeConfigurationName, routeConfiguration }, index) => {
    const list = "scoped_route_configurations_list";
    const steps = ["scoped_routes", list, "scoped_route_configurations", index];
    if (routeConfigurationName !== "")
      return [
        refused([...steps, "route_configuration_name"], "is for scopes that come over SRDS, not for inline ones"),
      ];
    return routeConfiguration === undefined ? [refused(steps, "needs a route_configuration: it is inline")] : [];
  });
}
