import type { Address, SocketAddress } from "@xdskit/api/envoy/config/core/v3/address";
import type { DnsTable_AddressList } from "@xdskit/api/envoy/data/dns/v3/dns_table";
import { isIpv4, isIpv6 } from "../values/ip-address.js";
import type { SpecialProblem } from "./problem.js";
import { none, quoted, refused, within } from "./problem.js";

/** A path with more bytes fits no system: Linux has room for 107. */
const longestPath = 107;

/** Whether Envoy accepts a text as an address. A zone (`fe80::1%eth0`) depends on the machine. */
export function isNumericAddress(text: string): boolean {
  const zone = text.indexOf("%");
  return isIpv4(text) || isIpv6(zone > 0 ? text.slice(0, zone) : text);
}

/** Addresses that a DNS filter answers with. */
export function dnsAddressProblems({ address }: DnsTable_AddressList): SpecialProblem[] {
  return address.flatMap((text, index) =>
    isNumericAddress(text) ? [] : [refused(["address", index], `must be an IP address, not ${quoted(text)}`)],
  );
}

/** Problems of an address that nobody resolves: Envoy's default resolver accepts only IP addresses. */
export function addressProblems(address: Address | undefined, advice: string): readonly SpecialProblem[] {
  switch (address?.address.case) {
    case undefined:
      return [refused([], "needs an address")];
    case "socketAddress":
      return within(socketAddressProblems(address.address.value, advice), "socket_address");
    case "pipe": {
      const { length } = Buffer.from(address.address.value.path);
      if (length <= longestPath) return none;
      return [refused(["pipe", "path"], `has ${length} bytes; a socket's path has at most ${longestPath}`)];
    }
    default:
      return none;
  }
}

/** The same for a socket address. */
export function socketAddressProblems(socket: SocketAddress, advice: string): readonly SpecialProblem[] {
  const { address, portSpecifier, resolverName } = socket;
  // Other resolvers have their own rules.
  if (resolverName !== "" && resolverName !== "envoy.ip") return none;
  if (!isNumericAddress(address))
    return [refused(["address"], `must be an IP address, not ${quoted(address)}${advice}`)];
  if (portSpecifier.case === "namedPort")
    return [refused(["named_port"], "cannot be used with an IP address; give port_value")];
  return none;
}
