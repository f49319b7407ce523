import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { ResourceLocator } from "@xdskit/api/xds/core/v3/resource_locator";
import type { FieldStep } from "../errors/field-path.js";
import { fieldValue } from "../messages/walk-plan.js";
import { type TypeUrl, typeUrlPrefix } from "../names/identifiers.js";
import { formatName, isGlobName, parseName } from "../names/xdstp.js";
import type { Reference } from "./reference.js";

/** Notes a reference: the v3 type URL, the name, and the steps to the field. An empty name is ignored. */
export type Refer = (type: Reference["type"], name: unknown, ...steps: readonly FieldStep[]) => void;

/** The v3 type URLs of types that are named. */
export const url = {
  route: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  scopedRoute: "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration",
  virtualHost: "type.googleapis.com/envoy.config.route.v3.VirtualHost",
  cluster: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  listener: "type.googleapis.com/envoy.config.listener.v3.Listener",
  endpoint: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  localityEndpoint: "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
  localityEndpointCollection: "type.googleapis.com/envoy.config.endpoint.v3.LbEndpointCollection",
  secret: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
  extensionConfig: "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
} as const;

/** `xds.core.v3.ResourceLocator.Scheme.XDSTP`. */
const xdstpScheme = 0;

/** A message of any kind, by its fields. */
export type MessageFields = { readonly [field: string]: unknown };

/** The resources that a message itself names. Nested messages are visited separately. */
export type ReferenceRule = (message: MessageFields, refer: Refer) => void;

/**
 * Whether something comes over xDS. A path means a file on the client's machine. No source means the bootstrap, or
 * nothing. Any server counts as this one, since nobody can know here which server an `api_config_source` means.
 */
export function isDynamic(configSource: unknown): boolean {
  if (!isFields(configSource)) return false;
  const specifier = configSource.configSourceSpecifier;
  return isFields(specifier) && specifier.case !== "path" && specifier.case !== "pathConfigSource";
}

function isFields(value: unknown): value is MessageFields {
  return typeof value === "object" && value !== null;
}

/** The value of a oneof if the field of this (local) name is set. */
function chosen(message: MessageFields, oneof: string, field: string): unknown {
  const choice = message[oneof];
  return isFields(choice) && choice.case === field ? choice.value : undefined;
}

/** A field with the names of resources: one, a list, or the keys of a map. */
export interface NamingField {
  /** The v3 type URL of the named resources, or what says it of a name. */
  readonly type: TypeUrl | ((name: unknown) => TypeUrl);
  readonly field: string;
  /** The field that says where they come from. Without one, over xDS as everything else. */
  readonly source?: string;
}

const ext = "envoy.extensions.";
const dns = "envoy.data.dns.v3.DnsTable.";

/** Fields that name clusters, by the full name of the message. */
const clusterFields: { readonly [typeName: string]: string } = {
  // Routes, and what chooses a cluster for them.
  "envoy.config.route.v3.RouteAction": "cluster",
  "envoy.config.route.v3.RouteAction.RequestMirrorPolicy": "cluster",
  "envoy.config.route.v3.WeightedCluster.ClusterWeight": "name",
  [`${ext}router.cluster_specifier.golang.v3alpha.Config`]: "default_cluster",
  [`${ext}router.cluster_specifiers.lua.v3.LuaConfig`]: "default_cluster",
  [`${ext}router.cluster_specifiers.matcher.v3.ClusterAction`]: "cluster",
  [`${ext}router.cluster_specifiers.priority_group.v3.ClusterWeight`]: "cluster_name",
  // gRPC's clients ask a service for the cluster (RLS), and take this one without an answer.
  "grpc.lookup.v1.RouteLookupConfig": "default_target",
  // Clusters of clusters.
  [`${ext}clusters.aggregate.v3.ClusterConfig`]: "clusters",
  [`${ext}clusters.composite.v3.ClusterConfig.ClusterEntry`]: "name",
  [`${ext}clusters.mcp_multicluster.v3.ClusterConfig.McpCluster`]: "cluster",
  // Filters.
  [`${ext}filters.network.tcp_proxy.v3.TcpProxy`]: "cluster",
  [`${ext}filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight`]: "name",
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route`]: "cluster",
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy`]: "cluster",
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy`]: "cluster",
  [`${ext}filters.network.client_ssl_auth.v3.ClientSSLAuth`]: "auth_api_cluster",
  [`${ext}filters.network.dubbo_proxy.v3.RouteAction`]: "cluster",
  [`${ext}filters.network.generic_proxy.action.v3.RouteAction`]: "cluster",
  [`${ext}filters.network.rocketmq_proxy.v3.RouteAction`]: "cluster",
  [`${ext}filters.network.sip_proxy.v3alpha.RouteAction`]: "cluster",
  [`${ext}filters.network.thrift_proxy.v3.RouteAction`]: "cluster",
  [`${ext}filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy`]: "cluster",
  [`${ext}filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight`]: "name",
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig`]: "cluster",
  [`${ext}filters.udp.udp_proxy.v3.Route`]: "cluster",
  [`${dns}DnsEndpoint`]: "cluster_name",
  [`${dns}DnsServiceTarget`]: "cluster_name",
  [`${ext}filters.http.cache_v2.v3.CacheV2Config`]: "override_upstream_cluster",
  [`${ext}filters.http.gcp_authn.v3.GcpAuthnFilterConfig`]: "cluster",
  // It answers 503 without them.
  [`${ext}filters.http.health_check.v3.HealthCheck`]: "cluster_min_healthy_percentages",
  [`${ext}filters.http.mcp_router.v3.McpRouter.McpCluster`]: "cluster",
  // Logs and traces.
  [`${ext}access_loggers.fluentd.v3.FluentdAccessLogConfig`]: "cluster",
  [`${ext}tracers.fluentd.v3.FluentdConfig`]: "cluster",
  "envoy.config.trace.v3.ZipkinConfig": "collector_cluster",
  "envoy.config.trace.v3.DatadogConfig": "collector_cluster",
  "envoy.config.trace.v3.LightstepConfig": "collector_cluster",
  // Services that anything calls.
  "envoy.config.core.v3.GrpcService.EnvoyGrpc": "cluster_name",
  "envoy.config.core.v3.HttpUri": "cluster",
};

