import { listNames } from "@xdskit/api";
import { maxInEntry, maxInList } from "./limits.js";
import { ApiProblem } from "./problem.js";

/** Throws a problem (400) with the known values if a filter asks for another one: nothing could ever fit it. */
export function mustBeKnown(field: string, asked: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = asked?.find((value) => !known.includes(value));
  if (unknown === undefined) return;
  const some = known.length === 0 ? "there are none" : `known are ${listNames(known, maxInEntry)}`;
  throw unknownValue(field, `there is no ${field} ${JSON.stringify(unknown.slice(0, 200))}: ${some}`, known);
}

/** The problem of a filter with a value that nothing has. */
export function unknownValue(field: string, message: string, known: readonly string[]): ApiProblem {
  const finding = { code: "XDSKIT_API_REQUEST", severity: "error", message, field } as const;
  return new ApiProblem(400, [finding], { known: known.slice(0, maxInList) });
}
