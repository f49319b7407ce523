import type { JsonObject } from "@bufbuild/protobuf";
import { ads, any, ext, grpcService, named } from "./blocks.js";

const httpUri: JsonObject = { uri: "http://127.0.0.1/", cluster: "backend", timeout: "1s" };
const text: JsonObject = { inline_string: "text" };
const metadataValue: JsonObject = { key: "text", value: "text" };
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
const genericRouter = named("envoy.filters.generic.router", `${ext}filters.network.generic_proxy.router.v3.Router`);
const dnsCache: JsonObject = { name: "$NAME" };
const arn = "arn:aws:lambda:eu-central-1:123456789012:function:text";
const thriftRoute: JsonObject = { match: { method_name: "text" }, route: { cluster: "backend" } };
const oauth2: JsonObject = {
  token_endpoint: httpUri,
  authorization_endpoint: "http://127.0.0.1/",
  credentials: {
    client_id: "text",
    token_secret: { name: "token", sds_config: ads },
    hmac_secret: { name: "hmac", sds_config: ads },
  },
  redirect_uri: "http://127.0.0.1/",
  redirect_path_matcher: { path: { exact: "/a" } },
  signout_path: { path: { exact: "/b" } },
};
const sseRule = named("envoy.content_parsers.json", `${ext}content_parsers.json.v3.JsonContentParser`, {
  rules: [{ rule: { selectors: [{ key: "text" }], on_present: metadataValue } }],
});

