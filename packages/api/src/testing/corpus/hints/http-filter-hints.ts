import type { JsonObject } from "@bufbuild/protobuf";
import { ads, any, ext, grpcService, named } from "./blocks.js";
import { httpUri, metadataValue } from "./hint-values.js";

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

const arn = "arn:aws:lambda:eu-central-1:123456789012:function:text";
const sseRule = named("envoy.content_parsers.json", `${ext}content_parsers.json.v3.JsonContentParser`, {
  rules: [{ rule: { selectors: [{ key: "text" }], on_present: metadataValue } }],
});

/** As `messageHints`, for HTTP filters. */
export const httpFilterHints: Readonly<Record<string, JsonObject>> = {
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
  [`${ext}filters.http.compressor.v3.CompressorPerRoute`]: { disabled: true },
  [`${ext}filters.http.ext_authz.v3.ExtAuthz`]: { grpc_service: grpcService, transport_api_version: "V3" },
  [`${ext}filters.http.ext_proc.v3.ExternalProcessor`]: { grpc_service: grpcService },
  [`${ext}filters.http.ext_proc.v3.ExtProcHttpService`]: { http_service: { http_uri: httpUri } },
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
  [`${ext}filters.http.lua.v3.Lua`]: {
    default_source_code: { inline_string: "function envoy_on_request(handle)\nend\n" },
  },
};
