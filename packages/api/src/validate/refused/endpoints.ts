import { type Address, addressProblems } from "./addresses.js";
import type { SpecialProblem } from "./problem.js";
import { none, refused, within } from "./problem.js";

interface Endpoint {
  readonly address?: Address | undefined;
  readonly healthCheckConfig?: { readonly address?: Address | undefined } | undefined;
  readonly additionalAddresses: readonly { readonly address?: Address | undefined }[];
}

interface LbEndpoint {
  readonly hostIdentifier: { readonly case?: string | undefined; readonly value?: unknown };
}

/** `envoy.config.endpoint.v3.ClusterLoadAssignment` */
export interface LoadAssignment {
  readonly endpoints: readonly { readonly lbEndpoints: readonly LbEndpoint[] }[];
}

/** Endpoints of EDS and of STATIC clusters: nobody resolves their names. */
export function numericEndpoints({ endpoints }: LoadAssignment, advice: string): readonly SpecialProblem[] {
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
  const { address, healthCheckConfig, additionalAddresses } = hostIdentifier.value as Endpoint;
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

/** For a load assignment that is a resource. One inside a cluster is checked with the cluster. */
export function loadAssignmentProblems(assignment: LoadAssignment): readonly SpecialProblem[] {
  return numericEndpoints(assignment, ": endpoints of EDS are not resolved");
}
