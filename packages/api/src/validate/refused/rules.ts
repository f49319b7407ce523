import { dnsAddressProblems } from "./addresses.js";
import * as parts from "./clusters/cluster-parts.js";
import * as clusters from "./clusters/clusters.js";
import {
  endpointListProblems,
  endpointSourceProblems,
  lbEndpointProblems,
  loadAssignmentProblems,
} from "./clusters/endpoints.js";
import { httpHealthCheckProblems, payloadProblems } from "./clusters/health-checks.js";
import { needsSource, usedSource } from "./config-sources.js";
import * as formats from "./formats.js";
import { connectionManagerProblems } from "./listeners/connection-managers.js";
import * as filters from "./listeners/filters.js";
import { listenerProblems } from "./listeners/listeners.js";
import { permissionProblems, principalProblems } from "./listeners/rbac.js";
import type { SpecialProblem } from "./problem.js";
import { routeHeaderProblems } from "./routes/route-headers.js";
import * as routes from "./routes/routes.js";
import { spanProblems } from "./spans.js";
import * as tls from "./tls/tls.js";

/** Lists the problems of a message; empty if Envoy takes it. */
export type Rule = (message: never) => readonly SpecialProblem[];

const listener = "envoy.config.listener.v3";
const route = "envoy.config.route.v3";
const logs = "envoy.extensions.access_loggers";
const manager = "envoy.extensions.filters.network.http_connection_manager.v3";
const tlsPackage = "envoy.extensions.transport_sockets.tls.v3";

