import type { JsonObject } from "@bufbuild/protobuf";
import { ads, ext, grpcService, named } from "./blocks.js";
import { httpUri, metadataValue } from "./hint-values.js";

const text: JsonObject = { inline_string: "text" };

const roundRobin: JsonObject = {
  policies: [
    {
      typed_extension_config: named(
        "envoy.load_balancing_policies.round_robin",
        `${ext}load_balancing_policies.round_robin.v3.RoundRobin`,
      ),
    },
  ],
};
const retryPriority = named(
  "envoy.retry_priorities.previous_priorities",
  `${ext}retry.priority.previous_priorities.v3.PreviousPrioritiesConfig`,
  { update_frequency: 1 },
);
const retryHost = named(
  "envoy.retry_host_predicates.previous_hosts",
  `${ext}retry.host.previous_hosts.v3.PreviousHostsPredicate`,
);
const dnsCache: JsonObject = { name: "$NAME" };

/** As `messageHints`, for the other extensions. */
export const extensionHints: Readonly<Record<string, JsonObject>> = {
  "envoy.config.cluster.v3.LoadBalancingPolicy": roundRobin,
  "envoy.config.cluster.v3.LoadBalancingPolicy.Policy": (roundRobin.policies as JsonObject[])[0]!,
  "envoy.config.trace.v3.OpenTelemetryConfig": { grpc_service: grpcService },
  "envoy.config.trace.v3.XRayConfig": {
    segment_name: "text",
    daemon_endpoint: { protocol: "UDP", address: "127.0.0.1", port_value: 1 },
  },
  "envoy.config.trace.v3.ZipkinConfig": {
    collector_cluster: "backend",
    collector_endpoint: "/text",
    collector_endpoint_version: "HTTP_JSON",
  },
  "envoy.config.tap.v3.TapConfig": {
    match: { any_match: true },
    output_config: { sinks: [{ format: "JSON_BODY_AS_BYTES", file_per_tap: { path_prefix: "$FOLDER/tap" } }] },
  },
  "envoy.config.tap.v3.OutputSink": { format: "JSON_BODY_AS_BYTES", file_per_tap: { path_prefix: "$FOLDER/tap" } },
  [`${ext}common.tap.v3.CommonExtensionConfig`]: {
    static_config: {
      match: { any_match: true },
      output_config: { sinks: [{ format: "JSON_BODY_AS_BYTES", file_per_tap: { path_prefix: "$FOLDER/tap" } }] },
    },
  },
  [`${ext}access_loggers.grpc.v3.CommonGrpcAccessLogConfig`]: {
    log_name: "text",
    grpc_service: grpcService,
    transport_api_version: "V3",
  },
  [`${ext}access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig`]: {
    common_config: { log_name: "text", grpc_service: grpcService, transport_api_version: "V3" },
  },
  [`${ext}access_loggers.stats.v3.Config`]: { stat_prefix: "text" },
  [`${ext}access_loggers.stats.v3.Config.Counter`]: { stat: { name: "text" }, value_fixed: "1" },
  [`${ext}access_loggers.stats.v3.Config.Gauge`]: {
    stat: { name: "text" },
    value_fixed: "1",
    set: { log_type: "DownstreamEnd" },
  },
  [`${ext}access_loggers.stats.v3.Config.Gauge.Set`]: { log_type: "DownstreamEnd" },
  [`${ext}access_loggers.stats.v3.Config.Gauge.PairedAddSubtract`]: {
    add_log_type: "DownstreamStart",
    sub_log_type: "DownstreamEnd",
  },
  [`${ext}access_loggers.stats.v3.Config.Histogram`]: { stat: { name: "text" }, value_format: "%BYTES_SENT%" },
  [`${ext}access_loggers.filters.cel.v3.ExpressionFilter`]: { expression: "response.code >= 400" },
  [`${ext}access_loggers.filters.process_ratelimit.v3.ProcessRateLimitFilter`]: {
    dynamic_config: { resource_name: "text", config_source: ads },
  },
  [`${ext}common.dynamic_forward_proxy.v3.DnsCacheConfig`]: dnsCache,
  [`${ext}common.ratelimit.v3.RateLimitDescriptor`]: { entries: [{ key: "text", value: "text" }] },
  [`${ext}common.ratelimit.v3.LocalRateLimitDescriptor`]: {
    entries: [{ key: "text", value: "text" }],
    token_bucket: { max_tokens: 1, tokens_per_fill: 1, fill_interval: "1s" },
  },
  "envoy.type.v3.TokenBucket": { max_tokens: 1, tokens_per_fill: 1, fill_interval: "1s" },
  [`${ext}config.validators.minimum_clusters.v3.MinimumClustersValidator`]: { min_clusters_num: 0 },
  [`${ext}content_parsers.json.v3.JsonContentParser`]: {
    rules: [{ rule: { selectors: [{ key: "text" }], on_present: metadataValue } }],
  },
  [`${ext}content_parsers.json.v3.JsonContentParser.Rule`]: {
    rule: { selectors: [{ key: "text" }], on_present: metadataValue },
  },
  [`${ext}clusters.dynamic_forward_proxy.v3.ClusterConfig`]: { dns_cache_config: dnsCache },
  [`${ext}dynamic_modules.v3.DynamicModuleConfig`]: { name: "text", do_not_close: true },
  [`${ext}filters.common.set_filter_state.v3.FilterStateValue`]: {
    object_key: "envoy.string",
    format_string: { text_format_source: text },
  },
  [`${ext}http.injected_credentials.oauth2.v3.OAuth2`]: {
    token_endpoint: httpUri,
    client_credentials: { client_id: "text", client_secret: { name: "secret", sds_config: ads } },
  },
  [`${ext}http.injected_credentials.oauth2.v3.OAuth2.ClientCredentials`]: {
    client_id: "text",
    client_secret: { name: "secret", sds_config: ads },
  },
  [`${ext}quic.server_preferred_address.v3.FixedServerPreferredAddressConfig.AddressFamilyConfig`]: {
    address: { address: "127.0.0.1", port_value: 0 },
  },
  "envoy.config.core.v3.RetryPolicy.RetryPriority": retryPriority,
  "envoy.config.route.v3.RetryPolicy.RetryPriority": retryPriority,
  "envoy.config.core.v3.RetryPolicy.RetryHostPredicate": retryHost,
  "envoy.config.route.v3.RetryPolicy.RetryHostPredicate": retryHost,
  [`${ext}formatter.cel.v3.Cel`]: {},
  [`${ext}health_checkers.thrift.v3.Thrift`]: { method_name: "text", transport: "FRAMED", protocol: "BINARY" },
  [`${ext}health_check.event_sinks.file.v3.HealthCheckEventFileSink`]: { event_log_path: "/dev/null" },
  [`${ext}http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig`]: {
    manager_config: { thread_pool: {} },
    cache_path: "$FOLDER/$NAME",
  },
  [`${ext}http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config`]: {
    manager_config: { thread_pool: {} },
    cache_path: "$FOLDER/$NAME",
  },
  [`${ext}load_balancing_policies.override_host.v3.OverrideHost`]: {
    override_host_sources: [{ header: "x-text" }],
    fallback_policy: roundRobin,
  },
  [`${ext}load_balancing_policies.override_host.v3.OverrideHost.OverrideHostSource`]: { header: "x-text" },
  [`${ext}load_balancing_policies.wrr_locality.v3.WrrLocality`]: {
    endpoint_picking_policy: {
      policies: [
        {
          typed_extension_config: named(
            "envoy.load_balancing_policies.client_side_weighted_round_robin",
            `${ext}load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin`,
          ),
        },
      ],
    },
  },
  [`${ext}rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher`]: {
    upstream_ip: { address_prefix: "10.0.0.0", prefix_len: 8 },
  },
  [`${ext}rbac.principals.mtls_authenticated.v3.Config`]: { any_validated_client_certificate: true },
  [`${ext}tracers.opentelemetry.samplers.v3.CELSamplerConfig`]: {
    expression: { parsed_expr: { expr: { id: "1", const_expr: { bool_value: true } } } },
  },
  [`${ext}rate_limit_descriptors.expr.v3.Descriptor`]: { descriptor_key: "text", text: "request.path" },
  [`${ext}rate_limit_descriptors.jwt_claim.v3.Descriptor`]: {
    descriptor_key: "text",
    header_name: "x-text",
    claim_name: "text",
  },
  [`${ext}router.cluster_specifiers.lua.v3.LuaConfig`]: {
    source_code: { inline_string: "function envoy_on_route(handle)\n  return 'backend'\nend\n" },
  },
  [`${ext}string_matcher.lua.v3.Lua`]: {
    source_code: { inline_string: "function envoy_match(text)\n  return true\nend\n" },
  },
  [`${ext}path.match.uri_template.v3.UriTemplateMatchConfig`]: { path_template: "/a/{b}" },
  [`${ext}path.rewrite.uri_template.v3.UriTemplateRewriteConfig`]: { path_template_rewrite: "/c/{b}" },
  [`${ext}transport_sockets.quic.v3.QuicUpstreamTransport`]: { upstream_tls_context: { sni: "example.org" } },
  [`${ext}transport_sockets.internal_upstream.v3.InternalUpstreamTransport.MetadataValueSource`]: {
    kind: { host: {} },
    name: "text",
  },
  "envoy.type.metadata.v3.MetadataKind": { host: {} },
  [`${ext}upstreams.http.v3.HttpProtocolOptions`]: {
    explicit_http_config: { http_protocol_options: {} },
    http_filters: [named("envoy.filters.http.upstream_codec", `${ext}filters.http.upstream_codec.v3.UpstreamCodec`)],
  },
  [`${ext}upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig`]: { http_protocol_options: {} },
};
