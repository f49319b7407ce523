import type { JsonObject } from "@bufbuild/protobuf";
import { config, ext, hcm } from "./hints/blocks.js";
import { type Context, category, one, perFilter, type Slot } from "./slots.js";

const upstreamSockets: Context = {
  name: "upstream",
  slots: { [`${config}core.v3.TransportSocket.typed_config`]: category("envoy.transport_sockets.upstream") },
};
const downstreamSockets: Context = {
  name: "downstream",
  slots: { [`${config}core.v3.TransportSocket.typed_config`]: category("envoy.transport_sockets.downstream") },
};

const httpFilters = (name: string, of: string, messages: Context["messages"] = {}): Context => ({
  name,
  messages,
  slots: {
    [`${hcm}HttpFilter.typed_config`]: { categories: [of], only: perFilter },
    [`${config}core.v3.ExtensionConfigSource.default_config`]: { categories: [of], only: perFilter },
  },
});
const networkFilters = (name: string, slot: Slot): Context => ({
  name,
  slots: {
    [`${config}listener.v3.Filter.typed_config`]: slot,
    [`${config}cluster.v3.Filter.typed_config`]: slot,
    [`${config}core.v3.ExtensionConfigSource.default_config`]: slot,
  },
});

const matchersOf = (only: RegExp): Slot => ({ categories: ["envoy.matching.input_matchers"], only });
/** The matchers for requests of generic proxies, for those of HTTP, and for plain texts. */
const ofGeneric = matchersOf(/RequestMatcher$/);
const ofHttp = matchersOf(/^(?!.*RequestMatcher$)/);
const ofTexts = matchersOf(/^(?!.*(RequestMatcher|CelMatcher|DynamicModuleMatcher)$)/);
const matcherTypes = ["xds.type.matcher.v3.Matcher", `${config}common.matcher.v3.Matcher`];

/** A matcher over inputs of one kind, with the action for a match. */
function matcher(
  name: string,
  inputs: Slot,
  custom: Slot,
  action: Slot,
  input?: JsonObject,
  matchers: Slot = ofTexts,
): Context {
  const list = "MatcherList.Predicate.SinglePredicate";
  const predicate = { input: input ?? {}, value_match: { exact: "text" } };
  return {
    name,
    ...(input === undefined
      ? {}
      : {
          messages: Object.fromEntries(matcherTypes.map((type) => [`${type}.${list}`, predicate])),
        }),
    slots: Object.fromEntries(
      matcherTypes.flatMap((type) => [
        [`${type}.${list}.input`, inputs],
        [`${type}.${list}.custom_match`, matchers],
        [`${type}.MatcherTree.input`, inputs],
        [`${type}.MatcherTree.custom_match`, custom],
        [`${type}.OnMatch.action`, action],
      ]),
    ),
  };
}

const http = (name: string, action: Slot): Context =>
  matcher(
    `http ${name}`,
    category("envoy.matching.http.input"),
    category("envoy.matching.http.custom_matchers"),
    action,
    {
      name: "envoy.matching.inputs.request_headers",
      typed_config: {
        "@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput",
        header_name: "x-text",
      },
    },
    ofHttp,
  );
const network = (name: string, action: Slot): Context =>
  matcher(
    `network ${name}`,
    category("envoy.matching.network.input"),
    category("envoy.matching.network.custom_matchers"),
    action,
    {
      name: "envoy.matching.inputs.destination_port",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput",
      },
    },
  );

const rbacAction = one("envoy.filters.rbac.action", "envoy.config.rbac.v3.Action");

const codecFilter = {
  [`${hcm}HttpFilter`]: {
    name: "envoy.filters.http.upstream_codec",
    typed_config: { "@type": `type.googleapis.com/${ext}filters.http.upstream_codec.v3.UpstreamCodec` },
  },
};

