/// <reference types="node" preserve="true" />
import { constants, type IncomingHttpHeaders } from "node:http2";
import { redactErrorText } from "@xdskit/api";
import { grpcCode } from "@xdskit/grpc-server/messages";

/** How a stream ended. */
export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
}

const longestStatus = 200;

/** For a server that cannot be reached. */
export function unavailable(message: string): GrpcStatus {
  return { code: grpcCode.unavailable, message: shortStatus(message) };
}

/** The status in a response's headers or trailers; undefined where there is none. */
export function statusOfHeaders(headers: IncomingHttpHeaders): GrpcStatus | undefined {
  const { ":status": http } = headers as { readonly ":status"?: number };
  if (http !== undefined && http !== 200)
    return { code: grpcCode.unknown, message: `the server answered with HTTP ${http}` };
  const code = headers["grpc-status"];
  if (typeof code !== "string") return undefined;
  const text = headers["grpc-message"];
  return {
    code: /^\d+$/.test(code) ? Number(code) : grpcCode.unknown,
    message: shortStatus(decoded(String(text ?? ""))),
  };
}

/** The status of a stream that ended without one: from HTTP/2's error, as gRPC maps it. */
export function statusOfReset(rstCode: number | undefined, error: Error | undefined): GrpcStatus {
  const text = error?.message ?? "";
  switch (rstCode) {
    case constants.NGHTTP2_REFUSED_STREAM:
      return { code: grpcCode.unavailable, message: shortStatus(text || "the server refused the stream") };
    case constants.NGHTTP2_CANCEL:
      return { code: grpcCode.cancelled, message: shortStatus(text || "the server cancelled the stream") };
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return { code: grpcCode.resourceExhausted, message: shortStatus(text || "the server wants less of it") };
    case constants.NGHTTP2_INADEQUATE_SECURITY:
      return { code: grpcCode.permissionDenied, message: shortStatus(text || "the server wants more security") };
    case constants.NGHTTP2_NO_ERROR:
    case undefined:
      return unavailable(text || "the stream was closed without a status");
    default:
      return { code: grpcCode.internal, message: shortStatus(text || `the server reset the stream (${rstCode})`) };
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Texts with the same beginning are counted together. */
function shortStatus(text: string): string {
  return redactErrorText(text).slice(0, longestStatus);
}
