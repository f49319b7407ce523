import type { Files, ResourceText } from "../harness/basics/config-folder.js";
import { typeUrl } from "../harness/basics/resources.js";

/** A shop of several services, as people configure one: two listeners, routes by host, clusters, endpoints in zones. */

const ads = { ads: {}, resource_api_version: "V3" };

const services = ["cart", "catalog", "checkout", "payments", "reviews", "search", "users"] as const;

/** What the dashboard's tests and its pictures serve. */
export function shopFiles(port = 8080): Files {
  return {
    "clusters.yaml": [...services.map((name) => shopCluster(name)), shopCluster("recommendations-old")],
    "endpoints.yaml": services.map(shopEndpoints),
    "listeners.yaml": [listener("public", port, "public-routes"), listener("internal", port + 1, "internal-routes")],
    "routes.yaml": [publicRoutes(), internalRoutes()],
  };
}

/** `timeout` makes another version of it. */
export function shopCluster(name: string, timeout: number | string = "1s"): ResourceText {
  return {
    "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
    name,
    type: "EDS",
    connect_timeout: typeof timeout === "number" ? `${timeout}s` : timeout,
    lb_policy: name === "cart" ? "RING_HASH" : "LEAST_REQUEST",
    eds_cluster_config: { eds_config: ads },
  };
}

function shopEndpoints(name: string, index: number): ResourceText {
  const group = (zone: string, count: number, offset: number) => ({
    locality: { region: "eu", zone },
    load_balancing_weight: count,
    lb_endpoints: Array.from({ length: count }, (_, host) => ({
      endpoint: {
        address: { socket_address: { address: `10.${index + 1}.${offset}.${host + 10}`, port_value: 8080 } },
      },
      health_status: name === "payments" && zone === "eu-2" && host === 1 ? "DRAINING" : "HEALTHY",
      load_balancing_weight: 1,
    })),
  });
  return {
    "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
    cluster_name: name,
    endpoints: [group("eu-1", 3, 1), group("eu-2", 2, 2)],
  };
}

function listener(name: string, port: number, routes: string): ResourceText {
  return {
    "@type": typeUrl("envoy.config.listener.v3.Listener"),
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: port } },
    filter_chains: [
      {
        filters: [
          {
            name: "envoy.filters.network.http_connection_manager",
            typed_config: {
              "@type": typeUrl("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
              stat_prefix: name,
              rds: { route_config_name: routes, config_source: ads },
              http_filters: [
                {
                  name: "envoy.filters.http.router",
                  typed_config: { "@type": typeUrl("envoy.extensions.filters.http.router.v3.Router") },
                },
              ],
            },
          },
        ],
      },
    ],
  };
}

const to = (prefix: string, cluster: string) => ({ match: { prefix }, route: { cluster } });

function publicRoutes(): ResourceText {
  return {
    "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
    name: "public-routes",
    virtual_hosts: [
      {
        name: "shop",
        domains: ["shop.example", "www.shop.example"],
        routes: [to("/cart", "cart"), to("/checkout", "checkout"), to("/search", "search"), to("/", "catalog")],
      },
      { name: "reviews", domains: ["reviews.shop.example"], routes: [to("/", "reviews")] },
    ],
  };
}

/** It names a cluster that is not there. */
function internalRoutes(): ResourceText {
  return {
    "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
    name: "internal-routes",
    virtual_hosts: [
      { name: "payments", domains: ["payments.internal"], routes: [to("/", "payments")] },
      {
        name: "users",
        domains: ["users.internal"],
        routes: [to("/recommendations", "recommendations"), to("/", "users")],
      },
    ],
  };
}
