import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import { peerOf } from "../transports/peer.js";

/** How long a client may take for its handshake, in milliseconds. */
export const handshakeMs = 10_000;

/** Hears of a connection that came to nothing: whose, and why. */
export type HandshakeFailed = (peer: string, reason: string) => void;

/** Follows the connections of a server that are still below TLS, where a client may never get through its handshake; for as long as that may take. */
export function followHandshakes(server: Server, timeoutMs: number, failed?: HandshakeFailed): ReadonlySet<Socket> {
  const strangers = new Set<Socket>();
  /** As they came: of a socket that is gone nobody can tell any more. */
  const peers = new WeakMap<Socket, string>();
  server.on("connection", (socket: Socket) => {
    peers.set(socket, peerOf(socket));
    strangers.add(socket);
    // Not by "close", which these do not always tell once TLS has taken them over.
    setTimeout(() => strangers.delete(socket), timeoutMs).unref();
  });
  server.on("secureConnection", (socket) => {
    const below = belowOf(socket);
    if (below !== undefined) strangers.delete(below);
  });
  server.on("tlsClientError", (error, socket) => {
    // Of one that takes too long Node only tells, and whoever is told ends it.
    socket.destroy();
    const reason = reasonOf(error, socket);
    if (reason === undefined) return;
    const below = belowOf(socket);
    failed?.((below && peers.get(below)) ?? "unknown", reason);
  });
  return strangers;
}

function belowOf(socket: TLSSocket): Socket | undefined {
  return (socket as TLSSocket & { readonly _parent?: Socket })._parent;
}

/** In words, as far as the usual faults go; else by OpenSSL's code. Undefined where a client went away, as who looks whether a port is open does. */
function reasonOf({ code, message }: NodeJS.ErrnoException, { authorizationError }: TLSSocket): string | undefined {
  // Verified after the handshake: what ends the connection then is no error of its own.
  if (authorizationError) return `its certificate is not trusted (${authorizationError})`;
  if (code === "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE") return "it showed no certificate";
  if (code === "ERR_SSL_NO_APPLICATION_PROTOCOL") return "it offers other protocols than are spoken here (ALPN)";
  if (code === "ECONNRESET") return undefined;
  if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return "it took too long for the TLS handshake";
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_HTTP_REQUEST") return "it does not speak TLS";
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_\w+)$/.test(code ?? "")) {
    return `it does not trust the server's certificate (${code})`;
  }
  return `the TLS handshake failed (${code ?? message})`;
}
