import { encodeHeaders } from "../hpack/header-encoder.js";
import type { GrpcCode } from "../messages/grpc-code.js";

const contentType = ["content-type", "application/grpc"] as const;
/** How requests may be compressed. */
export const acceptEncoding: readonly [string, string] = ["grpc-accept-encoding", "identity,gzip,deflate"];

/** The head of every response that has messages. Nothing is compressed; what may come compressed is said. */
export const responseHead: Uint8Array = encodeHeaders([[":status", "200"], contentType, acceptEncoding]);

const okTrailers: Uint8Array = encodeHeaders([["grpc-status", "0"]]);

/** What ends a response: its status, behind messages (`afterHead`) or as all there is; and what it says `besides`. */
export function statusBlock(
  code: GrpcCode,
  message: string,
  afterHead: boolean,
  besides: readonly (readonly [string, string])[] = [],
): Uint8Array {
  if (code === 0 && afterHead) return okTrailers;
  const status: (readonly [string, string])[] = [...besides, ["grpc-status", String(code)]];
  if (message !== "") status.push(["grpc-message", encodeMessage(message)]);
  return encodeHeaders(afterHead ? status : [[":status", "200"], contentType, ...status]);
}

/** An answer of HTTP alone, to who speaks no gRPC. */
export function plainStatus(status: 405 | 415): Uint8Array {
  return encodeHeaders([[":status", String(status)]]);
}

const longestMessage = 2_000;

/** As gRPC wants it: printable ASCII, all else as UTF-8 in percent form. */
function encodeMessage(message: string): string {
  const bytes = Buffer.from(message.slice(0, longestMessage), "utf8");
  let text = "";
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text.trim();
}
