import type { JsonObject } from "@bufbuild/protobuf";
import { any, ext, grpcService, named } from "./blocks.js";

const genericRouter = named("envoy.filters.generic.router", `${ext}filters.network.generic_proxy.router.v3.Router`);
const thriftRoute: JsonObject = { match: { method_name: "text" }, route: { cluster: "backend" } };

/** As `messageHints`, for filters of connections and of UDP. */
export const networkFilterHints: Readonly<Record<string, JsonObject>> = {
  [`${ext}filters.network.ext_authz.v3.ExtAuthz`]: {
    stat_prefix: "text",
    grpc_service: grpcService,
    transport_api_version: "V3",
  },
  [`${ext}filters.network.ext_proc.v3.NetworkExternalProcessor`]: { grpc_service: grpcService, stat_prefix: "text" },
  [`${ext}filters.network.thrift_proxy.filters.payload_to_metadata.v3.PayloadToMetadata.Rule`]: {
    method_name: "text",
    field_selector: { name: "text", id: 1 },
    on_present: { key: "text" },
  },
  [`${ext}filters.network.thrift_proxy.filters.payload_to_metadata.v3.PayloadToMetadata.FieldSelector`]: {
    name: "text",
    id: 1,
  },
  [`${ext}filters.network.thrift_proxy.filters.header_to_metadata.v3.HeaderToMetadata.Rule`]: {
    header: "x-text",
    on_present: { key: "text" },
  },
  [`${ext}filters.network.thrift_proxy.v3.ThriftProxy`]: {
    stat_prefix: "text",
    route_config: { name: "text", routes: [thriftRoute] },
    thrift_filters: [
      { name: "envoy.filters.thrift.router", typed_config: any(`${ext}filters.network.thrift_proxy.router.v3.Router`) },
    ],
  },
  [`${ext}filters.network.thrift_proxy.v3.ThriftFilter`]: {
    name: "envoy.filters.thrift.router",
    typed_config: any(`${ext}filters.network.thrift_proxy.router.v3.Router`),
  },
  [`${ext}filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight`]: { name: "backend", weight: 1 },
  [`${ext}filters.network.connection_limit.v3.ConnectionLimit`]: { stat_prefix: "text", max_connections: "1" },
  [`${ext}filters.network.dubbo_proxy.v3.RouteMatch`]: { method: { name: { exact: "text" } } },
  [`${ext}filters.network.dubbo_proxy.v3.MethodMatch`]: { name: { exact: "text" } },
  [`${ext}filters.network.dubbo_proxy.v3.RouteAction`]: { cluster: "backend" },
  [`${ext}filters.network.dubbo_proxy.v3.DubboFilter`]: {
    name: "envoy.filters.dubbo.router",
    config: any(`${ext}filters.network.dubbo_proxy.router.v3.Router`),
  },
  [`${ext}filters.network.generic_proxy.v3.GenericProxy`]: {
    stat_prefix: "text",
    codec_config: named(
      "envoy.generic_proxy.codecs.dubbo",
      `${ext}filters.network.generic_proxy.codecs.dubbo.v3.DubboCodecConfig`,
    ),
    route_config: { name: "text" },
    filters: [genericRouter],
  },
  [`${ext}filters.network.redis_proxy.v3.RedisProxy`]: {
    stat_prefix: "text",
    settings: { op_timeout: "1s" },
    prefix_routes: { catch_all_route: { cluster: "backend" } },
  },
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes`]: { catch_all_route: { cluster: "backend" } },
  [`${ext}filters.network.redis_proxy.v3.RedisProxy.ConnPoolSettings`]: { op_timeout: "1s" },
  [`${ext}filters.udp.dns_filter.v3.DnsFilterConfig`]: {
    stat_prefix: "text",
    server_config: {
      inline_dns_table: {
        virtual_domains: [{ name: "example.org", endpoint: { address_list: { address: ["127.0.0.1"] } } }],
      },
    },
  },
  "envoy.data.dns.v3.DnsTable": {
    virtual_domains: [{ name: "example.org", endpoint: { address_list: { address: ["127.0.0.1"] } } }],
  },
  "envoy.data.dns.v3.DnsTable.DnsVirtualDomain": {
    name: "example.org",
    endpoint: { address_list: { address: ["127.0.0.1"] } },
  },
  [`${ext}filters.udp.udp_proxy.v3.UdpProxyConfig`]: { stat_prefix: "text", cluster: "backend" },
};
