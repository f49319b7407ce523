const schema = (name: string) => `# yaml-language-server: $schema=.schemas/${name}.schema.json\n`;

/** The files of a first configuration, by their path in its folder. */
export const firstFiles: Readonly<Record<string, string>> = {
  "listener.yaml": `${schema("resources")}# Where Envoy listens. Its routes are the resource "web-routes" (routes.yaml).
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: web
address:
  socket_address: { address: 127.0.0.1, port_value: 10000 }
filter_chains:
  - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: web
          rds:
            route_config_name: web-routes
            config_source: { resource_api_version: V3, ads: {} }
          http_filters:
            - name: envoy.filters.http.router
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
`,
  "routes.yaml": `${schema("resources")}# Which request goes where. The first route that matches wins.
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: web-routes
virtual_hosts:
  - name: all
    domains: ["*"]
    routes:
      # Envoy answers this one itself: curl http://127.0.0.1:10000/hello
      - match: { path: /hello }
        direct_response: { status: 200, body: { inline_string: "hello from Envoy\\n" } }
      - match: { prefix: / }
        route: { cluster: web }
`,
  "clusters.yaml": `${schema("resources")}# A file may hold a list. Where a cluster's service runs is a resource of its own (endpoints.yaml), under its name.
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: web
  type: EDS
  eds_cluster_config:
    eds_config: { resource_api_version: V3, ads: {} }
  connect_timeout: 1s
`,
  "endpoints.yaml": `${schema("resources")}# Your service: change the address and the port.
"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: web
endpoints:
  - lb_endpoints:
      - endpoint:
          address:
            socket_address: { address: 127.0.0.1, port_value: 8080 }
`,
  "xdskit.yaml": `${schema("settings")}# The settings of "xdskit serve": all are optional, and a change is taken over while it runs. Docs: docs/settings.md
#
# Without groups, every node gets every resource. With them, a node gets the folders of the first group that it matches:
# groups:
#   - name: edge
#     match: { cluster: "edge-*" }
#     folders: [shared, edge]
#     # A change goes to one node first, then to a tenth, then to all:
#     rollout: { steps: [{ count: 1 }, { percent: 10 }], soak: 30s }
#   - name: rest
#     match: {}
#     folders: [shared]
`,
};
