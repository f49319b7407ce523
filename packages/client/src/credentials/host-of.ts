/** The host that a target of gRPC names (`xds.example` of `dns:///xds.example:443`): what the certificate there is for, unless settings say otherwise. */
export function hostOf(address: string): string {
  // As gRPC names the server behind a socket file.
  if (/^unix(-abstract)?:/.test(address)) return "localhost";
  const path = /^(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?(.*)$/.exec(address)?.[1] ?? address;
  const first = path.split(",")[0] ?? path;
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(first);
  if (bracketed !== null) return bracketed[1] ?? "";
  const colon = first.indexOf(":");
  // More than one colon: an IPv6 address without brackets.
  return colon === -1 || first.includes(":", colon + 1) ? first : first.slice(0, colon);
}
