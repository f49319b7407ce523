import type { FieldStep } from "../../errors/field-path.js";
import { type Address, addressProblems } from "./addresses.js";
import type { SpecialProblem } from "./problem.js";
import { refused } from "./problem.js";

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
export function numericEndpoints(
  assignment: LoadAssignment,
  steps: readonly FieldStep[],
  advice: string,
): SpecialProblem[] {
  return assignment.endpoints.flatMap(({ lbEndpoints }, locality) =>
    lbEndpoints.flatMap((each, index) => {
      const at = [...steps, "endpoints", locality, "lb_endpoints", index];
      return endpointProblems(each, at, advice);
    }),
  );
}

function endpointProblems(
  { hostIdentifier }: LbEndpoint,
  steps: readonly FieldStep[],
  advice: string,
): SpecialProblem[] {
  if (hostIdentifier.case !== "endpoint") {
    const field = hostIdentifier.case === "endpointName" ? ["endpoint_name"] : [];
    return [refused([...steps, ...field], "needs an endpoint with an address")];
  }
  const { address, healthCheckConfig, additionalAddresses } = hostIdentifier.value as Endpoint;
  const at = [...steps, "endpoint"];
  const health = healthCheckConfig?.address;
  return [
    ...addressProblems(address, [...at, "address"], advice),
    ...(health === undefined ? [] : addressProblems(health, [...at, "health_check_config", "address"], advice)),
    ...additionalAddresses.flatMap((more, index) =>
      addressProblems(more.address, [...at, "additional_addresses", index, "address"], advice),
    ),
  ];
}

/** For a load assignment that is a resource. One inside a cluster is checked with the cluster. */
export function loadAssignmentProblems(assignment: LoadAssignment): SpecialProblem[] {
  return numericEndpoints(assignment, [], ": endpoints of EDS are not resolved");
}
