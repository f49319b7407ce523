import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RouteOption } from "@xdskit/api/builders";
import {
  HeaderValueOption_HeaderAppendAction as Action,
  type HeaderValueOptionSchema,
} from "@xdskit/api/envoy/config/core/v3/base";
import type { HeaderMatcherSchema, RouteMatchSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import type { HeaderChanges, HeaderMatch, PathMatch, RouteRule } from "../../objects/mesh-route.js";
import type { Policy } from "../../objects/policy.js";
import { callsOf } from "../calls.js";

/** A rule with the weights of its clusters. */
export interface ResolvedRule {
  readonly rule: RouteRule;
  readonly clusters: Readonly<Record<string, number>>;
  /** The weight of backends that nobody can call: so many calls fail. */
  readonly unresolved: number;
}

/** A route of xDS, and what it goes by among others. */
export interface RankedRoute {
  readonly rank: readonly number[];
  readonly route: RouteOption;
}

/** The routes of one rule, one for each path. `unresolvedCluster` answers for backends that are not there. */
export function routesOfRule(
  { rule, clusters, unresolved }: ResolvedRule,
  policy: Policy,
  unresolvedCluster: string,
): readonly RankedRoute[] {
  const destination = destinationOf(clusters, unresolved, unresolvedCluster);
  const shared = {
    ...destination,
    route: callsOf(policy, rule),
    requestHeadersToAdd: addedHeaders(rule.requestHeaders),
    requestHeadersToRemove: [...(rule.requestHeaders?.remove ?? [])],
    responseHeadersToAdd: addedHeaders(rule.responseHeaders),
    responseHeadersToRemove: [...(rule.responseHeaders?.remove ?? [])],
  };
  return rule.matches.flatMap(({ paths, headers, rank }) =>
    paths.map((path) => {
      const match = { pathSpecifier: pathSpecifier(path), headers: headers.map(headerMatcher) };
      return { rank, route: { ...shared, match } };
    }),
  );
}

/** Some clients know a cluster only once in a list, and none takes weights that are all 0. */
function destinationOf(
  clusters: Readonly<Record<string, number>>,
  unresolved: number,
  unresolvedCluster: string,
): Pick<RouteOption, "cluster" | "weightedClusters"> {
  const weights = Object.entries({ ...clusters, [unresolvedCluster]: unresolved }).filter(([, weight]) => weight > 0);
  const [first] = weights;
  if (weights.length <= 1) return { cluster: first?.[0] ?? unresolvedCluster };
  return { weightedClusters: Object.fromEntries(weights) };
}

function pathSpecifier({
  kind,
  value,
}: PathMatch): NonNullable<MessageInitShape<typeof RouteMatchSchema>["pathSpecifier"]> {
  if (kind === "regex") return { case: "safeRegex", value: { regex: value } };
  return { case: kind === "exact" ? "path" : "prefix", value };
}

function headerMatcher({ name, kind, value }: HeaderMatch): MessageInitShape<typeof HeaderMatcherSchema> {
  const matchPattern =
    kind === "exact" ? ({ case: "exact", value } as const) : ({ case: "safeRegex", value: { regex: value } } as const);
  return { name, headerMatchSpecifier: { case: "stringMatch", value: { matchPattern } } };
}

function addedHeaders({ set = [], add = [] }: HeaderChanges = {}): MessageInitShape<typeof HeaderValueOptionSchema>[] {
  // In a value, Envoy takes what stands between percent signs for the name of something.
  const option = (appendAction: Action) => (one: { readonly name: string; readonly value: string }) => ({
    header: { key: one.name, value: one.value.replaceAll("%", "%%") },
    appendAction,
  });
  return [...set.map(option(Action.OVERWRITE_IF_EXISTS_OR_ADD)), ...add.map(option(Action.APPEND_IF_EXISTS_OR_ADD))];
}