/** Secrets of certificates that are chosen during a handshake: their source is in the message around. */
const secretFields: { readonly [typeName: string]: string } = {
  [`${ext}transport_sockets.tls.cert_mappers.filter_state_override.v3.Config`]: "default_value",
  [`${ext}transport_sockets.tls.cert_mappers.sni.v3.SNI`]: "default_value",
  [`${ext}transport_sockets.tls.cert_mappers.static_name.v3.StaticName`]: "name",
};

/**
 * Types that only a program or a user may add to the table of types: the routes of other protocols, and the token
 * buckets of access logs.
 */
const otherTypes = {
  dubboRoute: `${typeUrlPrefix}${ext}filters.network.dubbo_proxy.v3.MultipleRouteConfiguration`,
  genericRoute: `${typeUrlPrefix}${ext}filters.network.generic_proxy.v3.RouteConfiguration`,
  thriftRoute: `${typeUrlPrefix}${ext}filters.network.thrift_proxy.v3.RouteConfiguration`,
  tokenBucket: `${typeUrlPrefix}envoy.type.v3.TokenBucket`,
} as const;

/**
 * The type of what a locality names for its endpoints. Envoy takes them one by one, from a glob collection; gRPC's
 * clients take all other names for lists (gRFC A95).
 */
export function endpointsType(name: unknown): TypeUrl {
  if (typeof name !== "string") return url.localityEndpointCollection;
  const parsed = parseName(name);
  const isOne = parsed.kind === "xdstp" && `${typeUrlPrefix}${parsed.type}` === url.localityEndpoint;
  return isOne || isGlobName(name) || name.endsWith("/*") ? url.localityEndpoint : url.localityEndpointCollection;
}

/** Fields whose message says where the named resources come from, by the full name of the message. */
const sourcedFields: { readonly [typeName: string]: Required<NamingField> } = {
  [`${ext}filters.network.http_connection_manager.v3.Rds`]: {
    type: url.route,
    field: "route_config_name",
    source: "config_source",
  },
  [`${ext}filters.network.dubbo_proxy.v3.Drds`]: {
    type: otherTypes.dubboRoute,
    field: "route_config_name",
    source: "config_source",
  },
  [`${ext}filters.network.generic_proxy.v3.GenericRds`]: {
    type: otherTypes.genericRoute,
    field: "route_config_name",
    source: "config_source",
  },
  [`${ext}filters.network.thrift_proxy.v3.Trds`]: {
    type: otherTypes.thriftRoute,
    field: "route_config_name",
    source: "config_source",
  },
  [`${ext}access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket`]: {
    type: otherTypes.tokenBucket,
    field: "resource_name",
    source: "config_source",
  },
  "envoy.config.endpoint.v3.LedsClusterLocalityConfig": {
    type: endpointsType,
    field: "leds_collection_name",
    source: "leds_config",
  },
  [`${ext}transport_sockets.tls.v3.SdsSecretConfig`]: { type: url.secret, field: "name", source: "sds_config" },
  [`${ext}transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config`]: {
    type: url.secret,
    field: "prefetch_secret_names",
    source: "config_source",
  },
};

