import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { any, config, ext, placeholders } from "./blocks.js";

const matcherList = "xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate";
const celInput: JsonObject = {
  name: "envoy.matching.inputs.cel_data_input",
  typed_config: any("xds.type.matcher.v3.HttpAttributesCelMatchInput"),
};

/** Fields that must stand beside a field, or (null) must not. */
export const siblingHints: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> = {
  [`${config}cluster.v3.Cluster.cluster_type`]: { load_assignment: null },
  [`${config}cluster.v3.Cluster.eds_cluster_config`]: { type: "EDS", load_assignment: null },
  [`${config}cluster.v3.Cluster.typed_dns_resolver_config`]: { type: "STRICT_DNS" },
  [`${config}cluster.v3.Cluster.original_dst_lb_config`]: {
    type: "ORIGINAL_DST",
    lb_policy: "CLUSTER_PROVIDED",
    load_assignment: null,
  },
  [`${config}cluster.v3.OutlierDetection.max_ejection_time`]: { base_ejection_time: "0.5s" },
  [`${config}core.v3.ExtensionConfigSource.default_config`]: { type_urls: ["type.googleapis.com/$TYPE"] },
  [`${config}core.v3.BindConfig.extra_source_addresses`]: { source_address: { address: "127.0.0.1", port_value: 0 } },
  [`${config}core.v3.BindConfig.additional_source_addresses`]: {
    source_address: { address: "127.0.0.1", port_value: 0 },
  },
  [`${config}core.v3.HealthCheck.HttpHealthCheck.send`]: { method: "POST" },
  [`${config}core.v3.HeaderValue.raw_value`]: { value: null },
  [`${config}endpoint.v3.LocalityLbEndpoints.leds_cluster_locality_config`]: { lb_endpoints: null },
  [`${config}listener.v3.Listener.internal_listener`]: { address: null, bind_to_port: null },
  [`${config}listener.v3.Listener.fcds_config`]: { filter_chains: null },
  [`${config}route.v3.RouteAction.UpgradeConfig.connect_config`]: { upgrade_type: "CONNECT" },
  [`${config}route.v3.RouteAction.RequestMirrorPolicy.cluster_header`]: { cluster: null },
  [`${config}route.v3.VirtualHost.matcher`]: { routes: null },
  [`${config}route.v3.WeightedCluster.ClusterWeight.cluster_header`]: { name: null },
  [`${config}tap.v3.OutputSink.streaming_grpc`]: {},
  ...Object.fromEntries(
    ["match_typed_subject_alt_names", "match_subject_alt_names", "allow_expired_certificate", "crl"].map((field) => [
      `${ext}transport_sockets.tls.v3.CertificateValidationContext.${field}`,
      { trusted_ca: { inline_string: placeholders.certificate } },
    ]),
  ),
  [`${ext}transport_sockets.tls.v3.TlsCertificate.pkcs12`]: { certificate_chain: null, private_key: null },
  [`${ext}clusters.original_dst.v3.OriginalDstCluster.http_header_name`]: { use_http_header: true },
  [`${ext}filters.http.ext_proc.v3.ExternalProcessor.http_service`]: { grpc_service: null },
  [`${ext}filters.http.lua.v3.Lua.inline_code`]: { default_source_code: null },
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig.UdpTunnelingConfig.post_path`]: { use_post: true },
  [`${ext}filters.http.ai_protocol_manager.v3.AiProtocolManager.filters`]: { request_handling: {} },
  [`${config}core.v3.KeyValueMutation.append`]: { remove: null },
  [`${matcherList}.custom_match envoy.matching.matchers.cel_matcher`]: { input: celInput },
  [`${config}cluster.v3.Filter.config_discovery`]: { typed_config: null },
  [`${config}cluster.v3.Cluster.OriginalDstLbConfig.http_header_name`]: { use_http_header: true },
  [`${ext}filters.network.thrift_proxy.v3.ThriftProxy.trds`]: { route_config: null },
  [`${ext}filters.http.header_to_metadata.v3.Config.Rule.cookie`]: { header: null },
  [`${ext}filters.http.file_server.v3.FileServerConfig.DirectoryBehavior.list`]: { default_file: null },
  [`${ext}filters.http.oauth2.v3.OAuth2Config.end_session_endpoint`]: { auth_scopes: ["openid"] },
  [`${ext}transport_sockets.tls.v3.CommonTlsContext.tls_certificate_sds_secret_configs`]: { tls_certificates: null },
  [`${ext}transport_sockets.tls.v3.CommonTlsContext.tls_certificate_provider_instance`]: { tls_certificates: null },
  [`${ext}transport_sockets.tls.v3.CommonTlsContext.tls_certificate_certificate_provider`]: { tls_certificates: null },
  [`${ext}transport_sockets.tls.v3.CommonTlsContext.custom_tls_certificate_selector`]: { tls_certificates: null },
  [`${ext}transport_sockets.tls.v3.UpstreamTlsContext.auto_sni_san_validation`]: {
    common_tls_context: { validation_context: { trusted_ca: { inline_string: placeholders.certificate } } },
  },
  [`${config}trace.v3.OpenTelemetryConfig.http_service`]: { grpc_service: null },
  [`${config}trace.v3.ZipkinConfig.collector_service`]: { collector_cluster: null, collector_endpoint: null },
  [`${ext}access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.grpc_service`]: { common_config: null },
  [`${ext}access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.http_service`]: { common_config: null },
  [`${ext}access_loggers.stats.v3.Config.stats_scope`]: { stat_prefix: null },
  [`${ext}access_loggers.stats.v3.Config.Counter.value_format`]: { value_fixed: null },
  [`${ext}access_loggers.stats.v3.Config.Gauge.value_format`]: { value_fixed: null },
  [`${ext}access_loggers.stats.v3.Config.Gauge.add_subtract`]: { set: null },
  [`${ext}filters.common.set_filter_state.v3.FilterStateValue.object_key`]: { factory_key: "envoy.string" },
  [`${ext}filters.http.adaptive_concurrency.v3.GradientControllerConfig.MinimumRTTCalculationParams.fixed_value`]: {
    interval: null,
  },
  [`${ext}filters.http.bandwidth_share.v3.BandwidthShare.response_trailer_prefix`]: { enable_response_trailers: true },
  [`${ext}filters.http.ip_tagging.v3.IPTagging.ip_tags_datasource`]: { ip_tags: null },
  [`${ext}filters.http.jwt_authn.v3.JwtClaimToHeader.claim_path`]: { claim_name: null },
  [`${ext}filters.http.thrift_to_metadata.v3.Rule.on_missing`]: {},
  [`${ext}filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.post_path`]: { use_post: true },
  [`${ext}filters.network.tcp_proxy.v3.TcpProxy.upstream_connect_mode`]: { max_early_data_bytes: 1 },
  [`${ext}load_balancing_policies.override_host.v3.OverrideHost.OverrideHostSource.metadata`]: { header: null },
  [`${ext}load_balancing_policies.ring_hash.v3.RingHash.maximum_ring_size`]: { minimum_ring_size: "1" },
  [`${ext}rate_limit_descriptors.jwt_claim.v3.Descriptor.cookie`]: { header_name: null },
};
