import type { Address, SocketAddress } from "@xdskit/api/envoy/config/core/v3/address";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import { categoriesOf } from "../../../envoy-versions/extension-types.js";
import { contentTypeOf } from "../../../messages/any.js";
import { isIpv6 } from "../../values/ip-address.js";
import { addressProblems } from "../addresses.js";
import type { SpecialProblem } from "../problem.js";
import { none, refused, within } from "../problem.js";
import { matchProblems, namedChainProblems } from "./filter-chain-matches.js";

/** SocketAddress.Protocol.UDP */
const udp = 1;

const ofTcp = "envoy.filters.listener";
const ofUdp = "envoy.filters.udp_listener";

/**
 * Problems for which Envoy refuses a listener. One with an `api_listener` is for gRPC's clients, which read nothing
 * else of it.
 */
export function listenerProblems(listener: Listener): SpecialProblem[] {
  if (listener.apiListener !== undefined) return [];
  const internal = listener.listenerSpecifier.case === "internalListener";
  return [
    ...(internal ? internalProblems(listener) : socketProblems(listener)),
    ...chainProblems(listener),
    ...listenerFilterProblems(listener),
    ...(listener.filterChainMatcher === undefined
      ? matchProblems(listener.filterChains)
      : namedChainProblems(listener.filterChains)),
  ];
}

function internalProblems(listener: Listener): SpecialProblem[] {
  const problems: SpecialProblem[] = [];
  if (listener.address !== undefined) problems.push(refused(["address"], "an internal_listener has no address"));
  if (listener.additionalAddresses.length > 0)
    problems.push(refused(["additional_addresses"], "an internal_listener has no address"));
  const foreign: readonly (readonly [string, unknown])[] = [
    ["enable_reuse_port", listener.enableReusePort],
    ["freebind", listener.freebind],
    ["tcp_backlog_size", listener.tcpBacklogSize],
    ["tcp_fast_open_queue_length", listener.tcpFastOpenQueueLength],
    ["socket_options", listener.socketOptions.length > 0 ? true : undefined],
  ];
  for (const [field, value] of foreign)
    if (value !== undefined)
      problems.push(refused([field], "is for sockets, which an internal_listener does not have"));
  return problems;
}

function socketProblems({ address, additionalAddresses, bindToPort, enableMptcp }: Listener): SpecialProblem[] {
  if (address === undefined)
    return [refused([], "a listener needs an address, unless it is an api_listener or an internal_listener")];
  const problems = [...within(placeProblems(address), "address")];
  const kind = listenerKindOf(address);
  for (const [index, more] of additionalAddresses.entries()) {
    const steps = ["additional_addresses", index, "address"];
    problems.push(...within(placeProblems(more.address), ...steps));
    if (more.address !== undefined && listenerKindOf(more.address) !== kind)
      problems.push(refused(steps, "must be of the same protocol, TCP or UDP, as the listener's address"));
  }
  if (kind === "udp" && bindToPort === false) problems.push(refused(["bind_to_port"], "must be true for UDP"));
  if (kind === "udp" && enableMptcp) problems.push(refused(["enable_mptcp"], "is not possible with UDP"));
  return problems;
}

function placeProblems(address: Address | undefined): readonly SpecialProblem[] {
  if (address?.address.case === "envoyInternalAddress")
    return [refused(["envoy_internal_address"], "is not an address to listen at: use internal_listener")];
  const problems = addressProblems(address, ": a listener's address is not resolved");
  if (address?.address.case !== "socketAddress" || problems.length > 0) return problems;
  const { value } = address.address;
  if (!value.ipv4Compat || isCompatible(value)) return none;
  return [refused(["socket_address", "ipv4_compat"], "is for :: and IPv6 addresses that hold an IPv4 address")];
}

/** The IPv6 wildcard address, or an IPv4 address in IPv6: `::ffff:10.0.0.1`. */
function isCompatible({ address }: SocketAddress): boolean {
  return (
    isIpv6(address) && (/^[0:]+$/.test(address) || /^[0:]*:ffff:(?:[\d.]+|[\da-f]{1,4}:[\da-f]{1,4})$/i.test(address))
  );
}

function listenerKindOf(address: Address): "tcp" | "udp" {
  const { address: one } = address;
  return one.case === "socketAddress" && one.value.protocol === udp ? "udp" : "tcp";
}

function chainProblems(listener: Listener): SpecialProblem[] {
  const { address, filterChains, defaultFilterChain, udpListenerConfig } = listener;
  const some = filterChains.length > 0 || defaultFilterChain !== undefined;
  const isUdp = address !== undefined && listenerKindOf(address) === "udp";
  if (!isUdp || udpListenerConfig?.quicOptions !== undefined)
    return some ? [] : [refused([], "a listener needs filter_chains or a default_filter_chain")];
  if (!some) return [];
  const field = filterChains.length > 0 ? "filter_chains" : "default_filter_chain";
  return [refused([field], "UDP has no connections, and no filter chains without udp_listener_config.quic_options")];
}

/** Filters of a TCP listener read what a connection begins with, those of UDP its datagrams; QUIC has some of each. */
function listenerFilterProblems({ address, listenerFilters, udpListenerConfig }: Listener): SpecialProblem[] {
  if (udpListenerConfig?.quicOptions !== undefined) return [];
  const isUdp = address !== undefined && listenerKindOf(address) === "udp";
  const [wanted, other] = isUdp ? [ofUdp, ofTcp] : [ofTcp, ofUdp];
  return listenerFilters.flatMap(({ configType }, index) => {
    const own = configType.case === "typedConfig" ? categoriesOf(contentTypeOf(configType.value)) : [];
    if (!own.includes(other) || own.includes(wanted)) return [];
    return [refused(["listener_filters", index], `is for ${isUdp ? "TCP" : "UDP"}: one of ${wanted} stands here`)];
  });
}