/** The fields whose values are names of resources, by the full name of the message. */
export const namingFields: ReadonlyMap<string, NamingField> = new Map<string, NamingField>([
  ...Object.entries(clusterFields).map(([name, field]) => [name, { type: url.cluster, field }] as const),
  ...Object.entries(secretFields).map(([name, field]) => [name, { type: url.secret, field }] as const),
  // An internal listener, which an endpoint leads to.
  ["envoy.config.core.v3.EnvoyInternalAddress", { type: url.listener, field: "server_listener_name" }],
  ...Object.entries(sourcedFields),
]);

/**
 * By the full name of the message. Names that only a header, a plugin or a script chooses are unknown until a request
 * arrives.
 */
export const rules: { readonly [typeName: string]: ReferenceRule } = {
  // Listeners and their filters.
  "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds": (scopedRds, refer) => {
    // A client takes all scoped routes.
    if (!isDynamic(scopedRds.scopedRdsConfigSource)) return;
    if (scopedRds.srdsResourcesLocator)
      refer(url.scopedRoute, scopedRds.srdsResourcesLocator, "srds_resources_locator");
    else refer(url.scopedRoute, "*");
  },

  // Routes.
  "envoy.config.route.v3.RouteConfiguration": (route, refer) => {
    const vhds = route.vhds;
    // The virtual hosts of a route configuration are named `<its name>/<host>` (rule 139).
    if (isFields(vhds) && isDynamic(vhds.configSource)) refer(url.virtualHost, `${String(route.name)}/*`, "vhds");
  },
  "envoy.config.route.v3.ScopedRouteConfiguration": (scope, refer) =>
    refer(url.route, scope.routeConfigurationName, "route_configuration_name"),

  // Clusters and load assignments.
  "envoy.config.cluster.v3.Cluster": (message, refer) => {
    const eds = message.edsClusterConfig;
    const isEds = chosen(message, "clusterDiscoveryType", "type") === 3;
    if (!isEds || !isFields(eds) || !isDynamic(eds.edsConfig)) return;
    if (eds.serviceName) refer(url.endpoint, eds.serviceName, "eds_cluster_config", "service_name");
    else refer(url.endpoint, message.name, "eds_cluster_config");
  },

  // Lists of resources.
  "xds.core.v3.CollectionEntry": (entry, refer) => {
    const locator = chosen(entry, "resourceSpecifier", "locator") as ResourceLocator | undefined;
    if (locator === undefined || locator.scheme !== xdstpScheme) return;
    refer(`${typeUrlPrefix}${locator.resourceType}`, nameOfLocator(locator), "locator");
  },
};

function nameOfLocator({ authority, resourceType, id, contextParamSpecifier }: ResourceLocator): string {
  return formatName({
    kind: "xdstp",
    authority,
    type: resourceType,
    path: id.split("/"),
    parameters: new Map(Object.entries(contextParamSpecifier.value?.params ?? {})),
    directives: [],
  });
}

/**
 * Messages with an `ExtensionConfigSource`: filters of listeners, of HTTP and of clusters. Clients request them by
 * their own name.
 */
export function configSourceField(schema: DescMessage): DescField | undefined {
  if (!schema.fields.some((field) => field.name === "name")) return undefined;
  return schema.fields.find((field) => field.message?.typeName === "envoy.config.core.v3.ExtensionConfigSource");
}

function configDiscovery(schema: DescMessage): ReferenceRule | undefined {
  const field = configSourceField(schema);
  if (field === undefined) return undefined;
  return (message, refer) => {
    const source = fieldValue(message, field);
    if (isFields(source) && isDynamic(source.configSource)) refer(url.extensionConfig, message.name, "name");
  };
}

function namesByField(schema: DescMessage): ReferenceRule | undefined {
  const naming = namingFields.get(schema.typeName);
  const field = schema.fields.find(({ name }) => name === naming?.field);
  if (naming === undefined || field === undefined) return undefined;
  const { type } = naming;
  const typeOf = typeof type === "function" ? type : () => type;
  const source = schema.fields.find(({ name }) => name === naming.source);
  return (message, refer) => {
    if (source !== undefined && !isDynamic(fieldValue(message, source))) return;
    const value = fieldValue(message, field);
    if (field.fieldKind === "map")
      for (const key of Object.keys(value ?? {})) refer(typeOf(key), key, field.name, { key });
    else if (!Array.isArray(value)) refer(typeOf(value), value, field.name);
    else for (const [index, name] of value.entries()) refer(typeOf(name), name, field.name, index);
  };
}

/** The rule for the resources that a message of this schema itself names; undefined if it names none. */
export function referenceRule(schema: DescMessage): ReferenceRule | undefined {
  return rules[schema.typeName] ?? namesByField(schema) ?? configDiscovery(schema);
}
