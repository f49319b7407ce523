import type { ServerHttp2Stream } from "node:http2";
import { Duplex } from "node:stream";

/** The HTTP/2 stream of a call: gRPC's API can neither reset it nor tell when it is gone, so it is taken from inside of grpc-js. */
export function http2StreamOf(call: object): ServerHttp2Stream | undefined {
  const inner: unknown = Reflect.get(call, "call");
  if (typeof inner !== "object" || inner === null) return undefined;
  const stream: unknown = Reflect.get(inner, "stream");
  return isHttp2Stream(stream) ? stream : undefined;
}

function isHttp2Stream(value: unknown): value is ServerHttp2Stream {
  return value instanceof Duplex && "rstCode" in value;
}
