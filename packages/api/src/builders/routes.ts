import { create } from "@bufbuild/protobuf";
import { type RouteConfiguration, RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  type RouteAction,
  RouteActionSchema,
  RouteSchema,
  VirtualHostSchema,
} from "@xdskit/api/envoy/config/route/v3/route_components";
import { checkCall } from "../errors/option-table.js";
import { type BesideFields, builderCall, withFields } from "./fields.js";

/**
 * A route: what it matches, and where that goes. Other fields of `Route` may stand beside, such as `action` with a
 * redirect, or `match` with headers.
 */
export type RouteOption = BesideFields<typeof RouteSchema, never> & {
  /** Matches paths that begin so. Default: `/`, unless `path` or `match` is there. */
  readonly prefix?: string | undefined;
  /** Matches this path alone. */
  readonly path?: string | undefined;
  readonly cluster?: string | undefined;
  /** Instead of `cluster`: the weight of each, such as `{ stable: 95, canary: 5 }`. */
  readonly weightedClusters?: Readonly<Record<string, number>> | undefined;
  /** Other fields of `RouteAction`, such as `timeout` and `retryPolicy`. */
  readonly route?: BesideFields<typeof RouteActionSchema, "clusterSpecifier"> | undefined;
};

/** Hosts with their routes. Other fields of `VirtualHost` may stand beside. */
export type VirtualHostOption = BesideFields<typeof VirtualHostSchema, "name" | "domains" | "routes"> & {
  /** Default: its first domain. */
  readonly name?: string | undefined;
  /** Default: every host. */
  readonly domains?: readonly string[] | undefined;
  /** The first that matches wins. */
  readonly routes: readonly RouteOption[];
};

/** The options of a route configuration. */
export type RouteConfigurationOptions = BesideFields<typeof RouteConfigurationSchema, "name" | "virtualHosts"> & {
  readonly name: string;
  /** The routes of all hosts. */
  readonly routes?: readonly RouteOption[] | undefined;
  /** Instead of `routes`: each host has its own. */
  readonly virtualHosts?: readonly VirtualHostOption[] | undefined;
};

const routes = {
  items: withFields(
    { prefix: "string", path: "string", cluster: "string", weightedClusters: "object", route: "object" },
    RouteSchema,
  ),
} as const;

const call = builderCall({
  call: "routeConfiguration",
  example: '{ name: "web", routes: [{ prefix: "/", cluster: "web" }] }',
  needs: ["name"],
  beside: RouteConfigurationSchema,
  own: {
    name: "string",
    routes,
    virtualHosts: {
      items: withFields({ name: "string", domains: { items: "string" }, routes }, VirtualHostSchema),
      needs: ["routes"],
    },
  },
});

/**
 * Makes a route configuration (RDS).
 *
 * @example
 * ```ts
 * import { routeConfiguration } from "@xdskit/api/builders";
 *
 * const web = routeConfiguration({
 *   name: "web",
 *   routes: [
 *     { prefix: "/api", weightedClusters: { stable: 95, canary: 5 }, route: { timeout: { seconds: 3n } } },
 *     { prefix: "/", cluster: "site" },
 *   ],
 * });
 * ```
 */
export function routeConfiguration(options: RouteConfigurationOptions): RouteConfiguration {
  checkCall(call, options);
  const { routes, virtualHosts, ...more } = options;
  const hosts = virtualHosts ?? (routes === undefined ? [] : [{ routes }]);
  return create(RouteConfigurationSchema, { ...more, virtualHosts: hosts.map(virtualHost) });
}

function virtualHost({ domains = ["*"], name = domains[0] ?? "", routes, ...more }: VirtualHostOption) {
  const host = { ...more, name, domains: [...domains], routes: routes.map(routeOf) };
  return create(VirtualHostSchema, host);
}

function routeOf({ prefix, path, cluster, weightedClusters, route = {}, ...more }: RouteOption) {
  const matched =
    path === undefined ? ({ case: "prefix", value: prefix ?? "/" } as const) : ({ case: "path", value: path } as const);
  const isMatched = more.match === undefined || prefix !== undefined || path !== undefined;
  const clusterSpecifier = specifierOf(cluster, weightedClusters);
  return create(RouteSchema, {
    ...more,
    ...(isMatched ? { match: { ...more.match, pathSpecifier: matched } } : {}),
    ...(clusterSpecifier === undefined
      ? {}
      : { action: { case: "route", value: { ...route, clusterSpecifier } } as const }),
  });
}

function specifierOf(
  cluster: string | undefined,
  weighted: Readonly<Record<string, number>> | undefined,
): RouteAction["clusterSpecifier"] | undefined {
  if (cluster !== undefined) return { case: "cluster", value: cluster };
  if (weighted === undefined) return undefined;
  const clusters = Object.entries(weighted).map(([name, weight]) => ({ name, weight }));
  const made = create(RouteActionSchema, { clusterSpecifier: { case: "weightedClusters", value: { clusters } } });
  return made.clusterSpecifier;
}