/** Fields below which slots have their own meaning. */
export const contexts: Readonly<Record<string, Context>> = {
  [`${config}cluster.v3.Cluster.transport_socket`]: upstreamSockets,
  [`${config}cluster.v3.Cluster.TransportSocketMatch.transport_socket`]: upstreamSockets,
  [`${ext}transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport.transport_socket`]: upstreamSockets,
  [`${ext}transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport.transport_socket`]: upstreamSockets,
  [`${ext}transport_sockets.internal_upstream.v3.InternalUpstreamTransport.transport_socket`]: upstreamSockets,
  [`${ext}transport_sockets.tap.v3.Tap.transport_socket`]: upstreamSockets,
  [`${ext}transport_sockets.tcp_stats.v3.Config.transport_socket`]: upstreamSockets,
  [`${ext}transport_sockets.starttls.v3.UpstreamStartTlsConfig.cleartext_socket_config`]: upstreamSockets,
  [`${config}listener.v3.FilterChain.transport_socket`]: downstreamSockets,
  [`${config}listener.v3.Listener.listener_filters`]: {
    name: "listener filters",
    slots: {
      [`${config}listener.v3.ListenerFilter.typed_config`]: category(
        "envoy.filters.listener",
        "envoy.filters.udp_listener",
      ),
      [`${config}core.v3.ExtensionConfigSource.default_config`]: category("envoy.filters.listener"),
    },
  },
  [`${config}listener.v3.FilterChain.filters`]: networkFilters("network", category("envoy.filters.network")),
  [`${config}cluster.v3.Cluster.filters`]: networkFilters(
    "upstream network",
    category("envoy.filters.upstream_network"),
  ),
  [`${hcm}HttpConnectionManager.http_filters`]: httpFilters("http", "envoy.filters.http"),
  [`${hcm}HttpConnectionManager.UpgradeConfig.filters`]: httpFilters("http", "envoy.filters.http"),
  [`${ext}filters.http.router.v3.Router.upstream_http_filters`]: httpFilters(
    "http up",
    "envoy.filters.http.upstream",
    codecFilter,
  ),
  [`${ext}upstreams.http.v3.HttpProtocolOptions.http_filters`]: httpFilters(
    "http up",
    "envoy.filters.http.upstream",
    codecFilter,
  ),
  [`${config}listener.v3.Listener.filter_chain_matcher`]: network("chain", one("chain", "google.protobuf.StringValue")),
  // Routes are found by headers of requests alone.
  [`${config}route.v3.VirtualHost.matcher`]: matcher(
    "route",
    one("envoy.matching.inputs.request_headers", "envoy.type.matcher.v3.HttpRequestHeaderMatchInput"),
    {},
    {
      extensions: [
        { name: "route", type: "envoy.config.route.v3.Route" },
        { name: "route", type: "envoy.config.route.v3.RouteList" },
      ],
    },
  ),
  [`${ext}filters.http.rbac.v3.RBAC.matcher`]: http("rbac", rbacAction),
  [`${ext}filters.http.rbac.v3.RBAC.shadow_matcher`]: http("rbac", rbacAction),
  [`${ext}filters.network.rbac.v3.RBAC.matcher`]: network("rbac", rbacAction),
  [`${ext}filters.network.rbac.v3.RBAC.shadow_matcher`]: network("rbac", rbacAction),
  [`${ext}common.matching.v3.ExtensionWithMatcher.xds_matcher`]: http(
    "skip",
    one("skip", "envoy.extensions.filters.common.matcher.action.v3.SkipFilter"),
  ),
  [`${ext}common.matching.v3.ExtensionWithMatcher.matcher`]: http(
    "skip",
    one("skip", "envoy.extensions.filters.common.matcher.action.v3.SkipFilter"),
  ),
  [`${ext}common.matching.v3.ExtensionWithMatcherPerRoute.xds_matcher`]: http(
    "skip",
    one("skip", "envoy.extensions.filters.common.matcher.action.v3.SkipFilter"),
  ),
  [`${ext}filters.http.composite.v3.Composite.matcher`]: http(
    "composite",
    one("composite-action", "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction"),
  ),
  [`${ext}filters.http.composite.v3.CompositePerRoute.matcher`]: http(
    "composite",
    one("composite-action", "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction"),
  ),
  [`${ext}filters.http.custom_response.v3.CustomResponse.custom_response_matcher`]: http(
    "response",
    category("envoy.http.custom_response"),
  ),
  [`${ext}filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig.bucket_matchers`]: http(
    "quota",
    one("quota", `${ext}filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings`),
  ),
  [`${ext}filters.http.rate_limit_quota.v3.RateLimitQuotaOverride.bucket_matchers`]: http(
    "quota",
    one("quota", `${ext}filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings`),
  ),
  [`${ext}filters.http.bandwidth_share.v3.BandwidthShare.tenant_name_selector`]: http(
    "format",
    one("envoy.matching.actions.format_string", "envoy.config.core.v3.SubstitutionFormatString"),
  ),
  [`${ext}router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier.cluster_matcher`]: http(
    "cluster",
    one("cluster", `${ext}router.cluster_specifiers.matcher.v3.ClusterAction`),
  ),
  [`${hcm}HttpConnectionManager.forward_client_cert_matcher`]: http(
    "xfcc",
    one("forward_client_cert", `${hcm}HttpConnectionManager.ForwardClientCertConfig`),
  ),
  [`${config}cluster.v3.Cluster.transport_socket_matcher`]: matcher(
    "sockets",
    category("envoy.matching.transport_socket.input"),
    {},
    one("socket", `${ext}matching.common_inputs.transport_socket.v3.TransportSocketNameAction`),
  ),
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig.matcher`]: network(
    "udp",
    one("route", `${ext}filters.udp.udp_proxy.v3.Route`),
  ),
  [`${ext}filters.network.generic_proxy.v3.RouteConfiguration.routes`]: matcher(
    "generic",
    category("envoy.matching.generic_proxy_request_input.input"),
    {},
    one("route", `${ext}filters.network.generic_proxy.action.v3.RouteAction`),
    undefined,
    ofGeneric,
  ),
  [`${ext}filters.network.generic_proxy.v3.VirtualHost.routes`]: matcher(
    "generic",
    category("envoy.matching.generic_proxy_request_input.input"),
    {},
    one("route", `${ext}filters.network.generic_proxy.action.v3.RouteAction`),
    undefined,
    ofGeneric,
  ),
  [`${ext}access_loggers.stats.v3.Config.Stat.Tag.rules`]: matcher(
    "stat tags",
    category("envoy.matching.stat_tag_matching_data.input"),
    {},
    {},
  ),
};
