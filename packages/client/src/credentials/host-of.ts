/**
 * The host of a gRPC target (`xds.example` in `dns:///xds.example:443`). The certificate must have this name, unless
 * the settings give another.
 */
export function hostOf(address: string): string {
  // gRPC uses this name for the server behind a socket file.
  if (/^unix(-abstract)?:/.test(address)) return "localhost";
  const path = /^(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?(.*)$/.exec(address)?.[1] ?? address;
  const first = path.split(",")[0] ?? path;
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(first);
  if (bracketed !== null) return bracketed[1] ?? "";
  const colon = first.indexOf(":");
  // More than one colon: an IPv6 address without brackets.
  return colon === -1 || first.includes(":", colon + 1) ? first : first.slice(0, colon);
}
