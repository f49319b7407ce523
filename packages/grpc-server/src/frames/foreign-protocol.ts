import { ConnectionError, http2Error } from "./http2-errors.js";

/** The peer speaks another protocol than HTTP/2; the message says what to do. */
export class ForeignProtocol extends ConnectionError {
  constructor(message: string) {
    super(http2Error.protocolError, message);
  }
}

const proxyHeader =
  "it begins with a header of the PROXY protocol, which is not read here: have the balancer before this port send none";
const http1 =
  "it speaks HTTP/1.1, and gRPC needs HTTP/2: have the balancer before this port speak HTTP/2 to it, or pass TCP through; polls (REST) have a port of their own";
const tls =
  "it speaks TLS, and this port is plaintext: give the server a certificate, or have the client connect without TLS";

const http2 = "it speaks HTTP/2, and this port speaks HTTP/1.1; gRPC has a port of its own";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];

/** How other protocols begin, and what to do. */
type Beginnings = readonly (readonly [bytes: string, what: string])[];

const neitherHttp: Beginnings = [
  ["PROXY ", proxyHeader],
  ["\r\n\r\n\0\r\nQ", proxyHeader],
  ["\u0016\u0003", tls],
];
const beforeHttp2: Beginnings = [...neitherHttp, ...methods.map((method) => [`${method} `, http1] as const)];

/** The error for the first bytes of a connection that are not HTTP/2. */
export function notHttp2(bytes: Buffer): ConnectionError {
  const what = whatBegins(beforeHttp2, bytes);
  if (what !== undefined) return new ForeignProtocol(what);
  return new ConnectionError(http2Error.protocolError, "this is not HTTP/2");
}

/** Node's error about what its parser cannot read, with the last bytes that came. */
export interface UnreadRequest extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** What to do about a connection that Node cannot read on a port for HTTP/1.1; undefined: its bytes say nothing. */
export function foreignToHttp1({ code, rawPacket }: UnreadRequest): string | undefined {
  // The parser knows the preface, in however many pieces it comes.
  if (code === "HPE_PAUSED_H2_UPGRADE") return http2;
  return rawPacket && whatBegins(neitherHttp, rawPacket);
}

function whatBegins(beginnings: Beginnings, bytes: Buffer): string | undefined {
  const text = bytes.toString("latin1");
  return beginnings.find(([begins]) => text.startsWith(begins))?.[1];
}
