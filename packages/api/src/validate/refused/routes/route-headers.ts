import type { HeaderValueOption } from "@xdskit/api/envoy/config/core/v3/base";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type {
  Route,
  VirtualHost,
  WeightedCluster_ClusterWeight,
} from "@xdskit/api/envoy/config/route/v3/route_components";
import type { FieldStep } from "../../../errors/field-path.js";
import type { SpecialProblem } from "../problem.js";
import { quoted, refused } from "../problem.js";

/** Whether nobody may set or remove a header this way. */
export function isProtected(name: string): boolean {
  return name.startsWith(":") || name.toLowerCase() === "host";
}

export function headersToAddProblems(
  headers: readonly HeaderValueOption[],
  steps: readonly FieldStep[],
): SpecialProblem[] {
  return headers.flatMap(({ header, append, appendAction }, index) => {
    const at = [...steps, index];
    const problems: SpecialProblem[] = [];
    if (header !== undefined && isProtected(header.key)) {
      const message = `must be neither "host" nor begin with ":", as ${quoted(header.key)} does: such headers cannot be set this way`;
      problems.push(refused([...at, "header", "key"], message));
    }
    if (append !== undefined && appendAction !== 0)
      problems.push(refused([...at, "append"], "cannot be combined with append_action"));
    return problems;
  });
}

export function headersToRemoveProblems(names: readonly string[], steps: readonly FieldStep[]): SpecialProblem[] {
  return names.flatMap((name, index) => {
    if (!isProtected(name)) return [];
    return [refused([...steps, index], `${quoted(name)} must not be removed`)];
  });
}

export function routeHeaderProblems(
  message: RouteConfiguration | VirtualHost | Route | WeightedCluster_ClusterWeight,
): SpecialProblem[] {
  return [
    ...headersToAddProblems(message.requestHeadersToAdd, ["request_headers_to_add"]),
    ...headersToRemoveProblems(message.requestHeadersToRemove, ["request_headers_to_remove"]),
    ...headersToAddProblems(message.responseHeadersToAdd, ["response_headers_to_add"]),
    ...headersToRemoveProblems(message.responseHeadersToRemove, ["response_headers_to_remove"]),
  ];
}
