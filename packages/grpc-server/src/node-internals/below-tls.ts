import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/**
 * The TCP socket below a TLS socket, by Node's private `_parent`. Fallback: undefined. Then a failed handshake is
 * told of an unknown peer, and `close` also ends, at once, connections whose handshake is younger than a handshake
 * may take.
 */
export function belowTls(socket: TLSSocket): Socket | undefined {
  return (socket as TLSSocket & { readonly _parent?: Socket })._parent;
}
