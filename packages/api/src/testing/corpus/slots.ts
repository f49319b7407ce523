import type { JsonObject } from "@bufbuild/protobuf";
import type { Extension } from "./extensions.js";
import { config, ext, hcm } from "./hints/blocks.js";

/** The extensions that an `Any` (or a `TypedExtensionConfig`) may hold: those of categories of Envoy, or these. */
export interface Slot {
  readonly categories?: readonly string[];
  readonly extensions?: readonly Extension[];
  /** Leaves out extensions that do not match. */
  readonly only?: RegExp;
}

/**
 * The meaning of the slots below a field, for messages that stand in many places: a transport socket in a cluster is
 * not the same as one in a listener. By the full names of those slots' fields.
 */
export interface Context {
  readonly name: string;
  readonly slots: Readonly<Record<string, Slot>>;
  /** Messages that need more here than the rules of the protos say. */
  readonly messages?: Readonly<Record<string, JsonObject>>;
}

/** Extensions of these categories. */
export const category = (...categories: readonly string[]): Slot => ({ categories });
/** One extension, with one message. */
export const one = (name: string, type: string): Slot => ({ extensions: [{ name, type }] });

/** The configuration of a filter for a route, and not that of the filter. */
export const perRoute =
  /PerRoute$|PerRouteConfig$|ConfigPerRoute$|McpOverride$|CorsPolicy$|HTTPFault$|CsrfPolicy$|header_to_metadata.v3.Config$|custom_response.v3.CustomResponse$|RouteConfig$/;
/** The configuration of a filter, and not that for a route. */
export const perFilter =
  /^(?!.*(PerRoute|PerRouteConfig|ConfigPerRoute|McpOverride|RateLimitQuotaOverride|CorsPolicy)$)/;

