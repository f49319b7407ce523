import type { MeshRoute, PathMatch, RouteMatch } from "./mesh-route.js";
import type { ObjectShape } from "./object-shape.js";
import { matchKinds, type Remarks, type RouteReading, readHeaders, readMeshRoute } from "./read-route.js";

interface GrpcMatchShape {
  readonly method?: { readonly type?: string; readonly service?: string; readonly method?: string };
  readonly headers?: Parameters<typeof readHeaders>[0];
}

const reading: RouteReading = {
  kind: "GRPCRoute",
  ruleFields: ["name", "matches", "filters", "backendRefs"],
  everything: { paths: [{ kind: "prefix", value: "/" }], headers: [], rank: [0, 0, 0] },
  match: readMatch,
};

/** Reads a GRPCRoute, as the API server writes it. */
export function readGrpcRoute(object: ObjectShape): MeshRoute {
  return readMeshRoute(object, reading);
}

/** The longer name of a service wins, then the longer name of a method, then the larger number of headers. */
function readMatch(match: GrpcMatchShape, remarks: Remarks, field: string): RouteMatch {
  const { type = "Exact", service = "", method = "" } = match.method ?? {};
  const kind = matchKinds[type];
  if (kind === undefined) remarks.faults.push(`${field}.method: the type ${type} is not supported`);
  const headers = readHeaders(match.headers ?? [], remarks, field);
  return {
    paths: [pathOf(kind ?? "exact", service, method)],
    headers,
    rank: [service.length, method.length, headers.length],
  };
}

/** A call's path is `/SERVICE/METHOD`. */
function pathOf(kind: "exact" | "regex", service: string, method: string): PathMatch {
  const any = "[^/]+";
  if (kind === "regex") return { kind, value: `/${grouped(service) ?? any}/${grouped(method) ?? any}` };
  if (method === "") return { kind: "prefix", value: service === "" ? "/" : `/${service}/` };
  return service === "" ? { kind: "regex", value: `/${any}/${method}` } : { kind, value: `/${service}/${method}` };
}

/** As one part of a larger expression; undefined: it says nothing. */
function grouped(expression: string): string | undefined {
  return expression === "" ? undefined : `(?:${expression})`;
}
