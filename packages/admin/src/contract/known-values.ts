import { listNames } from "@xdskit/api";
import { maxInEntry, maxInList } from "./limits.js";
import { ApiProblem } from "./problem.js";

/** Throws a problem (400) with the known values if a filter asks for another one: nothing could ever fit it. */
export function mustBeKnown(field: string, asked: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = asked?.find((value) => !known.includes(value));
  if (unknown !== undefined) throw unknownValue(field, noSuchValue(field, unknown, known), known);
}

/** Throws a problem (400) with the known parameters if a query has another one: it would select nothing. */
export function mustHaveOnly(query: URLSearchParams, known: readonly string[]): void {
  mustBeKnown("parameter", [...query.keys()], known);
}

/** Says that there is no such value, and which there are. */
export function noSuchValue(field: string, value: string, known: readonly string[]): string {
  const some = known.length === 0 ? "there are none" : `known are ${listNames(known, maxInEntry)}`;
  return `there is no ${field} ${JSON.stringify(value.slice(0, 200))}: ${some}`;
}

/** The problem (404) of a path with a group that is not there. */
export function unknownGroup(group: string, known: readonly string[]): ApiProblem {
  return ApiProblem.of(404, "XDSKIT_GROUP_UNKNOWN", noSuchValue("group", group, known), {
    known: known.slice(0, maxInList),
  });
}

/** The problem of a filter with a value that nothing has. */
export function unknownValue(field: string, message: string, known: readonly string[]): ApiProblem {
  const finding = { code: "XDSKIT_API_REQUEST", severity: "error", message, field } as const;
  return new ApiProblem(400, [finding], { known: known.slice(0, maxInList) });
}
