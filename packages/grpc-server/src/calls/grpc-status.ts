import { encodeHeaders } from "../hpack/header-encoder.js";
import type { GrpcCode } from "../messages/grpc-code.js";

const contentType = ["content-type", "application/grpc"] as const;
/** The encodings of compressed requests. */
export const acceptEncoding: readonly [string, string] = ["grpc-accept-encoding", "identity,gzip,deflate"];

/**
 * The head of every response that has messages. Nothing is compressed; it names the encodings that requests may have.
 */
export const responseHead: Uint8Array = encodeHeaders([[":status", "200"], contentType, acceptEncoding]);

const okTrailers: Uint8Array = encodeHeaders([["grpc-status", "0"]]);

/**
 * The end of a response: its status after messages (`afterHead`) or as the whole response, with other fields
 * (`besides`).
 */
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

/** A plain HTTP answer for clients that do not speak gRPC. */
export function plainStatus(status: 405 | 415): Uint8Array {
  return encodeHeaders([[":status", String(status)]]);
}

const longestMessage = 2_000;

/** In gRPC's form: printable ASCII, everything else as UTF-8 in percent form. */
function encodeMessage(message: string): string {
  const bytes = Buffer.from(message.slice(0, longestMessage), "utf8");
  let text = "";
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text.trim();
}
