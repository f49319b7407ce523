const names: Readonly<Record<string, string>> = {
  "envoy.service.runtime.v3.Runtime": "runtime",
  "envoy.extensions.transport_sockets.tls.v3.Secret": "secret",
  "envoy.config.cluster.v3.Cluster": "cluster",
  "envoy.config.endpoint.v3.ClusterLoadAssignment": "endpoint",
  "envoy.config.core.v3.TypedExtensionConfig": "extension-config",
  "envoy.config.listener.v3.Listener": "listener",
  "envoy.config.route.v3.ScopedRouteConfiguration": "scoped-route",
  "envoy.config.route.v3.RouteConfiguration": "route",
  "envoy.config.route.v3.VirtualHost": "virtual-host",
};

/** A type as people call it; another type URL as it is. */
export function typeName(typeUrl: string): string {
  const name = typeUrl.replace(/^type\.googleapis\.com\//, "");
  return names[name] ?? name;
}

const shortNames: Readonly<Record<string, string>> = {
  cluster: "CDS",
  endpoint: "EDS",
  "extension-config": "ECDS",
  listener: "LDS",
  route: "RDS",
  runtime: "RTDS",
  "scoped-route": "SRDS",
  secret: "SDS",
  "virtual-host": "VHDS",
};

/** A type as heads of narrow columns have it: the service that brings it. */
export function shortTypeName(type: string): string {
  return shortNames[type] ?? type;
}