/** The rules by which every build of Envoy refuses messages that the protos' rules allow, by message type. */
const rules: { readonly [typeName: string]: readonly Rule[] } = {
  "google.protobuf.Duration": [spanProblems],
  "envoy.config.core.v3.HeaderValueOption": [formats.formatsIn("header.value")],
  "envoy.config.core.v3.SubstitutionFormatString": [formats.substitutionProblems],
  [`${logs}.file.v3.FileAccessLog`]: [formats.fileLogProblems],
  [`${logs}.fluentd.v3.FluentdAccessLogConfig`]: [formats.fluentdLogProblems],
  [`${logs}.open_telemetry.v3.OpenTelemetryAccessLogConfig`]: [formats.openTelemetryLogProblems],
  [`${logs}.stats.v3.Config.Tag`]: [formats.formatsIn("value_format")],
  [`${logs}.stats.v3.Config.Histogram`]: [formats.formatsIn("value_format")],
  [`${logs}.stats.v3.Config.Counter`]: [formats.formatsIn("value_format")],
  [`${logs}.stats.v3.Config.Gauge`]: [formats.formatsIn("value_format")],
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig": [formats.formatsIn("hostname")],
  "envoy.extensions.filters.network.ratelimit.v3.RateLimit": [formats.formatsIn("descriptors.entries.value")],
  "envoy.extensions.filters.network.reverse_tunnel.v3.Validation": [
    formats.formatsIn("node_id_format", "cluster_id_format", "tenant_id_format"),
  ],
  "envoy.extensions.clusters.reverse_connection.v3.ReverseConnectionClusterConfig": [
    formats.formatsIn("host_id_format", "tenant_id_format"),
  ],
  [`${route}.RedirectAction`]: [formats.formatsIn("path_rewrite_specifier.path_rewrite")],
  [`${route}.Tracing`]: [formats.formatsIn("operation", "upstream_operation")],
  [`${manager}.HttpConnectionManager.Tracing`]: [formats.formatsIn("operation", "upstream_operation")],
  // A route may have both messages below these: the first is no format there, and the second only for some filters.
  "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz": [
    formats.formatsIn("services.http_service.authorization_request.headers_to_add.value"),
  ],
  "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit": [
    formats.formatsIn("rate_limits.hits_addend.format"),
  ],
  "envoy.extensions.filters.http.ratelimit.v3.RateLimit": [formats.formatsIn("rate_limits.hits_addend.format")],
  "envoy.extensions.filters.network.geoip.v3.Geoip": [formats.formatsIn("client_ip")],
  "envoy.extensions.filters.http.oauth2.v3.OAuth2Config": [formats.formatsIn("redirect_uri", "original_request_uri")],
  "envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.UdpTunnelingConfig": [
    formats.formatsIn("proxy_host", "target_host"),
  ],
  "envoy.type.tracing.v3.CustomTag": [formats.formatsIn("type.value")],
  "envoy.config.core.v3.KeyValueMutation": [formats.mutationProblems],
  "envoy.config.core.v3.HealthCheck.Payload": [payloadProblems],
  "envoy.config.core.v3.HealthCheck.HttpHealthCheck": [httpHealthCheckProblems],
  "envoy.config.core.v3.TransportSocket": [filters.unconfiguredProblems],
  "envoy.config.accesslog.v3.AccessLog": [filters.unconfiguredProblems],
  [`${listener}.ListenerFilter`]: [filters.unconfiguredProblems],
  [`${listener}.Filter`]: [filters.unconfiguredProblems],
  [`${listener}.FilterChain`]: [filters.chainOrderProblems],
  [`${manager}.HttpConnectionManager`]: [connectionManagerProblems],
  "envoy.extensions.filters.http.router.v3.Router": [filters.routerProblems],
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": [filters.protocolFilterProblems],
  [`${manager}.Rds`]: [needsSource("config_source", "route_config_name"), usedSource("config_source")],
  [`${manager}.ScopedRoutes`]: [usedSource("rds_config_source")],
  [`${manager}.ScopedRds`]: [usedSource("scoped_rds_config_source")],
  [`${route}.Vhds`]: [usedSource("config_source")],
  [`${tlsPackage}.SdsSecretConfig`]: [usedSource("sds_config")],
  "envoy.config.cluster.v3.Cluster.EdsClusterConfig": [usedSource("eds_config")],
  "envoy.config.endpoint.v3.LedsClusterLocalityConfig": [needsSource("leds_config"), endpointSourceProblems],
  "envoy.extensions.filters.http.on_demand.v3.OnDemandCds": [needsSource("source")],
  [`${logs}.filters.process_ratelimit.v3.DynamicTokenBucket`]: [needsSource("config_source")],
  [`${manager}.HttpFilter`]: [filters.unconfiguredProblems],
  [`${route}.RouteConfiguration`]: [routeHeaderProblems, routes.bodySizeProblems],
  [`${route}.VirtualHost`]: [routeHeaderProblems, routes.virtualHostProblems],
  [`${route}.Route`]: [routeHeaderProblems],
  [`${route}.WeightedCluster.ClusterWeight`]: [routeHeaderProblems],
  [`${route}.WeightedCluster`]: [routes.weightedClusterProblems],
  [`${route}.RouteAction`]: [
    routes.routeActionProblems,
    formats.formatsIn("path_rewrite", "host_rewrite_specifier.host_rewrite"),
  ],
  [`${route}.RouteAction.RequestMirrorPolicy`]: [routes.mirrorProblems],
  [`${route}.RetryPolicy.RetryBackOff`]: [routes.retryBackOffProblems],
  [`${route}.VirtualCluster`]: [routes.virtualClusterProblems],
  "envoy.data.dns.v3.DnsTable.AddressList": [dnsAddressProblems],
  "envoy.config.core.v3.ExtensionConfigSource": [filters.defaultTypeProblems, usedSource("config_source")],
  "envoy.config.rbac.v3.Principal": [principalProblems],
  "envoy.config.rbac.v3.Permission": [permissionProblems],
  [`${tlsPackage}.TlsCertificate`]: [tls.certificateProblems],
  [`${tlsPackage}.TlsSessionTicketKeys`]: [tls.ticketKeyProblems],
  [`${tlsPackage}.Secret`]: [tls.secretProblems],
  [`${tlsPackage}.CertificateValidationContext`]: [tls.hashProblems],
  [`${tlsPackage}.CommonTlsContext`]: [tls.commonTlsProblems],
  [`${tlsPackage}.UpstreamTlsContext`]: [tls.upstreamTlsProblems],
  [`${tlsPackage}.DownstreamTlsContext`]: [tls.downstreamTlsProblems],
};

/** Only for resources: inside another message the same content is valid. */
const ofResources: { readonly [typeName: string]: readonly Rule[] } = {
  "envoy.config.cluster.v3.Cluster": [
    clusters.typeProblems,
    clusters.edsConfigProblems,
    clusters.lbPolicyProblems,
    clusters.loadBalancingPolicyProblems,
    parts.bindProblems,
    parts.dnsProblems,
    parts.ejectionProblems,
    parts.protocolProblems,
    parts.protocolOptionProblems,
    parts.healthCheckNameProblems,
  ],
  "envoy.config.endpoint.v3.ClusterLoadAssignment": [loadAssignmentProblems],
  "envoy.config.endpoint.v3.LbEndpoint": [lbEndpointProblems],
  "envoy.config.endpoint.v3.LbEndpointCollection": [endpointListProblems],
  [`${listener}.Listener`]: [listenerProblems],
  [`${route}.ScopedRouteConfiguration`]: [routes.scopedRouteProblems],
};

const none: readonly Rule[] = [];

/** The rules for messages of a type. `isResource`: also those that hold only for a resource of this type. */
export function refusalRules(typeName: string, isResource: boolean): readonly Rule[] {
  return rules[typeName] ?? (isResource ? ofResources[typeName] : undefined) ?? none;
}