/** As `messageHints`, for what configures extensions. */
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
  [`${ext}filters.http.adaptive_concurrency.v3.GradientControllerConfig`]: {
    concurrency_limit_params: { concurrency_update_interval: "1s" },
    min_rtt_calc_params: { interval: "60s" },
  },
  [`${ext}filters.http.adaptive_concurrency.v3.GradientControllerConfig.MinimumRTTCalculationParams`]: {
    interval: "60s",
  },
  [`${ext}filters.http.api_key_auth.v3.ApiKeyAuth`]: { key_sources: [{ header: "x-text" }] },
  [`${ext}filters.http.api_key_auth.v3.KeySource`]: { header: "x-text" },
  [`${ext}filters.http.aws_eventstream_parser.v3.AwsEventstreamParser.HeaderRule`]: {
    header_name: "text",
    on_present: metadataValue,
  },
  [`${ext}filters.http.aws_eventstream_parser.v3.AwsEventstreamParser.ProcessingRules`]: { content_parser: sseRule },
  [`${ext}filters.http.aws_lambda.v3.Config`]: { arn },
  [`${ext}filters.http.aws_request_signing.v3.AwsRequestSigning`]: { service_name: "s3", region: "eu-central-1" },
  [`${ext}filters.http.aws_request_signing.v3.AwsRequestSigningPerRoute`]: {
    stat_prefix: "text",
    aws_request_signing: { service_name: "s3", region: "eu-central-1" },
  },
  [`${ext}filters.http.aws_lambda.v3.PerRouteConfig`]: { invoke_config: { arn } },
  [`${ext}filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute`]: {
    dynamic_module_config: { name: "text", do_not_close: true },
  },
  [`${ext}filters.http.basic_auth.v3.BasicAuth`]: { users: { inline_string: "a:{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=\n" } },
  [`${ext}filters.http.basic_auth.v3.BasicAuthPerRoute`]: {
    users: { inline_string: "a:{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=\n" },
  },
  [`${ext}filters.http.cache.v3.CacheConfig`]: {
    typed_config: any(`${ext}http.cache.simple_http_cache.v3.SimpleHttpCacheConfig`),
  },
  [`${ext}filters.http.cache_v2.v3.CacheV2Config`]: {
    typed_config: any(`${ext}http.cache_v2.simple_http_cache.v3.SimpleHttpCacheV2Config`),
  },
  [`${ext}filters.http.composite.v3.ExecuteFilterAction`]: {
    typed_config: named("envoy.filters.http.header_mutation", `${ext}filters.http.header_mutation.v3.HeaderMutation`),
  },
  [`${ext}filters.http.admission_control.v3.AdmissionControl.SuccessCriteria.HttpCriteria`]: {
    http_success_status: [{ start: 200, end: 300 }],
  },
  [`${ext}filters.http.composite.v3.FilterChainConfiguration`]: {
    typed_config: [named("envoy.filters.http.header_mutation", `${ext}filters.http.header_mutation.v3.HeaderMutation`)],
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
  [`${ext}filters.http.compressor.v3.CompressorPerRoute`]: { disabled: true },
  [`${ext}filters.http.ext_authz.v3.ExtAuthz`]: { grpc_service: grpcService, transport_api_version: "V3" },
  [`${ext}filters.network.ext_authz.v3.ExtAuthz`]: {
    stat_prefix: "text",
    grpc_service: grpcService,
    transport_api_version: "V3",
  },
  [`${ext}filters.http.ext_proc.v3.ExternalProcessor`]: { grpc_service: grpcService },
  [`${ext}filters.http.ext_proc.v3.ExtProcHttpService`]: { http_service: { http_uri: httpUri } },
  [`${ext}filters.network.ext_proc.v3.NetworkExternalProcessor`]: { grpc_service: grpcService, stat_prefix: "text" },
  [`${ext}filters.http.fault.v3.FaultAbort`]: { http_status: 503, percentage: { numerator: 1 } },
  [`${ext}filters.http.file_server.v3.FileServerConfig.DirectoryBehavior`]: { default_file: "index.html" },
  [`${ext}filters.http.header_to_metadata.v3.Config`]: {
    request_rules: [{ header: "x-text", on_header_present: { key: "text" } }],
  },
  [`${ext}filters.http.header_to_metadata.v3.Config.Rule`]: { header: "x-text", on_header_present: { key: "text" } },
  [`${ext}filters.http.header_to_metadata.v3.Config.KeyValuePair`]: { key: "text" },
  [`${ext}filters.http.ip_tagging.v3.IPTagging`]: {
    ip_tags: [{ ip_tag_name: "text", ip_list: [{ address_prefix: "10.0.0.0", prefix_len: 8 }] }],
  },
  [`${ext}filters.http.ip_tagging.v3.IPTagging.IPTag`]: {
    ip_tag_name: "text",
    ip_list: [{ address_prefix: "10.0.0.0", prefix_len: 8 }],
  },
  [`${ext}filters.http.json_to_metadata.v3.JsonToMetadata`]: {
    request_rules: { rules: [{ selectors: [{ key: "text" }], on_present: metadataValue }] },
  },
  [`${ext}filters.http.json_to_metadata.v3.JsonToMetadata.Rule`]: {
    selectors: [{ key: "text" }],
    on_present: metadataValue,
  },
  [`${ext}filters.http.json_to_metadata.v3.JsonToMetadata.KeyValuePair`]: metadataValue,
  [`${ext}filters.http.jwt_authn.v3.JwtAuthentication`]: {
    providers: { text: { issuer: "text", remote_jwks: { http_uri: httpUri } } },
  },
  [`${ext}filters.http.jwt_authn.v3.JwtProvider`]: {
    issuer: "text",
    remote_jwks: { http_uri: httpUri },
  },
  [`${ext}filters.http.jwt_authn.v3.JwtClaimToHeader`]: { header_name: "x-text", claim_name: "text" },
  [`${ext}filters.http.local_ratelimit.v3.LocalRateLimit`]: {
    stat_prefix: "text",
    token_bucket: { max_tokens: 1, tokens_per_fill: 1, fill_interval: "1s" },
  },
  [`${ext}filters.http.lua.v3.LuaPerRoute`]: { disabled: true },
  [`${ext}filters.http.mcp_json_rest_bridge.v3.HttpRule`]: { get: "/text" },
  [`${ext}filters.http.oauth2.v3.OAuth2`]: { config: oauth2 },
  [`${ext}filters.http.oauth2.v3.OAuth2PerRoute`]: { config: oauth2 },
  [`${ext}filters.http.oauth2.v3.OAuth2Config`]: oauth2,
  [`${ext}filters.http.oauth2.v3.OAuth2Credentials`]: oauth2.credentials as JsonObject,
  [`${ext}filters.http.router.v3.Router`]: {
    upstream_http_filters: [
      named("envoy.filters.http.upstream_codec", `${ext}filters.http.upstream_codec.v3.UpstreamCodec`),
    ],
  },
  [`${ext}filters.http.sse_to_metadata.v3.SseToMetadata.ProcessingRules`]: { content_parser: sseRule },
  [`${ext}filters.http.thrift_to_metadata.v3.ThriftToMetadata`]: {
    request_rules: [{ field: "METHOD_NAME", on_present: { key: "text" } }],
  },
  [`${ext}filters.http.thrift_to_metadata.v3.Rule`]: { field: "METHOD_NAME", on_present: { key: "text" } },
  [`${ext}filters.network.thrift_proxy.filters.payload_to_metadata.v3.PayloadToMetadata.Rule`]: {
    method_name: "text",
    field_selector: { name: "text", id: 1 },
    on_present: { key: "text" },
  },
  [`${ext}filters.network.thrift_proxy.filters.payload_to_metadata.v3.PayloadToMetadata.FieldSelector`]: {
    name: "text",
    id: 1,
  },
  [`${ext}filters.network.thrift_proxy.filters.header_to_metadata.v3.HeaderToMetadata.Rule`]: {
    header: "x-text",
    on_present: { key: "text" },
  },
  [`${ext}filters.network.thrift_proxy.v3.ThriftProxy`]: {
    stat_prefix: "text",
    route_config: { name: "text", routes: [thriftRoute] },
    thrift_filters: [
      { name: "envoy.filters.thrift.router", typed_config: any(`${ext}filters.network.thrift_proxy.router.v3.Router`) },
    ],
  },
  [`${ext}filters.network.thrift_proxy.v3.ThriftFilter`]: {
    name: "envoy.filters.thrift.router",
    typed_config: any(`${ext}filters.network.thrift_proxy.router.v3.Router`),
  },
  [`${ext}filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight`]: { name: "backend", weight: 1 },
  [`${ext}filters.network.connection_limit.v3.ConnectionLimit`]: { stat_prefix: "text", max_connections: "1" },
  [`${ext}filters.network.dubbo_proxy.v3.RouteMatch`]: { method: { name: { exact: "text" } } },
  [`${ext}filters.network.dubbo_proxy.v3.MethodMatch`]: { name: { exact: "text" } },
  [`${ext}filters.network.dubbo_proxy.v3.RouteAction`]: { cluster: "backend" },
  [`${ext}filters.network.dubbo_proxy.v3.DubboFilter`]: {
    name: "envoy.filters.dubbo.router",
    config: any(`${ext}filters.network.dubbo_proxy.router.v3.Router`),
  },
  [`${ext}filters.network.generic_proxy.v3.GenericProxy`]: {
    stat_prefix: "text",
    codec_config: named(
      "envoy.generic_proxy.codecs.dubbo",
      `${ext}filters.network.generic_proxy.codecs.dubbo.v3.DubboCodecConfig`,
    ),
    route_config: { name: "text" },
    filters: [genericRouter],
  },
  [`${ext}filters.network.redis_proxy.v3.RedisProxy`]: {
    stat_prefix: "text",
    settings: { op_timeout: "1s" },
    prefix_routes: { catch_all_route: { cluster: "backend" } },
  },
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes`]: { catch_all_route: { cluster: "backend" } },
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.ConnPoolSettings`]: { op_timeout: "1s" },
  [`${ext}filters.udp.dns_filter.v3.DnsFilterConfig`]: {
    stat_prefix: "text",
    server_config: {
      inline_dns_table: {
        virtual_domains: [{ name: "example.org", endpoint: { address_list: { address: ["127.0.0.1"] } } }],
      },
    },
  },
  "envoy.data.dns.v3.DnsTable": {
    virtual_domains: [{ name: "example.org", endpoint: { address_list: { address: ["127.0.0.1"] } } }],
  },
  "envoy.data.dns.v3.DnsTable.DnsVirtualDomain": {
    name: "example.org",
    endpoint: { address_list: { address: ["127.0.0.1"] } },
  },
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig`]: { stat_prefix: "text", cluster: "backend" },
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
  [`${ext}filters.http.lua.v3.Lua`]: {
    default_source_code: { inline_string: "function envoy_on_request(handle)\nend\n" },
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
