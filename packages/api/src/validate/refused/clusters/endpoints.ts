import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type {
  LbEndpoint,
  LbEndpointCollection,
  LedsClusterLocalityConfig,
} from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { endpointsType, url } from "../../../references/rules.js";
import { addressProblems } from "../addresses.js";
import type { SpecialProblem } from "../problem.js";
import { none, quoted, refused, refusedByEnvoy, within } from "../problem.js";
import { maxWeight } from "../routes/routes.js";

/** Endpoints of EDS and of STATIC clusters: nobody resolves their names. */
export function numericEndpoints({ endpoints }: ClusterLoadAssignment, advice: string): readonly SpecialProblem[] {
  return endpoints.flatMap(({ lbEndpoints }, locality) =>
    lbEndpoints.flatMap((each, index) =>
      within(endpointProblems(each, advice), "endpoints", locality, "lb_endpoints", index),
    ),
  );
}

function endpointProblems({ hostIdentifier }: LbEndpoint, advice: string): readonly SpecialProblem[] {
  if (hostIdentifier.case !== "endpoint") {
    const field = hostIdentifier.case === "endpointName" ? ["endpoint_name"] : [];
    return [refused(field, "needs an endpoint with an address")];
  }
  const { address, healthCheckConfig, additionalAddresses } = hostIdentifier.value;
  const health = healthCheckConfig?.address;
  const own = addressProblems(address, advice);
  if (own.length === 0 && health === undefined && additionalAddresses.length === 0) return none;
  const problems = [
    ...within(own, "address"),
    ...(health === undefined ? none : within(addressProblems(health, advice), "health_check_config", "address")),
    ...additionalAddresses.flatMap((more, index) =>
      within(addressProblems(more.address, advice), "additional_addresses", index, "address"),
    ),
  ];
  return within(problems, "endpoint");
}

/** For an endpoint that is a resource, of LEDS. */
export function lbEndpointProblems(endpoint: LbEndpoint): readonly SpecialProblem[] {
  return endpointProblems(endpoint, ": endpoints of LEDS are not resolved");
}

/** Of a locality whose endpoints are one list, which only gRPC's clients take (gRFC A95). */
export function endpointSourceProblems(config: LedsClusterLocalityConfig): readonly SpecialProblem[] {
  const { ledsConfig, ledsCollectionName } = config;
  if (ledsConfig === undefined || endpointsType(ledsCollectionName) === url.localityEndpoint) return none;
  if (ledsConfig.configSourceSpecifier.case !== "self")
    return [refused(["leds_config"], "must be { self: {} } for a list of endpoints; Envoy takes a collection, …/*")];
  return [refusedByEnvoy(["leds_collection_name"], "is a list of endpoints, and no collection, …/*")];
}

/** For a list of endpoints: gRPC's clients take only endpoints that it contains. Each is checked as a resource. */
export function endpointListProblems({ entries }: LbEndpointCollection): readonly SpecialProblem[] {
  return entries.flatMap(({ resourceSpecifier: { case: kind, value } }, index) => {
    if (kind === undefined) return [];
    if (kind === "locator") return [refused(["entries", index, kind], "must be an inline_entry")];
    const { typeUrl = "" } = value.resource ?? {};
    if (typeUrl === url.localityEndpoint) return [];
    const problem = `must be an LbEndpoint${typeUrl === "" ? "" : `, not ${quoted(typeUrl)}`}`;
    return [refused(["entries", index, "inline_entry", "resource"], problem)];
  });
}

/** For a load assignment that is a resource. One inside a cluster is checked with the cluster. */
export function loadAssignmentProblems(assignment: ClusterLoadAssignment): readonly SpecialProblem[] {
  const endpoints = numericEndpoints(assignment, ": endpoints of EDS are not resolved");
  const dropped = dropProblems(assignment, refusedByEnvoy);
  return dropped.length === 0 ? endpoints : [...endpoints, ...dropped];
}

/** FractionalPercent.DenominatorType */
const denominators = [100, 10_000, 1_000_000];

/** Requests to be dropped: of one category, and not more than all. */
export function dropProblems({ policy }: ClusterLoadAssignment, refuse: typeof refused): readonly SpecialProblem[] {
  const drops = policy?.dropOverloads ?? [];
  if (drops.length === 0) return none;
  const steps = ["policy", "drop_overloads"];
  if (drops.length > 1) return [refuse(steps, `has ${drops.length} categories; the most is one`)];
  const { numerator = 0, denominator = 0 } = drops[0]?.dropPercentage ?? {};
  const whole = denominators[denominator] ?? numerator;
  return numerator > whole ? [refuse([...steps, 0, "drop_percentage"], "must not be above 100 %")] : none;
}

/** Weights that are added up for a ring or a table. An endpoint without a weight has 1. */
export function weightProblems({ endpoints }: ClusterLoadAssignment): readonly SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  for (const priority of new Set(endpoints.map((locality) => locality.priority))) {
    const localities = endpoints.filter((locality) => locality.priority === priority);
    const of = priority === 0 ? "" : ` at priority ${priority}`;
    const check = (what: string, weights: readonly number[]): void => {
      const sum = weights.reduce((total, weight) => total + weight, 0);
      const message = `has ${what} with a weight of ${sum} in all${of}; the most is ${maxWeight}`;
      if (sum > maxWeight) problems.push(refused(["endpoints"], message));
    };
    check(
      "localities",
      localities.map(({ loadBalancingWeight = 0 }) => loadBalancingWeight),
    );
    check(
      "endpoints",
      localities.flatMap(({ lbEndpoints }) => lbEndpoints.map(({ loadBalancingWeight = 1 }) => loadBalancingWeight)),
    );
  }
  return problems;
}
