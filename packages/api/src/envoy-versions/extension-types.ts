import type { DescField } from "@bufbuild/protobuf";
import { perObject } from "../names/per-object.js";
import { generatedFile } from "../registry/generated-file.js";
import { onlyForRoutes, perRoute, perRouteFields, perRouteTypes } from "./per-route.js";

interface Extensions {
  /** The categories of a message that configures an extension, by its full name. */
  readonly types: ReadonlyMap<string, Categories>;
  /** The categories of the extensions that stand in a field, by its full name. */
  readonly slots: ReadonlyMap<string, Categories>;
  /** The messages of HTTP filters that have one for routes, and another one. */
  readonly pairedPerRoute: ReadonlySet<string>;
}

/** Kinds of extensions, such as `envoy.filters.http`, all of which an Envoy lists. */
export type Categories = readonly string[];

const none: Categories = [];

/**
 * Fields that are not judged: other categories may stand there than their comments say, some by name, or Envoy does not
 * look at what stands there before it needs it. A real Envoy shows which (`e2e/src/extension-points.test.ts`).
 */
const unlike: ReadonlySet<string> = new Set([
  "envoy.config.cluster.v3.Cluster.QueuingPolicies.pending_rq_policy",
  "envoy.config.cluster.v3.Cluster.typed_extension_protocol_options",
  "envoy.config.cluster.v3.Cluster.upstream_config",
  "envoy.config.common.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input",
  "envoy.config.core.v3.ApiConfigSource.config_validators",
  "envoy.config.core.v3.QuicProtocolOptions.client_packet_writer",
  "envoy.config.listener.v3.UdpListenerConfig.udp_packet_packet_writer_config",
  "envoy.extensions.filters.http.custom_response.v3.CustomResponse.custom_response_matcher",
]);

/**
 * What stands in an action of a matcher: an Envoy lists those of these categories. It lists few others, so none is
 * reported missing.
 */
const actions: Categories = [
  "envoy.matching.action",
  "envoy.http.custom_response",
  "envoy.http.forward_client_cert_details",
];

/** A filter of the generic proxy has one message for both places. */
const perGenericRoute = "envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction.per_filter_config";

const ofUpstream: Categories = ["envoy.transport_sockets.upstream"];
const ofSocket: Categories = ["envoy.transport_sockets.downstream", ...ofUpstream];

/** Fields whose comments name no category, or say it in words. A real Envoy shows it as for the others. */
const unsaid: Readonly<Record<string, Categories>> = {
  "envoy.config.cluster.v3.Cluster.transport_socket": ofUpstream,
  "envoy.config.cluster.v3.Filter.typed_config": ["envoy.filters.upstream_network"],
  "envoy.config.core.v3.RetryPolicy.RetryHostPredicate.typed_config": ["envoy.retry_host_predicates"],
  "envoy.config.core.v3.RetryPolicy.RetryPriority.typed_config": ["envoy.retry_priorities"],
  "envoy.config.route.v3.Route.route_specifiers": ["envoy.router.route_specifiers"],
  "envoy.config.route.v3.VirtualHost.route_specifiers": ["envoy.router.route_specifiers"],
  "envoy.extensions.filters.http.compressor.v3.CompressorOverrides.compressor_library": [
    "envoy.compression.compressor",
  ],
  "envoy.extensions.filters.http.ext_proc.v3.ExtProcOverrides.processing_request_modifier": [
    "envoy.http.ext_proc.processing_request_modifiers",
  ],
  "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport.transport_socket": ofUpstream,
  "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport.transport_socket": ofUpstream,
  "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport.transport_socket": ofUpstream,
  "envoy.extensions.transport_sockets.tap.v3.Tap.transport_socket": ofSocket,
  "envoy.extensions.transport_sockets.tcp_stats.v3.Config.transport_socket": ofSocket,
  "xds.type.matcher.v3.StringMatcher.custom": ["envoy.string_matcher"],
};

/** Whether nothing else stands where extensions of these categories do, such as a message of protobuf's own. */
export function areAll(categories: Categories): boolean {
  return categories.length > 0 && categories !== actions;
}

let read: Extensions | undefined;

function extensions(): Extensions {
  if (read === undefined) {
    const { types, slots } = JSON.parse(new TextDecoder().decode(generatedFile("extensions.json"))) as {
      readonly types: Readonly<Record<string, Categories>>;
      readonly slots: readonly { readonly field: string; readonly categories: Categories }[];
    };
    const listed = new Set(Object.values(types).flat());
    // An Envoy does not say which extensions of other categories it has.
    const known = slots.filter(
      ({ field, categories }) => !unlike.has(field) && categories.every((one) => listed.has(one)),
    );
    const http = Object.keys(types).filter((name) => types[name]?.includes("envoy.filters.http"));
    const { ofRoutes, paired } = perRouteTypes(http);
    const elsewhere = (name: string) => (onlyForRoutes.test(name) ? none : (types[name] ?? none));
    read = {
      types: new Map([
        ...Object.entries(types),
        ...ofRoutes.map((name) => [name, [...elsewhere(name), perRoute]] as const),
      ]),
      slots: new Map([
        ...known.map(({ field, categories }) => [field, categories] as const),
        ...perRouteFields.map((field) => [field, [perRoute]] as const),
        [perGenericRoute, ["envoy.generic_proxy.filters"]],
        ...Object.entries(unsaid),
        ...["xds.type", "envoy.config.common"].map(
          (name) => [`${name}.matcher.v3.Matcher.OnMatch.action`, actions] as const,
        ),
      ]),
      pairedPerRoute: paired,
    };
  }
  return read;
}

/** The categories of the extensions that may stand in a field; empty if nobody says it. */
export const slotOf: (field: DescField) => Categories = perObject(
  (field: DescField) => extensions().slots.get(`${field.parent?.typeName}.${field.name}`) ?? none,
);

/**
 * The same for an `Any`: it stands in the second field, in a message in the first one, which says more: the filters of
 * a cluster stand in the message of those of a connection manager. A resource is in no field.
 */
export function slotsOf(around: DescField | undefined, field: DescField, isOfResource: boolean): Categories {
  const own = slotOf(field);
  if (isOfResource) return field.parent?.typeName === extensionConfig ? discoveredFilters : own;
  const outer = around === undefined ? none : slotOf(around);
  return outer.length === 0 ? own : outer;
}

/** Holds an `Any` and a name for it. */
export const extensionConfig = "envoy.config.core.v3.TypedExtensionConfig";

/** The categories of the newest known plain Envoy in which a message configures an extension. */
export function categoriesOf(typeName: string): Categories {
  return extensions().types.get(typeName) ?? none;
}

/** Whether a message configures an HTTP filter that has one for routes, and another one. */
export function isPairedPerRoute(typeName: string): boolean {
  return extensions().pairedPerRoute.has(typeName);
}

/** The full names of the messages that configure an extension, of one of these categories if some are given. */
export function extensionsIn(categories?: Categories): readonly string[] {
  const isIn = (own: Categories) => categories === undefined || own.some((one) => categories.includes(one));
  return [...extensions().types].flatMap(([name, own]) => (isIn(own) ? [name] : []));
}

/** Categories of filters, which may come as resources of their own (ECDS). */
export const discoveredFilters: Categories = [
  "envoy.filters.http",
  "envoy.filters.http.upstream",
  "envoy.filters.listener",
  "envoy.filters.network",
  "envoy.filters.udp.session",
  "envoy.filters.udp_listener",
  "envoy.filters.upstream_network",
];
