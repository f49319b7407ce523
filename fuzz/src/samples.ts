import { readResources, writeResources } from "@xdskit/api";

/**
 * A file of every form that YAML may have: resources of many types, wrappers, anchors, aliases, merge keys, comments,
 * blocks.
 */
const yaml = `# all that a file may hold
- &web
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: web
  type: EDS
  connect_timeout: &second 1s
  eds_cluster_config: { eds_config: { ads: {}, resource_api_version: V3 } }
  health_checks:
  - { timeout: *second, interval: 5s, unhealthy_threshold: 1, healthy_threshold: 2, http_health_check: { path: /live } }
  metadata: { filter_metadata: { a: { number: 12345678901234567890, text: "\\u00e9", list: [1, -0.5, true, null] } } }
- <<: *web
  name: other
  ring_hash_lb_config: { minimum_ring_size: "64", maximum_ring_size: 1024 }
- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource
  name: routes/example.com
  aliases: [routes/www.example.com]
  ttl: 30s
  resource:
    "@type": type.googleapis.com/envoy.config.route.v3.VirtualHost
    name: routes/example.com
    domains: [example.com, "*.example.com"]
    routes: [{ match: { safe_regex: { regex: "^/(a|b)+$" } }, route: { cluster: web, timeout: 0.250s } }]
---
"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: web
endpoints:
- locality: { region: eu, zone: eu-1 }
  lb_endpoints:
  - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: 80 } } }
  - { endpoint: { address: { socket_address: { address: "::1", port_value: 65535 } } }, load_balancing_weight: 4294967295 }
---
resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: ingress
  address: { socket_address: { address: 0.0.0.0, port_value: 10000 } }
  filter_chains:
  - filters:
    - name: hcm
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: ingress
        rds: { route_config_name: routes, config_source: { ads: {}, resource_api_version: V3 } }
        http_filters:
        - { name: router, typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router } }
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: routes
  virtual_hosts: [{ name: all, domains: ["*"], routes: [{ match: { prefix: / }, redirect: { path_redirect: /x } }] }]
- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: token
  generic_secret: { secret: { inline_bytes: c2VjcmV0 } }
- "@type": type.googleapis.com/envoy.service.runtime.v3.Runtime
  name: runtime
  layer: { a.b: 1, c: { numerator: 1 } }
`;

/** The same resources as a file of each form, by the file's name. */
export function sampleFiles(): ReadonlyMap<string, Uint8Array> {
  const bytes = new TextEncoder().encode(yaml);
  const { resources, findings } = readResources({ path: "sample.yaml", bytes });
  if (findings.length > 0) throw new Error(`the sample has findings: ${JSON.stringify(findings)}`);
  const all = resources.map(({ resource }) => resource);
  const written = (format: "json" | "yaml" | "text" | "binary") => {
    const content = writeResources(all, format, { indent: 1 });
    return typeof content === "string" ? new TextEncoder().encode(content) : content;
  };
  return new Map([
    ["sample.yaml", bytes],
    ["written.yaml", written("yaml")],
    ["written.json", written("json")],
    ["written.pb_text", written("text")],
    ["written.pb", written("binary")],
  ]);
}
