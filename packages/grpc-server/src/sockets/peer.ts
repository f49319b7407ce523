import type { Socket } from "node:net";
import { type PeerCertificate, TLSSocket } from "node:tls";

/** Who is at the other end of a connection. */
export interface Peer {
  /** The IP address; an IPv4 address on an IPv6 socket as IPv4. */
  readonly host: string;
  readonly port: number;
  /** Address and port as text, such as `127.0.0.1:51234` or `[::1]:51234`. */
  readonly text: string;
  /** The certificate that the client showed, and that was verified; undefined without one, or in plaintext. */
  certificate(): PeerCertificate | undefined;
}

/** The peer of a socket; to be asked while it is open. */
export function peerOf(socket: Socket): Peer {
  const { remoteAddress, remotePort: port = 0 } = socket;
  const host = plainHost(remoteAddress);
  return {
    host,
    port,
    text: host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
    certificate: () => certificateOf(socket),
  };
}

function certificateOf(socket: Socket): PeerCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  return certificate?.raw === undefined ? undefined : certificate;
}

/** IPv4 addresses on an IPv6 socket are written as IPv6. */
function plainHost(address = "unknown"): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}
