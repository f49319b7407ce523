import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { FieldStep } from "../../../errors/field-path.js";
import { isTypedStruct } from "../../../messages/any.js";
import { typeNameOf } from "../../../names/identifiers.js";
import { isNumericAddress, socketAddressProblems } from "../addresses.js";
import type { SpecialProblem } from "../problem.js";
import { quoted, refused, refusedByEnvoy, within } from "../problem.js";
import { isShorter, type Lasting } from "../spans.js";
import { discoveryTypeOf } from "./clusters.js";

/** Source addresses: Envoy binds one for each version of IP. */
export function bindProblems({ upstreamBindConfig: config }: Cluster): SpecialProblem[] {
  if (config === undefined) return [];
  const { sourceAddress, additionalSourceAddresses: additional, extraSourceAddresses: extra } = config;
  const at = (field: string, ...more: readonly FieldStep[]) => ["upstream_bind_config", field, ...more];
  const advice = ": source addresses are not resolved";
  const field = extra.length > 0 ? "extra_source_addresses" : "additional_source_addresses";
  if (extra.length > 0 && additional.length > 0)
    return [refused(at("additional_source_addresses"), "cannot be combined with extra_source_addresses")];
  const others = extra.length > 0 ? extra.map(({ address }) => address) : additional;
  const problems: SpecialProblem[] = [];
  if (sourceAddress !== undefined)
    problems.push(...within(socketAddressProblems(sourceAddress, advice), ...at("source_address")));
  for (const [index, address] of others.entries()) {
    const steps = at(field, index, ...(extra.length > 0 ? ["address"] : []));
    if (address !== undefined) problems.push(...within(socketAddressProblems(address, advice), ...steps));
  }
  if (others.length > 0 && sourceAddress === undefined) problems.push(refused(at(field), "needs source_address too"));
  if (others.length > 1) problems.push(refused(at(field), "may hold one address, of the other IP version"));
  const [other] = others;
  if (problems.length > 0 || other === undefined || sourceAddress === undefined) return problems;
  if (sourceAddress.address.includes(":") !== other.address.includes(":")) return [];
  return [refused(at(field, 0), "must be of another IP version than source_address")];
}

/** Of clusters that resolve names. */
export function dnsProblems(cluster: Cluster): SpecialProblem[] {
  const { dnsResolvers, dnsFailureRefreshRate } = cluster;
  if (dnsResolvers.length === 0 && dnsFailureRefreshRate === undefined) return [];
  const type = discoveryTypeOf(cluster);
  if (type !== "STRICT_DNS" && type !== "LOGICAL_DNS") return [];
  const problems: SpecialProblem[] = [];
  // Envoy ignores the deprecated list if one of its successors is set.
  const isReplaced = cluster.dnsResolutionConfig !== undefined || cluster.typedDnsResolverConfig !== undefined;
  for (const [index, { address }] of (isReplaced ? [] : dnsResolvers).entries()) {
    if (address.case !== "socketAddress") continue;
    const { address: text } = address.value;
    const steps = ["dns_resolvers", index, "socket_address", "address"];
    if (!isNumericAddress(text)) problems.push(refused(steps, `must be an IP address, not ${quoted(text)}`));
  }
  const { baseInterval, maxInterval } = dnsFailureRefreshRate ?? {};
  if (isShorter(maxInterval, baseInterval))
    problems.push(refused(["dns_failure_refresh_rate", "max_interval"], "must be at least base_interval"));
  return problems;
}

const usualEjection: Lasting = { seconds: 30n, nanos: 0 };

/** Outlier detection. */
export function ejectionProblems(cluster: Cluster): SpecialProblem[] {
  const { baseEjectionTime = usualEjection, maxEjectionTime } = cluster.outlierDetection ?? {};
  if (!isShorter(maxEjectionTime, baseEjectionTime)) return [];
  const type = discoveryTypeOf(cluster);
  // gRPC's clients also eject, and do not compare the two.
  const refuse = type === "STATIC" || type === "STRICT_DNS" || type === "ORIGINAL_DST" ? refused : refusedByEnvoy;
  const base = cluster.outlierDetection?.baseEjectionTime === undefined ? ", which is 30s unless it is set" : "";
  return [refuse(["outlier_detection", "max_ejection_time"], `must be at least base_ejection_time${base}`)];
}

