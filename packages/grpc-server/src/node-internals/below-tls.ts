import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/**
 * The TCP socket below a TLS socket, by Node's private `_parent`. Fallback: undefined. Then a failed handshake is
 * reported with an unknown peer, and `close` also ends connections at once whose handshake could still finish in time.
 */
export function belowTls(socket: TLSSocket): Socket | undefined {
  return (socket as TLSSocket & { readonly _parent?: Socket })._parent;
}
