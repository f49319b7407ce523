import type { DescMessage } from "@bufbuild/protobuf";
import type { Reference } from "./reference.js";
import { clusterFields, configSourceField, rules, url } from "./rules.js";

/** A message in JSON. */
export type JsonFields = { readonly [key: string]: unknown };

/** Collects what a message names. */
export interface JsonReferences {
  refer(type: Reference["type"], name: string): void;
}

/**
 * What a message itself names, read from its JSON. Fields of a wrong type are ignored: the reader of the message
 * reports them.
 */
export type JsonReferenceRule = (json: JsonFields, found: JsonReferences) => void;

/** `rules`, for messages in JSON. */
const jsonRules: { readonly [typeName: string]: JsonReferenceRule } = {
  "envoy.extensions.filters.network.http_connection_manager.v3.Rds": (rds, found) => {
    if (isDynamic(at(rds, "config_source", "configSource")))
      found.refer(url.route, text(at(rds, "route_config_name", "routeConfigName")));
  },
  "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds": (scopedRds, found) => {
    if (!isDynamic(at(scopedRds, "scoped_rds_config_source", "scopedRdsConfigSource"))) return;
    found.refer(url.scopedRoute, text(at(scopedRds, "srds_resources_locator", "srdsResourcesLocator")) || "*");
  },
  "envoy.config.route.v3.RouteConfiguration": (route, found) => {
    const { vhds } = route;
    if (isFields(vhds) && isDynamic(at(vhds, "config_source", "configSource")))
      found.refer(url.virtualHost, `${text(route.name)}/*`);
  },
  "envoy.config.route.v3.ScopedRouteConfiguration": (scope, found) =>
    found.refer(url.route, text(at(scope, "route_configuration_name", "routeConfigurationName"))),
  "envoy.config.cluster.v3.Cluster": (cluster, found) => {
    const eds = at(cluster, "eds_cluster_config", "edsClusterConfig");
    const isEds = cluster.type === "EDS" || cluster.type === 3;
    if (!isEds || !isFields(eds) || !isDynamic(at(eds, "eds_config", "edsConfig"))) return;
    found.refer(url.endpoint, text(at(eds, "service_name", "serviceName")) || text(cluster.name));
  },
  "envoy.config.endpoint.v3.LedsClusterLocalityConfig": (leds, found) => {
    if (isDynamic(at(leds, "leds_config", "ledsConfig")))
      found.refer(url.localityEndpoint, text(at(leds, "leds_collection_name", "ledsCollectionName")));
  },
  "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig": (sds, found) => {
    if (isDynamic(at(sds, "sds_config", "sdsConfig"))) found.refer(url.secret, text(sds.name));
  },
};

/**
 * The rule of a message in JSON; `unknown` if only the decoded message tells what it names, undefined if it names
 * nothing.
 */
export function jsonReferenceRule(schema: DescMessage): JsonReferenceRule | "unknown" | undefined {
  if (Object.hasOwn(rules, schema.typeName)) return jsonRules[schema.typeName] ?? "unknown";
  return namesClusters(schema) ?? configDiscovery(schema);
}

function namesClusters(schema: DescMessage): JsonReferenceRule | undefined {
  const field = schema.fields.find(({ name }) => name === clusterFields[schema.typeName]);
  if (field === undefined) return undefined;
  const { name, jsonName } = field;
  return (json, found) => {
    const value = at(json, name, jsonName);
    if (!Array.isArray(value)) found.refer(url.cluster, text(value));
    else for (const item of value) found.refer(url.cluster, text(item));
  };
}

function configDiscovery(schema: DescMessage): JsonReferenceRule | undefined {
  const field = configSourceField(schema);
  if (field === undefined) return undefined;
  const { name, jsonName } = field;
  return (json, found) => {
    const source = at(json, name, jsonName);
    if (isFields(source) && isDynamic(at(source, "config_source", "configSource")))
      found.refer(url.extensionConfig, text(json.name));
  };
}

/** `isDynamic`, of a `ConfigSource` in JSON. */
function isDynamic(source: unknown): boolean {
  return isFields(source) && !isSet(source.path) && !isSet(at(source, "path_config_source", "pathConfigSource"));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The value under either spelling of a field. */
function at(json: JsonFields, name: string, jsonName: string): unknown {
  return json[name] ?? json[jsonName];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null;
}