/** Protocols that exclude each other, or that health checks need. */
export function protocolProblems(cluster: Cluster): SpecialProblem[] {
  const { httpProtocolOptions, http2ProtocolOptions, typedExtensionProtocolOptions, protocolSelection } = cluster;
  const problems: SpecialProblem[] = [];
  const extended = Object.keys(typedExtensionProtocolOptions).length > 0;
  if (httpProtocolOptions !== undefined && http2ProtocolOptions !== undefined && protocolSelection === 0 && !extended) {
    const message =
      "cannot be combined with http_protocol_options, unless protocol_selection is USE_DOWNSTREAM_PROTOCOL";
    problems.push(refused(["http2_protocol_options"], message));
  }
  if (http2ProtocolOptions !== undefined || extended) return problems;
  for (const [index, { healthChecker }] of cluster.healthChecks.entries()) {
    if (healthChecker.case !== "grpcHealthCheck") continue;
    problems.push(refused(["health_checks", index, "grpc_health_check"], "needs a cluster that speaks HTTP/2"));
  }
  return problems;
}

const upstreams = "envoy.extensions.upstreams";
const [http, tcp] = [`${upstreams}.http.v3.HttpProtocolOptions`, `${upstreams}.tcp.v3.TcpProtocolOptions`];
const reverse = `${upstreams}.http.reverse_tunnel.v3.ReverseTunnelUpstreamCodecOptions`;

const network = "envoy.extensions.filters.network";

/** By which names Envoy finds options of a protocol: those of their messages or filters, and three older ones. */
const optionsByName: ReadonlyMap<string, string> = new Map([
  ...[http, tcp, reverse].map((type) => [type, type] as const),
  ["envoy.upstreams.http.http_protocol_options", http],
  ["envoy.upstreams.tcp.tcp_protocol_options", tcp],
  ["envoy.filters.network.redis_proxy", `${network}.redis_proxy.v3.RedisProtocolOptions`],
  ["envoy.redis_proxy", `${network}.redis_proxy.v3.RedisProtocolOptions`],
  ["envoy.filters.network.thrift_proxy", `${network}.thrift_proxy.v3.ThriftProtocolOptions`],
]);

/** Options of protocols stand under their own names. */
export function protocolOptionProblems({ typedExtensionProtocolOptions: options }: Cluster): readonly SpecialProblem[] {
  return Object.entries(options).flatMap(([key, any]) => {
    const type = typeNameOf(any.typeUrl);
    const wanted = optionsByName.get(key);
    const at = ["typed_extension_protocol_options", { key }];
    if (wanted === undefined) {
      const own = [...optionsByName].find(([, options]) => options === type)?.[0];
      return own === undefined ? [] : [refused(at, `${type} stands under the name ${own}, and not here`)];
    }
    // Envoy reads what is empty, or a TypedStruct, as what it expects.
    if (type === wanted || any.value?.length === 0 || isTypedStruct({ typeName: type })) return [];
    return [refused(at, `${type} is no ${wanted}, which stands here`)];
  });
}

/** Several health checks have names, and each its own. */
export function healthCheckNameProblems(cluster: Cluster): SpecialProblem[] {
  const { healthChecks } = cluster;
  if (healthChecks.length < 2) return [];
  const type = discoveryTypeOf(cluster);
  // gRPC's clients make no health checks, and read clusters of these types.
  const refuse = type === "EDS" || type === "LOGICAL_DNS" || type === undefined ? refusedByEnvoy : refused;
  const seen = new Set<string>();
  return healthChecks.flatMap(({ name }, index) => {
    const isKnown = seen.has(name);
    seen.add(name);
    const steps = ["health_checks", index, "name"];
    if (name === "") return [refuse(steps, "must be set where a cluster has several health checks")];
    return isKnown ? [refuse(steps, `${quoted(name)} is there twice`)] : [];
  });
}
