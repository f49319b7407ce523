const url = (name: string) => `type.googleapis.com/envoy.${name}`;
const cluster = (name: string) => ({
  name,
  type: "EDS",
  connect_timeout: "1s",
  eds_cluster_config: { eds_config: { ads: {} } },
});
const listener = (name?: string) => ({
  ...(name === undefined ? {} : { name }),
  address: { socket_address: { address: "0.0.0.0", port_value: 80 } },
  filter_chains: [{}],
});
const bootstrap = {
  node: { id: "n" },
  admin: {},
  layered_runtime: {
    layers: [
      { name: "static", static_layer: { "a.b": 1 } },
      { name: "admin", admin_layer: {} },
    ],
  },
  static_resources: {
    listeners: [listener(), listener(), listener("named")],
    clusters: [cluster("a"), cluster("b")],
    secrets: [{ name: "s", generic_secret: { secret: { inline_string: "x" } } }],
  },
};
const secret = {
  "@type": url("extensions.transport_sockets.tls.v3.Secret"),
  generic_secret: { secret: { inline_string: "[redacted]" } },
};
const load = (health: string) => ({
  endpoint_config: {
    "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
    cluster_name: "a",
    endpoints: [
      {
        load_balancing_weight: 0,
        lb_endpoints: [
          { endpoint: { address: { socket_address: { address: "::1", port_value: 1 } } }, health_status: health },
        ],
      },
    ],
  },
});
const clusters = {
  "@type": url("admin.v3.ClustersConfigDump"),
  static_clusters: [{ cluster: { "@type": url("config.cluster.v3.Cluster"), ...cluster("b") } }],
  dynamic_active_clusters: [
    { version_info: "1", cluster: { "@type": url("config.cluster.v3.Cluster"), ...cluster("a") }, error_state: {} },
  ],
  dynamic_warming_clusters: [{}],
};
const dump = {
  configs: [
    { "@type": url("admin.v3.BootstrapConfigDump"), bootstrap },
    clusters,
    {
      "@type": url("admin.v3.ListenersConfigDump"),
      static_listeners: [{ listener: { "@type": url("config.listener.v3.Listener"), ...listener() } }],
      dynamic_listeners: [
        {
          name: "l",
          active_state: { listener: { "@type": url("config.listener.v3.Listener"), ...listener("l") } },
          warming_state: {},
          draining_state: {},
        },
      ],
    },
    { "@type": url("admin.v3.EndpointsConfigDump"), dynamic_endpoint_configs: [load("UNHEALTHY"), load("HEALTHY")] },
    { "@type": url("admin.v3.SecretsConfigDump"), dynamic_active_secrets: [{ name: "s", secret }] },
  ],
};
const host = { address: { socket_address: { address: "::1", port_value: 1 } }, weight: 1, locality: { zone: "z" } };

/** Files of the other readable forms: an Envoy's bootstrap, dumps, and tools' output of them. */
export function adoptedFiles(): ReadonlyMap<string, Uint8Array> {
  const file = (content: unknown) => new TextEncoder().encode(JSON.stringify(content, undefined, 1));
  return new Map([
    ["bootstrap.yaml", file(bootstrap)],
    ["dump.json", file(dump)],
    ["pods.yaml", file({ default: { "pod-1": dump, "pod-2": clusters } })],
    ["list.json", file([cluster("a"), { virtualHosts: [] }, { clusterName: "a" }, listener("l")])],
    ["statuses.json", file([{ name: "a", addedViaApi: true, hostStatuses: [host, { ...host, priority: 1 }] }])],
    ["client.json", file({ config: [{ generic_xds_configs: [{ name: "a", xds_config: secret }, {}] }] })],
  ]);
}
