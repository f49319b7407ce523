import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import { belowTls } from "../node-internals/below-tls.js";
import { peerOf } from "./peer.js";

/** The time that a TLS handshake may take, and after it the preface of HTTP/2, in milliseconds. */
export const handshakeMs = 10_000;

/**
 * Called for a connection that could not be used, with its peer and the reason: its TLS handshake failed, or it speaks
 * another protocol than the port.
 */
export type HandshakeFailed = (peer: string, reason: string) => void;

/**
 * Follows sockets from accept to the end of their TLS handshake, which some clients never reach. Returns those that
 * are in it, for as long as a handshake may take.
 */
export function followHandshakes(server: Server, timeoutMs: number, failed?: HandshakeFailed): ReadonlySet<Socket> {
  const strangers = new Set<Socket>();
  /** Noted when they came: a socket that is gone does not know its peer any more. */
  const peers = new WeakMap<Socket, string>();
  server.on("connection", (socket: Socket) => {
    peers.set(socket, peerOf(socket).text);
    strangers.add(socket);
    // Not by "close": these sockets do not always emit it once TLS has taken them over.
    setTimeout(() => strangers.delete(socket), timeoutMs).unref();
  });
  server.on("secureConnection", (socket) => {
    const below = belowTls(socket);
    if (below !== undefined) strangers.delete(below);
  });
  server.on("tlsClientError", (error, socket) => {
    // Node only reports a handshake that takes too long; the listener must end it.
    socket.destroy();
    const reason = reasonOf(error, socket);
    if (reason === undefined) return;
    const below = belowTls(socket);
    failed?.((below && peers.get(below)) ?? "unknown", reason);
  });
  return strangers;
}

/**
 * The reason in words for the usual faults, otherwise OpenSSL's code. Undefined if the client went away, as a port
 * check does.
 */
function reasonOf({ code, message }: NodeJS.ErrnoException, { authorizationError }: TLSSocket): string | undefined {
  // The certificate is verified after the handshake: a failure then ends the connection without a separate error.
  if (authorizationError) {
    const isOld = String(authorizationError) === "CERT_HAS_EXPIRED";
    return `its certificate${isOld ? ", or that of an authority," : ""} is not trusted (${authorizationError})`;
  }
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
