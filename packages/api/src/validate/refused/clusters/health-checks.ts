import type { FieldStep } from "../../../errors/field-path.js";
import type { SpecialProblem } from "../problem.js";
import { refused } from "../problem.js";
import { type HeaderToAdd, headersToAddProblems } from "../routes/route-headers.js";

/** HealthCheck.Payload */
interface Payload {
  readonly payload: { readonly case?: string | undefined; readonly value?: unknown };
}

/** A text payload is hexadecimal. */
export function payloadProblems({ payload }: Payload): SpecialProblem[] {
  if (payload.case !== "text" || /^(?:[\da-f]{2})*$/i.test(String(payload.value))) return [];
  return [refused(["text"], "must be bytes in hexadecimal, such as 000000FF")];
}

interface StatusRange {
  readonly start: bigint;
  readonly end: bigint;
}

interface HttpHealthCheck {
  readonly expectedStatuses: readonly StatusRange[];
  readonly retriableStatuses: readonly StatusRange[];
  readonly send?: unknown;
  readonly method: number;
  readonly requestHeadersToAdd: readonly HeaderToAdd[];
}

/** RequestMethod: POST, PUT, OPTIONS, PATCH */
const withBody: readonly number[] = [3, 4, 7, 9];

export function httpHealthCheckProblems(check: HttpHealthCheck): SpecialProblem[] {
  const problems = [
    ...statusProblems(check.expectedStatuses, ["expected_statuses"]),
    ...statusProblems(check.retriableStatuses, ["retriable_statuses"]),
    ...headersToAddProblems(check.requestHeadersToAdd, ["request_headers_to_add"]),
  ];
  if (check.send !== undefined && !withBody.includes(check.method))
    problems.push(refused(["send"], "needs a method that has a body: POST, PUT, PATCH or OPTIONS"));
  return problems;
}

function statusProblems(ranges: readonly StatusRange[], steps: readonly FieldStep[]): SpecialProblem[] {
  return ranges.flatMap(({ start, end }, index) => {
    if (start < end && start >= 100n && end <= 600n) return [];
    return [refused([...steps, index], "must be a range of statuses from 100 to 599; its end is exclusive")];
  });
}
