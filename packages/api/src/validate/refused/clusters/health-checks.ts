import type { HealthCheck_HttpHealthCheck, HealthCheck_Payload } from "@xdskit/api/envoy/config/core/v3/health_check";
import type { Int64Range } from "@xdskit/api/envoy/type/v3/range";
import type { FieldStep } from "../../../errors/field-path.js";
import type { SpecialProblem } from "../problem.js";
import { refused } from "../problem.js";
import { headersToAddProblems } from "../routes/route-headers.js";

/** A text payload is hexadecimal. */
export function payloadProblems({ payload }: HealthCheck_Payload): SpecialProblem[] {
  if (payload.case !== "text" || /^(?:[\da-f]{2})*$/i.test(payload.value)) return [];
  return [refused(["text"], "must be bytes in hexadecimal, such as 000000FF")];
}

/** RequestMethod: POST, PUT, OPTIONS, PATCH */
const withBody: readonly number[] = [3, 4, 7, 9];

export function httpHealthCheckProblems(check: HealthCheck_HttpHealthCheck): SpecialProblem[] {
  const problems = [
    ...statusProblems(check.expectedStatuses, ["expected_statuses"]),
    ...statusProblems(check.retriableStatuses, ["retriable_statuses"]),
    ...headersToAddProblems(check.requestHeadersToAdd, ["request_headers_to_add"]),
  ];
  if (check.send !== undefined && !withBody.includes(check.method))
    problems.push(refused(["send"], "needs a method that has a body: POST, PUT, PATCH or OPTIONS"));
  return problems;
}

function statusProblems(ranges: readonly Int64Range[], steps: readonly FieldStep[]): SpecialProblem[] {
  return ranges.flatMap(({ start, end }, index) => {
    if (start < end && start >= 100n && end <= 600n) return [];
    return [refused([...steps, index], "must be a range of statuses from 100 to 599; its end is exclusive")];
  });
}
