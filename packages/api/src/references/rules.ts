import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { ResourceLocator } from "@xdskit/api/xds/core/v3/resource_locator";
import type { FieldStep } from "../errors/field-path.js";
import { fieldValue } from "../messages/walk-plan.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { formatName } from "../names/xdstp.js";
import type { Reference } from "./reference.js";

/** Notes a reference: the v3 type URL, the name, and the steps to the field. An empty name is ignored. */
export type Refer = (type: Reference["type"], name: unknown, ...steps: readonly FieldStep[]) => void;

/** The v3 type URLs of types that are named. */
export const url = {
  route: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  scopedRoute: "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration",
  virtualHost: "type.googleapis.com/envoy.config.route.v3.VirtualHost",
  cluster: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  endpoint: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  localityEndpoint: "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint",
  secret: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
  extensionConfig: "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
} as const;

/** `xds.core.v3.ResourceLocator.Scheme.XDSTP`. */
const xdstpScheme = 0;

/** A message of any kind, by its fields. */
export type Fields = { readonly [field: string]: unknown };

/** The resources that a message itself names. Nested messages are visited separately. */
export type ReferenceRule = (message: Fields, refer: Refer) => void;

/**
 * Whether something comes over xDS. A path means a file on the client's machine. No source means the bootstrap, or
 * nothing. Any server counts as this one, since nobody can know here which server an `api_config_source` means.
 */
export function isDynamic(configSource: unknown): boolean {
  if (!isFields(configSource)) return false;
  const specifier = configSource.configSourceSpecifier;
  return isFields(specifier) && specifier.case !== "path" && specifier.case !== "pathConfigSource";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** The value of a oneof if the field of this (local) name is set. */
function chosen(message: Fields, oneof: string, field: string): unknown {
  const choice = message[oneof];
  return isFields(choice) && choice.case === field ? choice.value : undefined;
}

/** Fields that name one or more clusters, by the full name of the message. */
export const clusterFields: { readonly [typeName: string]: string } = {
  "envoy.config.route.v3.RouteAction": "cluster",
  "envoy.config.route.v3.RouteAction.RequestMirrorPolicy": "cluster",
  "envoy.config.route.v3.WeightedCluster.ClusterWeight": "name",
  "envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig": "default_cluster",
  "envoy.extensions.clusters.aggregate.v3.ClusterConfig": "clusters",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy": "cluster",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight": "name",
  "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route": "cluster",
  "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy": "cluster",
  "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy": "cluster",
  "envoy.extensions.filters.network.dubbo_proxy.v3.RouteAction": "cluster",
  "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction": "cluster",
  "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy": "cluster",
  "envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight": "name",
  "envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig": "cluster",
  "envoy.extensions.filters.udp.udp_proxy.v3.Route": "cluster",
  "envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig": "cluster",
  "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig": "cluster",
  "envoy.config.trace.v3.ZipkinConfig": "collector_cluster",
  "envoy.config.trace.v3.DatadogConfig": "collector_cluster",
  "envoy.config.trace.v3.LightstepConfig": "collector_cluster",
  "envoy.config.core.v3.GrpcService.EnvoyGrpc": "cluster_name",
  "envoy.config.core.v3.HttpUri": "cluster",
};

/**
 * By the full name of the message. Names that only a header, a plugin or a script chooses are unknown until a request
 * arrives.
 */
export const rules: { readonly [typeName: string]: ReferenceRule } = {
  // Listeners and their filters.
  "envoy.extensions.filters.network.http_connection_manager.v3.Rds": (rds, refer) => {
    if (isDynamic(rds.configSource)) refer(url.route, rds.routeConfigName, "route_config_name");
  },
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
  "envoy.config.endpoint.v3.LedsClusterLocalityConfig": (leds, refer) => {
    if (isDynamic(leds.ledsConfig)) refer(url.localityEndpoint, leds.ledsCollectionName, "leds_collection_name");
  },

  // Lists of resources.
  "xds.core.v3.CollectionEntry": (entry, refer) => {
    const locator = chosen(entry, "resourceSpecifier", "locator") as ResourceLocator | undefined;
    if (locator === undefined || locator.scheme !== xdstpScheme) return;
    refer(`${typeUrlPrefix}${locator.resourceType}`, nameOfLocator(locator), "locator");
  },

  // Parts of many messages.
  "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig": (sds, refer) => {
    if (isDynamic(sds.sdsConfig)) refer(url.secret, sds.name, "name");
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

function namesClusters(schema: DescMessage): ReferenceRule | undefined {
  const name = clusterFields[schema.typeName];
  const field = schema.fields.find((field) => field.name === name);
  if (field === undefined) return undefined;
  return (message, refer) => {
    const value = fieldValue(message, field);
    if (!Array.isArray(value)) refer(url.cluster, value, field.name);
    else for (const [index, name] of value.entries()) refer(url.cluster, name, field.name, index);
  };
}

/** The rule for the resources that a message of this schema itself names; undefined if it names none. */
export function referenceRule(schema: DescMessage): ReferenceRule | undefined {
  return rules[schema.typeName] ?? namesClusters(schema) ?? configDiscovery(schema);
}
