import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { getOrInsert } from "@xdskit/api";
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
import { callListener } from "../basics/call-listener.js";
import { problem } from "./rest/write-answer.js";

/**
 * Answers what Node's server cannot read as a request, and tells of connections that fail in TLS, or speak another
 * protocol. Returns the sockets in their TLS handshake, which have no request yet.
 */
export function followRefused(
  server: Server,
  tls: RevocableTls | undefined,
  listeners: readonly HandshakeFailed[] = [],
): ReadonlySet<Socket> {
  const refused: HandshakeFailed = (...refusal) => {
    for (const listener of listeners) callListener("a listener of refused connections", () => listener(...refusal));
  };
  const isAnswering = followAnswers(server);
  server.on("clientError", (error: UnreadRequest, duplex) => {
    const socket = duplex as Socket;
    const foreign = foreignToHttp1(error);
    if (foreign !== undefined) refused(peerOf(socket).text, foreign);
    answerBadRequest(error, socket, isAnswering(socket));
  });
  if (!(server instanceof TlsServer)) return new Set();
  followRevoked(server, tls ?? {}, refused);
  return followHandshakes(server, tls?.handshakeTimeout ?? handshakeMs, refused);
}

/** Returns a function that tells whether a connection has an answer that has begun, and not ended. */
function followAnswers(server: Server): (socket: Socket) => boolean {
  const answers = new WeakMap<Socket, Set<ServerResponse>>();
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const open = getOrInsert(answers, socket, () => new Set());
    open.add(response);
    response.on("close", () => open.delete(response));
  });
  return (socket) =>
    [...(answers.get(socket) ?? [])].some(({ headersSent, writableEnded }) => headersSent && !writableEnded);
}

/**
 * Answers bytes that Node's parser cannot read as a request, unless that came into an answer under way, and closes the
 * connection once what was written is sent; after a failed TLS handshake at once.
 */
function answerBadRequest(error: NodeJS.ErrnoException, socket: Socket, isAnswering: boolean): void {
  if (error.code === "ECONNRESET" || /^ERR_(SSL|TLS)_/.test(error.code ?? "") || !socket.writable) {
    socket.destroy();
    return;
  }
  if (!isAnswering) socket.write(badRequestAnswer(error));
  // After `end` alone it would stay until its client ends it, too.
  socket.destroySoon();
}

function badRequestAnswer({ code = "" }: NodeJS.ErrnoException): Buffer {
  const [status, title, detail] = badRequests[code] ?? [400, "Bad Request", "this is not HTTP/1.1"];
  const body = problem(status, detail);
  const head = `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.byteLength}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

const badRequests: Readonly<Record<string, readonly [status: number, title: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "the headers are too large"],
};
