import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { commentOf } from "../registry/comments.js";
import { envoyRegistry } from "../registry/registry.js";
import { referencesOf } from "./references.js";

/*
 * The rules of references are written by hand. Here every field of Envoy's API, contrib too, that may name a resource
 * is derived from the descriptors: by its name, by its message's name, by what the protos say of it, and by the source
 * of configuration that it is or that stands beside it. Messages with each such field set must name a resource, or the
 * field is in a list with the reason why not.
 */

/** What no resource contains, by the start of the message's name. */
const elsewhere: { readonly [reason: string]: readonly string[] } = {
  "answers of Envoy's admin listener": ["envoy.admin."],
  "the bootstrap, and what stands only there": [
    "envoy.config.bootstrap.",
    "envoy.config.metrics.v3.StatsdSink",
    "envoy.extensions.reverse_tunnel_reporters.",
    "istio.workload.BootstrapExtension",
  ],
  "what Envoy logs": ["envoy.data.accesslog.", "envoy.data.cluster.", "envoy.data.core."],
  "requests and responses": ["envoy.service.", "envoy.config.core.v3.Node", "envoy.config.endpoint.v3.ClusterStats"],
  "Istio's own resources, which name none": ["istio.workload."],
};

/** Fields that look as if they named a resource. */
const exceptions: { readonly [reason: string]: readonly string[] } = {
  "its own name": [
    "envoy.config.cluster.v3.Cluster.name",
    "envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name",
    "envoy.config.listener.v3.Listener.name",
    "envoy.config.route.v3.RouteConfiguration.name",
    "envoy.config.route.v3.ScopedRouteConfiguration.name",
    "envoy.config.route.v3.VirtualCluster.name",
    "envoy.extensions.filters.network.dubbo_proxy.v3.MultipleRouteConfiguration.name",
    "envoy.extensions.filters.network.dubbo_proxy.v3.RouteConfiguration.name",
    "envoy.extensions.filters.network.generic_proxy.v3.RouteConfiguration.name",
    "envoy.extensions.filters.network.rocketmq_proxy.v3.RouteConfiguration.name",
    "envoy.extensions.filters.network.sip_proxy.v3alpha.RouteConfiguration.name",
    "envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration.name",
    "envoy.extensions.transport_sockets.tls.v3.Secret.name",
  ],
  "the rule of the message around it reads it": [
    "envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name",
    "envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config",
    "envoy.config.route.v3.Vhds.config_source",
  ],
  "the source of what another message names": [
    "envoy.config.core.v3.ExtensionConfigSource.config_source",
    "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source",
  ],
  "the source of clusters that a request names": [
    "envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source",
    "envoy.extensions.filters.http.on_demand.v3.OnDemandCds.resources_locator",
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config",
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.resources_locator",
  ],
  "a header's name": [
    "envoy.config.route.v3.RouteAction.cluster_header",
    "envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster_header",
    "envoy.config.route.v3.WeightedCluster.ClusterWeight.cluster_header",
    "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster_header",
  ],
  "a name inside the same resource": [
    "envoy.config.route.v3.RouteAction.cluster_specifier_plugin",
    "envoy.extensions.formatter.generic_secret.v3.GenericSecret.secret_configs",
    "envoy.extensions.internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig.allowed_route_names",
  ],
  "for statistics": ["envoy.config.cluster.v3.Cluster.alt_stat_name"],
  "the name of an extension": ["envoy.config.cluster.v3.Cluster.CustomClusterType.name"],
  "only compared with the cluster that a route names": [
    "envoy.extensions.filters.http.fault.v3.HTTPFault.upstream_cluster",
  ],
  "a name that another program gives": [
    "envoy.config.core.v3.HealthCheck.GrpcHealthCheck.service_name",
    "envoy.config.trace.v3.ClientConfig.service_name",
    "envoy.config.trace.v3.DatadogConfig.service_name",
    "envoy.config.trace.v3.OpenTelemetryConfig.service_name",
    "envoy.data.dns.v3.DnsTable.DnsService.service_name",
    "envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig.cluster_name",
    "envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning.service_name",
    "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute.per_route_config_name",
    "envoy.extensions.filters.network.redis_proxy.v3.AwsIam.service_name",
    "envoy.extensions.filters.network.thrift_proxy.filters.payload_to_metadata.v3.PayloadToMetadata.Rule.service_name",
    "envoy.extensions.filters.network.thrift_proxy.v3.RouteMatch.service_name",
  ],
  "a cluster of Kafka": [
    "envoy.extensions.filters.network.kafka_mesh.v3alpha.ForwardingRule.target_cluster",
    "envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition.cluster_name",
  ],
  "the cluster of the Envoy at the other end": [
    "envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel.required_cluster_name",
    "envoy.extensions.filters.network.reverse_tunnel.v3.Validation.cluster_id_format",
  ],
  "an xDS server is a static cluster of the bootstrap": ["envoy.config.core.v3.ApiConfigSource.cluster_names"],
  "where load reports go": ["envoy.config.cluster.v3.Cluster.lrs_server"],
  "the secret itself": [
    "envoy.extensions.common.aws.v3.InlineCredentialProvider.secret_access_key",
    "envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key",
    "envoy.extensions.transport_sockets.tls.v3.GenericSecret.secrets",
  ],
  "a health check's host, by default the name of its cluster": [
    "envoy.config.core.v3.HealthCheck.GrpcHealthCheck.authority",
    "envoy.config.core.v3.HealthCheck.HttpHealthCheck.host",
  ],
  "no client has implemented it": [
    "envoy.config.listener.v3.Listener.FcdsConfig.config_source",
    "envoy.extensions.clusters.aggregate.v3.AggregateClusterResource.config_source",
    "envoy.extensions.clusters.aggregate.v3.AggregateClusterResource.resource_name",
  ],
};

