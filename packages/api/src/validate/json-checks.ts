import { jsonRefusalChecks } from "./refused/json-checks.js";
import type { JsonCheck, JsonFields } from "./refused/json-fields.js";
import { get } from "./refused/json-fields.js";
import { isSpecial, programLimit } from "./special-checks.js";
import { judgeRegex } from "./values/regex.js";

/**
 * The checks of `special-checks.ts` for messages in JSON. Those say what is wrong; these say only that something may
 * be.
 */
const checks: { readonly [typeName: string]: JsonCheck } = {
  "envoy.type.matcher.v3.RegexMatcher": checkRegex,
  "xds.type.matcher.v3.RegexMatcher": checkRegex,
  "envoy.config.route.v3.RouteConfiguration": checkDomains,
  "envoy.config.route.v3.VirtualHost": checkHostDomains,
  "envoy.config.cluster.v3.Cluster": checkCluster,
  "envoy.config.core.v3.Pipe": checkPipe,
};

/**
 * The check for messages of a type; `unknown` if only the decoded message can be checked, undefined if there is none.
 */
export function jsonCheckOf(typeName: string): JsonCheck | "unknown" | undefined {
  const own = checks[typeName];
  const refusal = jsonRefusalChecks[typeName];
  if (own === undefined || refusal === undefined)
    return own ?? refusal ?? (isSpecial(typeName) ? "unknown" : undefined);
  return (json) => own(json) && refusal(json);
}

function checkRegex({ regex, google_re2, googleRe2 }: JsonFields): boolean {
  const engine = google_re2 ?? googleRe2;
  if (typeof regex !== "string" || (engine !== undefined && !isEmpty(engine))) return false;
  const verdict = judgeRegex(regex);
  return verdict.kind === "valid" && verdict.size <= programLimit;
}

function checkDomains({ virtual_hosts, virtualHosts }: JsonFields): boolean {
  const hosts = virtual_hosts ?? virtualHosts;
  if (!Array.isArray(hosts)) return hosts === undefined;
  const seen = new Set<string>();
  let count = 0;
  for (const host of hosts) {
    const domains: unknown = host?.domains;
    if (!Array.isArray(domains)) return false;
    for (const domain of domains) {
      if (typeof domain !== "string") return false;
      seen.add(domain.toLowerCase());
    }
    count += domains.length;
  }
  return seen.size === count;
}

function checkHostDomains({ domains }: JsonFields): boolean {
  if (!Array.isArray(domains)) return domains === undefined;
  return domains.length < 2 || checkDomains({ virtual_hosts: [{ domains }] });
}

/** Types and policies that neither require nor forbid other fields. */
const plainTypes: readonly unknown[] = [undefined, "STATIC", 0, "STRICT_DNS", 1];
const plainPolicies: readonly unknown[] = [
  ...[undefined, "ROUND_ROBIN", 0, "LEAST_REQUEST", 1, "RING_HASH", 2, "RANDOM", 3, "MAGLEV", 5],
];

function checkCluster(json: JsonFields): boolean {
  const { type, eds_cluster_config, edsClusterConfig, lb_policy, lbPolicy } = json;
  if (!plainPolicies.includes(lb_policy ?? lbPolicy)) return false;
  const { load_balancing_policy, loadBalancingPolicy, common_lb_config, commonLbConfig } = json;
  if (isSet(load_balancing_policy ?? loadBalancingPolicy) && isSet(common_lb_config ?? commonLbConfig)) return false;
  if (type === "LOGICAL_DNS" || type === 2) return hasOneEndpoint(json);
  if (type !== "EDS" && type !== 3) return plainTypes.includes(type);
  const config = eds_cluster_config ?? edsClusterConfig;
  if (typeof config !== "object" || config === null) return false;
  const { eds_config, edsConfig } = config as JsonFields;
  return isSet(eds_config ?? edsConfig);
}

function hasOneEndpoint(json: JsonFields): boolean {
  const localities = get.endpoints(get.loadAssignment(json));
  if (!Array.isArray(localities) || localities.length !== 1) return false;
  const endpoints = get.lbEndpoints(localities[0]);
  return Array.isArray(endpoints) && endpoints.length === 1;
}

/** A character has at most three bytes, and a path 107. */
function checkPipe({ path }: JsonFields): boolean {
  return typeof path === "string" && path.length <= 35;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
