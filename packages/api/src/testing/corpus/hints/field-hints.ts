import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ads, codec, config, ext, placeholders } from "./blocks.js";

const users: JsonObject = { inline_string: "a:{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=\n" };
const lua = (code: string): JsonObject => ({ inline_string: code });
const jwks = JSON.stringify({
  keys: [
    {
      kty: "EC",
      crv: "P-256",
      alg: "ES256",
      kid: "text",
      x: "a3rnE1Df14dp_9n4tUW-DKxPApdVUn-tEX45kZaj35k",
      y: "rxT1yIOSTa4841MozmCM207h9Q61YpEeXlu84OIdzds",
    },
  ],
});

/**
 * Values of fields that the rules leave open, or ask too little of; for lists and maps an item, or all of it as a list
 * or a map.
 */
export const fieldHints: Readonly<Record<string, readonly JsonValue[]>> = {
  [`${config}cluster.v3.Cluster.name`]: [placeholders.name],
  [`${config}listener.v3.Listener.name`]: [placeholders.name],
  [`${config}listener.v3.Listener.stat_prefix`]: ["text"],
  // Not in the root folder: a program that runs as root could make it there.
  [`${ext}access_loggers.file.v3.FileAccessLog.path`]: ["/nowhere/access.log"],
  [`${config}core.v3.HealthCheck.event_log_path`]: ["/dev/null"],
  [`${config}core.v3.HealthCheck.Payload.text`]: ["0a0b"],
  [`${config}core.v3.BindConfig.additional_source_addresses`]: [{ address: "::1", port_value: 0 }],
  [`${config}trace.v3.XRayConfig.daemon_endpoint`]: [{ protocol: "UDP", address: "127.0.0.1", port_value: 1 }],
  [`${ext}access_loggers.stats.v3.Config.Histogram.value_format`]: ["%BYTES_SENT%"],
  [`${ext}filters.http.aws_lambda.v3.Config.arn`]: ["arn:aws:lambda:eu-central-1:123456789012:function:text"],
  [`${ext}filters.http.basic_auth.v3.BasicAuth.users`]: [users],
  [`${ext}filters.http.basic_auth.v3.BasicAuthPerRoute.users`]: [users],
  [`${ext}filters.http.lua.v3.Lua.default_source_code`]: [lua("function envoy_on_request(handle)\nend\n")],
  [`${ext}filters.http.lua.v3.LuaPerRoute.source_code`]: [lua("function envoy_on_request(handle)\nend\n")],
  [`${ext}string_matcher.lua.v3.Lua.source_code`]: [lua("function envoy_match(text)\n  return true\nend\n")],
  [`${ext}router.cluster_specifiers.lua.v3.LuaConfig.source_code`]: [
    lua("function envoy_on_route(handle)\n  return 'backend'\nend\n"),
  ],
  [`${ext}filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name`]: ["backend"],
  [`${ext}filters.common.jwks.v3.JwtHandshakeValidator.local_jwks`]: [{ inline_string: jwks }],
  [`${ext}filters.http.jwt_authn.v3.JwtProvider.local_jwks`]: [{ inline_string: jwks }],
  [`${ext}transport_sockets.tls.v3.TlsCertificate.certificate_chain`]: [{ inline_string: placeholders.certificate }],
  [`${ext}transport_sockets.tls.v3.TlsCertificate.private_key`]: [{ inline_string: placeholders.key }],
  [`${ext}transport_sockets.tls.v3.TlsSessionTicketKeys.keys`]: [{ inline_string: "0123456789".repeat(8) }],
  [`${ext}health_check.event_sinks.file.v3.HealthCheckEventFileSink.event_log_path`]: ["/dev/null"],
  [`${ext}quic.server_preferred_address.v3.FixedServerPreferredAddressConfig.ipv4_address`]: ["127.0.0.1"],
  [`${ext}quic.server_preferred_address.v3.FixedServerPreferredAddressConfig.ipv6_address`]: ["::1"],
  [`${ext}quic.server_preferred_address.v3.DataSourceServerPreferredAddressConfig.AddressFamilyConfig.address`]: [
    { inline_string: "127.0.0.1" },
  ],
  [`${ext}quic.server_preferred_address.v3.DataSourceServerPreferredAddressConfig.AddressFamilyConfig.port`]: [
    { inline_string: "1" },
  ],
  [`${ext}access_loggers.stats.v3.Config.Counter.value_format`]: ["%BYTES_SENT%"],
  [`${ext}access_loggers.stats.v3.Config.Gauge.value_format`]: ["%BYTES_SENT%"],
  [`${ext}filters.http.lua.v3.Lua.source_codes`]: [{ text: lua("function envoy_on_request(handle)\nend\n") }],
  [`${ext}transport_sockets.tls.v3.CertificateValidationContext.trusted_ca`]: [
    { inline_string: placeholders.certificate },
  ],
  [`${ext}transport_sockets.tls.v3.CertificateValidationContext.verify_certificate_spki`]: [
    "NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A=",
  ],
  [`${ext}transport_sockets.tls.v3.CertificateValidationContext.verify_certificate_hash`]: ["0f".repeat(32)],
  "envoy.data.dns.v3.DnsTable.AddressList.address": ["127.0.0.1"],
  [`${ext}http.custom_response.redirect_policy.v3.RedirectPolicy.modify_request_headers_action`]: [],
  "envoy.type.matcher.v3.RegexMatcher.GoogleRE2.max_program_size": [1000],
  "envoy.type.v3.Int64Range.start": ["100"],
  "envoy.type.v3.Int64Range.end": ["300"],
  "envoy.type.v3.TokenBucket.fill_interval": ["1s"],
  // Envoy has no extension of the kind.
  [`${config}route.v3.RetryPolicy.retry_options_predicates`]: [],
  [`${config}listener.v3.Listener.ConnectionBalanceConfig.extend_balance`]: [],
  [`${config}tap.v3.OutputSink.custom_sink`]: [],
  [`${config}listener.v3.ListenerFilter.config_discovery`]: [
    { config_source: ads, type_urls: [`type.googleapis.com/${ext}filters.listener.tls_inspector.v3.TlsInspector`] },
  ],
  [`${config}listener.v3.Filter.config_discovery`]: [
    { config_source: ads, type_urls: [`type.googleapis.com/${ext}filters.network.tcp_proxy.v3.TcpProxy`] },
  ],
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter.config_discovery`]: [
    {
      config_source: ads,
      type_urls: [`type.googleapis.com/${ext}filters.udp.udp_proxy.session.http_capsule.v3.FilterConfig`],
    },
  ],
  [`${config}core.v3.ExtensionConfigSource.type_urls`]: [
    [`type.googleapis.com/${ext}filters.http.header_mutation.v3.HeaderMutation`],
  ],
  [`${ext}upstreams.http.v3.HttpProtocolOptions.http_filters`]: [[codec]],
  [`${ext}filters.http.router.v3.Router.upstream_http_filters`]: [[codec]],
};

/** Texts by the names of fields; the first that fits. */
export const textHints: readonly (readonly [RegExp, string])[] = [
  [/^cluster(_name)?$|_cluster$|_cluster_name$|^clusters$/, "backend"],
  [/_db_path$/, "/text.mmdb"],
  [/stat_prefix/, "stats"],
  [/regex/, "a.*"],
  [/^address|_ip$|^ip$|address_prefix|^host$/, "127.0.0.1"],
  [/header(s)?(_name)?$|headers_to_remove|_header_/, "x-text"],
  [/(^|_)path(_|$)|prefix_rewrite|filename|directory/, "/text"],
  [/url|uri|endpoint$/, "http://127.0.0.1/text"],
  [/runtime_key/, "text.key"],
];

/** Messages with their own JSON form. */
export const contentHints: Readonly<Record<string, JsonValue>> = {
  "google.protobuf.Any": { "@type": "type.googleapis.com/google.protobuf.StringValue", value: "text" },
  "google.protobuf.Struct": { key: "text" },
  "google.protobuf.Value": "text",
  "google.protobuf.ListValue": ["text"],
  "google.protobuf.Timestamp": "2030-01-01T00:00:00Z",
  "google.protobuf.Duration": "1s",
  "google.protobuf.Empty": {},
  "google.protobuf.FieldMask": "text",
  "google.protobuf.StringValue": "text",
};
