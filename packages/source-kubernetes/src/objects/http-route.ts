import { durationMs } from "./duration.js";
import type { MeshRoute, PathMatch, RouteMatch, RouteRule } from "./mesh-route.js";
import type { ObjectShape } from "./object-shape.js";
import { type Remarks, type RouteReading, type RuleShape, readHeaders, readMeshRoute } from "./read-route.js";

interface HttpMatchShape {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly headers?: Parameters<typeof readHeaders>[0];
}

interface HttpRuleShape extends RuleShape {
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
  readonly retry?: { readonly codes?: readonly number[]; readonly attempts?: number; readonly backoff?: string };
}

const reading: RouteReading = {
  kind: "HTTPRoute",
  ruleFields: ["name", "matches", "filters", "backendRefs", "timeouts", "retry"],
  everything: { paths: [{ kind: "prefix", value: "/" }], headers: [], rank: [0, 1, 0] },
  match: readMatch,
  more: readMore,
};

/** Reads an HTTPRoute, as the API server writes it. */
export function readHttpRoute(object: ObjectShape): MeshRoute {
  return readMeshRoute(object, reading);
}

/** By the word of the API: whole paths win, then expressions, then the longer prefix. */
const kinds: Readonly<Record<string, { readonly rank: number; paths(value: string): readonly PathMatch[] }>> = {
  Exact: { rank: 2, paths: (value) => [{ kind: "exact", value }] },
  RegularExpression: { rank: 1, paths: (value) => [{ kind: "regex", value }] },
  // A prefix ends where a part of the path does. gRPC's clients know none of that kind.
  PathPrefix: { rank: 0, paths: prefixPaths },
};

function prefixPaths(value: string): readonly PathMatch[] {
  const whole = value.replace(/\/+$/, "");
  const below: PathMatch = { kind: "prefix", value: `${whole}/` };
  return whole === "" ? [below] : [{ kind: "exact", value: whole }, below];
}

function readMatch(match: HttpMatchShape, remarks: Remarks, field: string): RouteMatch {
  for (const name of Object.keys(match))
    if (name !== "path" && name !== "headers") remarks.faults.push(`${field}.${name} is not supported`);
  const { type = "PathPrefix", value = "/" } = match.path ?? {};
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (kind === undefined) remarks.faults.push(`${field}.path: the type ${type} is not supported`);
  const headers = readHeaders(match.headers ?? [], remarks, field);
  // A slash at the end of a prefix says nothing, but that it is one.
  const { length } = type === "PathPrefix" ? value.replace(/(.)\/+$/, "$1") : value;
  return { paths: kind?.paths(value) ?? [], headers, rank: [kind?.rank ?? 0, length, headers.length] };
}

function readMore(rule: HttpRuleShape, { faults, notes }: Remarks, field: string): Partial<RouteRule> {
  const { timeouts = {}, retry } = rule;
  const time = (text: string | undefined, at: string): number | undefined => {
    if (text === undefined) return undefined;
    const ms = durationMs(text);
    if (ms === undefined) faults.push(`${field}.${at}: ${text} is no duration, such as 10s`);
    return ms;
  };
  const tryTimeoutMs = time(timeouts.backendRequest, "timeouts.backendRequest");
  if (tryTimeoutMs !== undefined)
    notes.push(`${field}.timeouts.backendRequest: gRPC's clients limit no single try, only Envoys do`);
  return {
    timeoutMs: time(timeouts.request, "timeouts.request"),
    tryTimeoutMs,
    retry: retry && {
      codes: retry.codes ?? [],
      attempts: retry.attempts,
      backoffMs: time(retry.backoff, "retry.backoff"),
    },
  };
}
