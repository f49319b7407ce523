import type { Socket } from "node:net";
import { formatAddress } from "../address.js";

/** Who is at the other end of a socket, such as `127.0.0.1:51234`; to be asked while it is open. */
export function peerOf({ remoteAddress, remotePort: port = 0 }: Socket): string {
  return formatAddress({ host: plainHost(remoteAddress), port });
}

/** IPv4 addresses on an IPv6 socket are written as IPv6. */
export function plainHost(address = "unknown"): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}
