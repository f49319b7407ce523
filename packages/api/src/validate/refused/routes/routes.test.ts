import {
  action,
  type Fields,
  first,
  header,
  host,
  type Refused,
  route,
  routes,
  testRefusals,
  url,
} from "../../../testing/refusals.js";

const scoped = (fields: Fields): Fields => ({
  "@type": url("config.route.v3.ScopedRouteConfiguration"),
  name: "a",
  key: { fragments: [{ string_key: "a" }] },
  ...fields,
});

const refused: readonly Refused[] = [
  [scoped({ on_demand: true }), "route_configuration_name", /unless there is a route_configuration/],
  [
    action({ weighted_clusters: { clusters: [{ name: "a", weight: 0 }] } }),
    `${first}.route.weighted_clusters.clusters`,
  ],
  [
    action({
      weighted_clusters: {
        clusters: [
          { name: "a", weight: 4294967295 },
          { name: "b", weight: 1 },
        ],
      },
    }),
    `${first}.route.weighted_clusters.clusters`,
    /4294967296/,
  ],
  [action({ weighted_clusters: { clusters: [{ weight: 1 }] } }), `${first}.route.weighted_clusters.clusters[0]`],
  [
    action({ weighted_clusters: { clusters: [{ name: "a", weight: 1 }, { name: "b" }] } }),
    `~${first}.route.weighted_clusters.clusters[1]`,
  ],
  [
    action({ prefix_rewrite: "/a", regex_rewrite: { pattern: { regex: "a" }, substitution: "" } }),
    `${first}.route.regex_rewrite`,
  ],
  [action({ request_mirror_policies: [{}] }), `${first}.route.request_mirror_policies[0]`],
  [
    action({ upgrade_configs: [{ upgrade_type: "websocket", connect_config: {} }] }),
    `${first}.route.upgrade_configs[0].connect_config`,
  ],
  [
    action({ retry_policy: { retry_back_off: { base_interval: "2s", max_interval: "1s" } } }),
    `~${first}.route.retry_policy.retry_back_off.max_interval`,
  ],
  [
    route({ direct_response: { status: 200, body: { inline_string: "é".repeat(2049) } } }),
    `${first}.direct_response.body`,
    /4098/,
  ],
  [route({ request_headers_to_add: [header(":path")] }), `${first}.request_headers_to_add[0].header.key`],
  [route({ response_headers_to_add: [header("a", "100%")] }), `${first}.response_headers_to_add[0].header.value`],
  [
    route({ request_headers_to_add: [header("a", "b", { append: true, append_action: "OVERWRITE_IF_EXISTS" })] }),
    `${first}.request_headers_to_add[0].append`,
  ],
  [routes({ request_headers_to_remove: ["HOST"] }), "request_headers_to_remove[0]"],
  [host({ virtual_clusters: [{ name: "a" }] }), "virtual_hosts[0].virtual_clusters[0].headers"],
  [
    host({
      matcher: {
        on_no_match: {
          action: {
            name: "a",
            typed_config: { "@type": url("config.route.v3.Route"), match: { prefix: "/" }, redirect: {} },
          },
        },
      },
      routes: [{ match: { prefix: "/" }, redirect: {} }],
    }),
    "virtual_hosts[0].matcher",
  ],
];

const taken: readonly Fields[] = [
  scoped({ route_configuration_name: "a" }),
  scoped({ route_configuration: { name: "a" } }),
  route({ request_headers_to_add: [header("host-x", "100%% %REQ(:path?x)% %START_TIME(%s)%")] }),
  action({
    weighted_clusters: {
      clusters: [
        { name: "a", weight: 4294967294 },
        { cluster_header: "b", weight: 1 },
      ],
    },
  }),
  routes({
    max_direct_response_body_size_bytes: 0,
    virtual_hosts: [
      {
        name: "a",
        domains: ["*"],
        routes: [{ match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "a" } } }],
      },
    ],
  }),
];

testRefusals("routes", refused, taken);