/** The content of slots that mean the same everywhere. */
export const slots: Readonly<Record<string, Slot>> = {
  [`${config}accesslog.v3.AccessLog.typed_config`]: category("envoy.access_loggers"),
  [`${config}accesslog.v3.ExtensionFilter.typed_config`]: category("envoy.access_loggers.extension_filters"),
  [`${config}cluster.v3.Cluster.typed_dns_resolver_config`]: category("envoy.network.dns_resolver"),
  [`${config}cluster.v3.Cluster.typed_extension_protocol_options`]: {
    extensions: [
      "envoy.extensions.upstreams.http.reverse_tunnel.v3.ReverseTunnelUpstreamCodecOptions",
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      "envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions",
    ]
      .map((type) => ({ name: type, type }))
      .concat([
        {
          name: "envoy.filters.network.redis_proxy",
          type: `${ext}filters.network.redis_proxy.v3.RedisProtocolOptions`,
        },
        {
          name: "envoy.filters.network.thrift_proxy",
          type: `${ext}filters.network.thrift_proxy.v3.ThriftProtocolOptions`,
        },
      ]),
  },
  [`${config}cluster.v3.Cluster.upstream_config`]: {
    extensions: [
      "http.generic.v3.GenericConnectionPoolProto",
      "http.http.v3.HttpConnectionPoolProto",
      "http.tcp.v3.TcpConnectionPoolProto",
      "http.udp.v3.UdpConnectionPoolProto",
      "tcp.generic.v3.GenericConnectionPoolProto",
    ].map((type) => ({
      name: `envoy.filters.connection_pools.${type.split(".").slice(0, 2).join(".")}`,
      type: `${ext}upstreams.${type}`,
    })),
  },
  [`${config}cluster.v3.Cluster.CustomClusterType.typed_config`]: category("envoy.clusters"),
  [`${config}cluster.v3.Cluster.QueuingPolicies.pending_rq_policy`]: category("envoy.queue_policy"),
  [`${config}cluster.v3.LoadBalancingPolicy.Policy.typed_extension_config`]: category("envoy.load_balancing_policies"),
  [`${config}cluster.v3.OutlierDetection.monitors`]: {},
  [`${config}common.key_value.v3.KeyValueStoreConfig.config`]: category("envoy.common.key_value"),
  [`${config}core.v3.BindConfig.local_address_selector`]: category("envoy.upstream.local_address_selector"),
  [`${config}core.v3.RetryPolicy.RetryPriority.typed_config`]: category("envoy.retry_priorities"),
  [`${config}core.v3.RetryPolicy.RetryHostPredicate.typed_config`]: category("envoy.retry_host_predicates"),
  [`${config}core.v3.ApiConfigSource.config_validators`]: category("envoy.config.validators"),
  [`${config}core.v3.HealthCheck.event_logger`]: category("envoy.health_check.event_sinks"),
  [`${config}core.v3.HealthCheck.CustomHealthCheck.typed_config`]: {
    categories: ["envoy.health_checkers"],
    only: /^envoy\.extensions/,
  },
  [`${config}core.v3.HttpService.formatters`]: category("envoy.formatter"),
  [`${config}core.v3.QuicProtocolOptions.client_packet_writer`]: category("envoy.quic.client_packet_writer"),
  [`${config}core.v3.AlternateProtocolsCacheOptions.key_value_store_config`]: one(
    "envoy.key_value",
    "envoy.config.common.key_value.v3.KeyValueStoreConfig",
  ),
  [`${config}core.v3.Http1ProtocolOptions.HeaderKeyFormat.stateful_formatter`]: category(
    "envoy.http.stateful_header_formatters",
  ),
  [`${config}core.v3.SubstitutionFormatString.formatters`]: category("envoy.formatter"),
  [`${config}core.v3.GrpcService.GoogleGrpc.channel_credentials_plugin`]: {},
  [`${config}core.v3.GrpcService.GoogleGrpc.call_credentials_plugin`]: {},
  [`${config}listener.v3.ApiListener.api_listener`]: one("hcm", `${hcm}HttpConnectionManager`),
  [`${config}listener.v3.Listener.ConnectionBalanceConfig.extend_balance`]: {},
  [`${config}listener.v3.QuicProtocolOptions.crypto_stream_config`]: category("envoy.quic.server.crypto_stream"),
  [`${config}listener.v3.QuicProtocolOptions.proof_source_config`]: category("envoy.quic.proof_source"),
  [`${config}listener.v3.QuicProtocolOptions.connection_id_generator_config`]: category(
    "envoy.quic.connection_id_generator",
  ),
  [`${config}listener.v3.QuicProtocolOptions.server_preferred_address_config`]: category(
    "envoy.quic.server_preferred_address",
  ),
  [`${config}listener.v3.QuicProtocolOptions.connection_debug_visitor_config`]: category(
    "envoy.quic.connection_debug_visitor",
  ),
  [`${config}listener.v3.UdpListenerConfig.udp_packet_packet_writer_config`]: category("envoy.udp_packet_writer"),
  [`${config}rbac.v3.RBAC.AuditLoggingOptions.AuditLoggerConfig.audit_logger`]: {},
  [`${config}rbac.v3.Permission.matcher`]: category("envoy.rbac.matchers"),
  [`${config}rbac.v3.Permission.uri_template`]: category("envoy.path.match"),
  [`${config}rbac.v3.Principal.custom`]: category("envoy.rbac.principals"),
  [`${config}route.v3.RouteConfiguration.typed_per_filter_config`]: {
    categories: ["envoy.filters.http"],
    only: perRoute,
  },
  [`${config}route.v3.RouteConfiguration.route_specifiers`]: category("envoy.router.route_specifiers"),
  [`${config}route.v3.VirtualHost.typed_per_filter_config`]: { categories: ["envoy.filters.http"], only: perRoute },
  [`${config}route.v3.VirtualHost.route_specifiers`]: category("envoy.router.route_specifiers"),
  [`${config}route.v3.Route.typed_per_filter_config`]: { categories: ["envoy.filters.http"], only: perRoute },
  [`${config}route.v3.Route.route_specifiers`]: category("envoy.router.route_specifiers"),
  [`${config}route.v3.WeightedCluster.ClusterWeight.typed_per_filter_config`]: {
    categories: ["envoy.filters.http"],
    only: perRoute,
  },
  [`${config}route.v3.FilterConfig.config`]: { categories: ["envoy.filters.http"], only: perRoute },
  [`${config}route.v3.ClusterSpecifierPlugin.extension`]: category("envoy.router.cluster_specifier_plugin"),
  [`${config}route.v3.RouteMatch.path_match_policy`]: category("envoy.path.match"),
  [`${config}route.v3.RouteAction.path_rewrite_policy`]: category("envoy.path.rewrite"),
  [`${config}route.v3.RouteAction.early_data_policy`]: category("envoy.route.early_data_policy"),
  [`${config}route.v3.RetryPolicy.retry_options_predicates`]: {},
  [`${config}route.v3.RetryPolicy.RetryPriority.typed_config`]: category("envoy.retry_priorities"),
  [`${config}route.v3.RetryPolicy.RetryHostPredicate.typed_config`]: category("envoy.retry_host_predicates"),
  [`${config}route.v3.VirtualHost.retry_policy_typed_config`]: one("retry", "envoy.config.route.v3.RetryPolicy"),
  [`${config}route.v3.RouteAction.retry_policy_typed_config`]: one("retry", "envoy.config.route.v3.RetryPolicy"),
  [`${config}route.v3.RateLimit.Action.extension`]: category("envoy.rate_limit_descriptors"),
  [`${config}route.v3.InternalRedirectPolicy.predicates`]: category("envoy.internal_redirect_predicates"),
  [`${config}tap.v3.OutputSink.custom_sink`]: {},
  [`${config}trace.v3.Tracing.Http.typed_config`]: category("envoy.tracers"),
  [`${config}trace.v3.OpenTelemetryConfig.exporter`]: {},
  [`${config}trace.v3.OpenTelemetryConfig.resource_detectors`]: category(
    "envoy.tracers.opentelemetry.resource_detectors",
  ),
  [`${config}trace.v3.OpenTelemetryConfig.sampler`]: category("envoy.tracers.opentelemetry.samplers"),
  [`${ext}access_loggers.fluentd.v3.FluentdAccessLogConfig.formatters`]: category("envoy.formatter"),
  [`${ext}access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.resource_detectors`]: category(
    "envoy.tracers.opentelemetry.resource_detectors",
  ),
  [`${ext}access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.formatters`]: category("envoy.formatter"),
  [`${ext}clusters.dns.v3.DnsCluster.typed_dns_resolver_config`]: category("envoy.network.dns_resolver"),
  [`${ext}common.dynamic_forward_proxy.v3.DnsCacheConfig.typed_dns_resolver_config`]:
    category("envoy.network.dns_resolver"),
  [`${ext}common.matching.v3.ExtensionWithMatcher.extension_config`]: {
    categories: ["envoy.filters.http"],
    only: /HeaderMutation$/,
  },
  [`${ext}filters.http.ai_protocol_manager.v3.AiProtocolManager.filters`]: category("envoy.http.ai_filters"),
  [`${ext}filters.http.aws_eventstream_parser.v3.AwsEventstreamParser.ProcessingRules.content_parser`]:
    category("envoy.content_parsers"),
  [`${ext}filters.http.cache.v3.CacheConfig.typed_config`]: category("envoy.http.cache"),
  [`${ext}filters.http.cache_v2.v3.CacheV2Config.typed_config`]: category("envoy.http.cache_v2"),
  [`${ext}filters.http.composite.v3.FilterChainConfiguration.typed_config`]: {
    categories: ["envoy.filters.http"],
    only: /HeaderMutation$/,
  },
  [`${ext}filters.http.composite.v3.ExecuteFilterAction.typed_config`]: {
    categories: ["envoy.filters.http"],
    only: /HeaderMutation$/,
  },
  [`${ext}filters.http.compressor.v3.Compressor.compressor_library`]: category("envoy.compression.compressor"),
  [`${ext}filters.http.compressor.v3.CompressorOverrides.compressor_library`]: category("envoy.compression.compressor"),
  [`${ext}filters.http.credential_injector.v3.CredentialInjector.credential`]: category(
    "envoy.http.injected_credentials",
  ),
  [`${ext}filters.http.decompressor.v3.Decompressor.decompressor_library`]: category("envoy.compression.decompressor"),
  [`${ext}filters.http.ext_proc.v3.ExternalProcessor.processing_request_modifier`]: category(
    "envoy.http.ext_proc.processing_request_modifiers",
  ),
  [`${ext}filters.http.ext_proc.v3.ExternalProcessor.on_processing_response`]: category(
    "envoy.http.ext_proc.response_processors",
  ),
  [`${ext}filters.http.ext_proc.v3.ExtProcOverrides.processing_request_modifier`]: category(
    "envoy.http.ext_proc.processing_request_modifiers",
  ),
  [`${ext}filters.http.filter_chain.v3.FilterChain.filters`]: {
    categories: ["envoy.filters.http"],
    only: /HeaderMutation$/,
  },
  [`${ext}filters.http.geoip.v3.Geoip.provider`]: category("envoy.geoip_providers"),
  [`${ext}filters.network.geoip.v3.Geoip.provider`]: category("envoy.geoip_providers"),
  [`${ext}filters.http.header_mutation.v3.Mutations.formatters`]: category("envoy.formatter"),
  [`${ext}filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings.BucketIdBuilder.ValueBuilder.custom_value`]:
    category("envoy.matching.http.input"),
  [`${ext}filters.http.sse_to_metadata.v3.SseToMetadata.ProcessingRules.content_parser`]:
    category("envoy.content_parsers"),
  [`${ext}filters.http.stateful_session.v3.StatefulSession.session_state`]: category("envoy.http.stateful_session"),
  [`${ext}filters.network.dubbo_proxy.v3.DubboFilter.config`]: category("envoy.dubbo_proxy.filters"),
  [`${ext}filters.network.generic_proxy.v3.GenericProxy.codec_config`]: category("envoy.generic_proxy.codecs"),
  [`${ext}filters.network.generic_proxy.v3.GenericProxy.filters`]: category("envoy.generic_proxy.filters"),
  [`${hcm}HttpConnectionManager.original_ip_detection_extensions`]: category("envoy.http.original_ip_detection"),
  [`${hcm}HttpConnectionManager.early_header_mutation_extensions`]: category("envoy.http.early_header_mutation"),
  [`${hcm}HttpConnectionManager.typed_header_validation_config`]: category("envoy.http.header_validators"),
  [`${hcm}RequestIDExtension.typed_config`]: category("envoy.request_id"),
  [`${ext}filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.formatters`]: category("envoy.formatter"),
  [`${ext}filters.network.thrift_proxy.v3.ThriftFilter.typed_config`]: category("envoy.thrift_proxy.filters"),
  [`${ext}filters.udp.dns_filter.v3.DnsFilterConfig.ClientContextConfig.typed_dns_resolver_config`]:
    category("envoy.network.dns_resolver"),
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter.typed_config`]: category("envoy.filters.udp.session"),
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig.UdpTunnelingConfig.formatters`]: category("envoy.formatter"),
  [`${ext}grpc_service.channel_credentials.xds.v3.XdsCredentials.fallback_credentials`]: category(
    "envoy.grpc_service.channel_credentials",
  ),
  [`${ext}http.custom_response.redirect_policy.v3.RedirectPolicy.modify_request_headers_action`]: {
    extensions: [],
  },
  [`${ext}stat_sinks.open_telemetry.v3.SinkConfig.resource_detectors`]: category(
    "envoy.tracers.opentelemetry.resource_detectors",
  ),
  [`${ext}tracers.opentelemetry.samplers.v3.ParentBasedSamplerConfig.wrapped_sampler`]: category(
    "envoy.tracers.opentelemetry.samplers",
  ),
  [`${ext}transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.certificate_mapper`]: one(
    "envoy.tls.certificate_mappers.static_name",
    `${ext}transport_sockets.tls.cert_mappers.static_name.v3.StaticName`,
  ),
  [`${ext}transport_sockets.tls.v3.CertificateValidationContext.custom_validator_config`]: {
    extensions: [
      { name: "envoy.tls.cert_validator.spiffe", type: `${ext}transport_sockets.tls.v3.SPIFFECertValidatorConfig` },
      {
        name: "envoy.tls.cert_validator.dynamic_modules",
        type: `${ext}transport_sockets.tls.cert_validator.dynamic_modules.v3.DynamicModuleCertValidatorConfig`,
      },
    ],
  },
  [`${ext}transport_sockets.tls.v3.CommonTlsContext.custom_tls_certificate_selector`]: category(
    "envoy.tls.certificate_selectors",
  ),
  [`${ext}transport_sockets.tls.v3.CommonTlsContext.custom_handshaker`]: category("envoy.tls_handshakers"),
  [`${ext}transport_sockets.tls.v3.PrivateKeyProvider.typed_config`]: {},
  [`${ext}upstreams.http.v3.HttpProtocolOptions.header_validation_config`]: category("envoy.http.header_validators"),
  "envoy.type.matcher.v3.StringMatcher.custom": category("envoy.string_matcher"),
  "xds.type.matcher.v3.StringMatcher.custom": category("envoy.string_matcher"),
};