const registry = envoyRegistry();
const configSource = "envoy.config.core.v3.ConfigSource";
const extensionSource = "envoy.config.core.v3.ExtensionConfigSource";

/** A field's name, the name of the message of a field `name`, and a comment. */
const fieldWord = /cluster|listener|secret|route_(config_)?name|service_name|resource_name|locator|collection/;
const messageWord = /(Cluster|Listener|Secret|RouteConfig)\w*$|\.cert_mappers\./;
const commentWord =
  /name of (the|a|an) [\w ]*(cluster|listener|secret|route config)|(cluster|listener|secret|route config\w*) names?\b/i;

function mayName(schema: DescMessage, field: DescField): boolean {
  if (isSource(field)) return true;
  if (!holdsText(field)) return false;
  if (fieldWord.test(field.name) || commentWord.test(commentOf(`${schema.typeName}.${field.name}`) ?? "")) return true;
  return /^(name|default_value)$/.test(field.name) && messageWord.test(schema.typeName);
}

function isSource({ message }: DescField): boolean {
  return message?.typeName === configSource || message?.typeName === extensionSource;
}

/** Whether its values, or the keys of its map, are texts. */
function holdsText(field: DescField): boolean {
  if (field.fieldKind === "map") return field.mapKey === ScalarType.STRING;
  return field.scalar === ScalarType.STRING || field.message?.typeName === "google.protobuf.StringValue";
}

/** The types that such a message names by the field, or that it names at all if the field is a source. */
function typesNamedBy(schema: DescMessage, field: DescField): readonly string[] {
  const message = create(schema) as Message & { [field: string]: unknown };
  // The field is set last, so that it is the one of its oneof.
  for (const each of [...schema.fields.filter((one) => one !== field), field]) {
    const value = isSource(each) ? sourceOf(each) : holdsText(each) ? textIn(each, each === field) : undefined;
    if (value === undefined) continue;
    if (each.oneof === undefined) message[each.localName] = value;
    else message[each.oneof.localName] = { case: each.localName, value };
  }
  return referencesOf(schema, message, () => undefined)
    .filter(({ name }) => isSource(field) || name === "named")
    .map(({ type }) => type);
}

function sourceOf({ message, fieldKind }: DescField): unknown {
  const ads = { $typeName: configSource, configSourceSpecifier: { case: "ads", value: {} } };
  const source = message?.typeName === configSource ? ads : { $typeName: extensionSource, configSource: ads };
  return fieldKind === "list" ? [source] : source;
}

function textIn(field: DescField, isNamed: boolean): unknown {
  const text = isNamed ? "named" : "other";
  if (field.fieldKind === "list") return [text];
  if (field.fieldKind !== "map") return text;
  return { [text]: field.message === undefined ? "" : create(field.message) };
}

/** What a field that says so must name. */
const kinds: readonly (readonly [word: RegExp, type: RegExp])[] = [
  [/cluster/, /\.Cluster$/],
  [/secret/, /\.Secret$/],
  [/listener/, /\.Listener$/],
  [/route_config/, /RouteConfiguration$/],
];

test("every field that may name a resource is in the rules, or an exception with a reason", () => {
  const excepted = new Set(Object.values(exceptions).flat());
  const starts = new Set(Object.values(elsewhere).flat());
  const unused = new Set([...excepted, ...starts]);
  const wrong: string[] = [];
  for (const type of registry) {
    if (type.kind !== "message") continue;
    const start = [...starts].find((one) => type.typeName.startsWith(one));
    const fields = type.fields.filter((field) => mayName(type, field));
    if (start !== undefined) {
      if (fields.length > 0) unused.delete(start);
      continue;
    }
    for (const field of fields) {
      const name = `${type.typeName}.${field.name}`;
      const types = typesNamedBy(type, field);
      unused.delete(name);
      if (excepted.has(name) === types.length > 0) wrong.push(`${name} names ${types.join(" ") || "nothing"}`);
      for (const [word, expected] of kinds) {
        if (word.test(field.name) && types.some((named) => !expected.test(named))) wrong.push(`${name} names ${types}`);
      }
    }
  }
  assert.deepEqual(wrong, [], "name nothing, or are exceptions that do");
  assert.deepEqual([...unused], [], "exceptions without a field");
});

test("every message with an extension config of its own has the name that clients ask for", () => {
  for (const type of registry) {
    if (type.kind !== "message" || !type.fields.some(({ message }) => message?.typeName === extensionSource)) continue;
    assert.ok(
      type.fields.some(({ name }) => name === "name"),
      type.typeName,
    );
  }
});
