/**
 * Configurations of HTTP filters for routes. Envoy lists them in the category of the filters: it does not say which of
 * a filter's messages is for routes, or whether one is.
 */
export const perRoute = "envoy.filters.http.per_route";

/** Says how a route treats a filter, and may have the filter's configuration. */
export const filterConfig = "envoy.config.route.v3.FilterConfig";

/** The fields where they stand. */
export const perRouteFields: readonly string[] = [
  ...["RouteConfiguration", "VirtualHost", "Route", "WeightedCluster.ClusterWeight"].map(
    (message) => `envoy.config.route.v3.${message}.typed_per_filter_config`,
  ),
  `${filterConfig}.config`,
];

/** A filter that has a message of its own for routes takes no other one there, and that one nowhere else. */
export const onlyForRoutes = /(?:PerRoute|PerRouteConfig|McpOverride|CorsPolicy)$/;

/**
 * Filters that routes do not configure, by their packages in `envoy.extensions.filters.http`. A real Envoy is asked
 * about each filter (`e2e/src/extension-maps.test.ts`).
 */
const withoutRoutes: ReadonlySet<string> = new Set(
  `a2a adaptive_concurrency admission_control alternate_protocols_cache aws_eventstream_parser body_size_limit cache
  cache_v2 cdn_loop connect_grpc_bridge credential_injector decompressor gcp_authn geoip grpc_field_extraction
  grpc_http1_bridge grpc_stats grpc_web health_check ip_tagging mcp_router original_src proto_api_scrubber
  proto_message_extraction rate_limit_quota router sse_to_metadata tap thrift_to_metadata wasm`
    .split(/\s+/)
    .map((name) => `envoy.extensions.filters.http.${name}.v3`),
);

/** Of the messages that configure HTTP filters, those for routes, and those of filters that have one for each place. */
export function perRouteTypes(http: readonly string[]): {
  readonly ofRoutes: readonly string[];
  readonly paired: ReadonlySet<string>;
} {
  const packageOf = (name: string): string => name.slice(0, name.lastIndexOf("."));
  const apart = new Set(http.filter((name) => onlyForRoutes.test(name)).map(packageOf));
  const taken = http.filter((name) => !withoutRoutes.has(packageOf(name)));
  const paired = new Set(taken.filter((name) => apart.has(packageOf(name))));
  return {
    ofRoutes: [filterConfig, ...taken.filter((name) => onlyForRoutes.test(name) || !paired.has(name))],
    paired,
  };
}
