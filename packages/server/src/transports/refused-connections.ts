import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Server as TlsServer } from "node:tls";
import {
  followHandshakes,
  followRevoked,
  foreignToHttp1,
  type HandshakeFailed,
  handshakeMs,
  peerOf,
  type RevocableTls,
  type UnreadRequest,
} from "@xdskit/grpc-server";
import { problem } from "./rest/write-answer.js";

/**
 * Answers what Node's server cannot read as a request, and tells of connections that fail in TLS, or speak another
 * protocol. Returns the sockets in their TLS handshake, which have no request yet.
 */
export function followRefused(
  server: Server,
  tls: RevocableTls | undefined,
  refused?: HandshakeFailed,
): ReadonlySet<Socket> {
  server.on("clientError", (error: UnreadRequest, socket) => {
    const foreign = foreignToHttp1(error);
    if (foreign !== undefined) refused?.(peerOf(socket as Socket).text, foreign);
    answerBadRequest(error, socket);
  });
  if (!(server instanceof TlsServer)) return new Set();
  followRevoked(server, tls ?? {}, refused);
  return followHandshakes(server, tls?.handshakeTimeout ?? handshakeMs, refused);
}

/** Answers bytes that Node's parser cannot read as a request; a failed TLS connection is closed. */
function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || /^ERR_(SSL|TLS)_/.test(error.code ?? "") || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, title, detail] = badRequests[error.code ?? ""] ?? [400, "Bad Request", "this is not HTTP/1.1"];
  const body = problem(status, detail);
  const head = `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.byteLength}\r\n\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), body]));
}

const badRequests: Readonly<Record<string, readonly [status: number, title: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "the headers are too large"],
};
