import { type StatusCode, statusCode } from "@xdskit/protocol";
import { longestTimerMs } from "../../clock.js";
import { type Call, type ConnectionHandler, lastWordMs, type Refusal } from "../../transport.js";
import { acceptEncoding, plainStatus, responseHead, statusBlock } from "./grpc-status.js";
import { readGrpcTimeout } from "./grpc-timeout.js";
import { http2Error } from "./http2-errors.js";
import type { ServerStream, StreamHandler } from "./http2-stream.js";
import { createMessageReader } from "./message-reader.js";
import type { RequestHead } from "./request-head.js";

/** How long a client may take to read the response of a unary call, in milliseconds. Until then it is kept, and counts: nobody may keep it for ever. */
const unreadMs = 60_000;

/** A method as it is found by its path. */
export interface GrpcMethod {
  readonly unary: boolean;
  readonly accept: (call: Call) => ConnectionHandler | Refusal;
}

/** What all calls of a transport share. */
export interface GrpcContext {
  /** By path: `/service/Method`. */
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  readonly requestBytes: number;
  /** See `MessageReaderOptions`. */
  readonly hold: (bytes: number) => boolean;
}

/** Serves one gRPC call, streaming or unary, on an HTTP/2 stream. */
export function serveGrpc(context: GrpcContext, head: RequestHead, stream: ServerStream, peer: string): StreamHandler {
  const { headers } = head;
  if (head.method !== "POST") return refuseBy(stream, plainStatus(405));
  if (!/^application\/grpc($|[;+])/.test(headers.get("content-type") ?? "")) return refuseBy(stream, plainStatus(415));
  const refuse = (code: StatusCode, message: string) => refuseBy(stream, statusBlock(code, message, false));
  const method = context.methods.get(head.path);
  if (method === undefined) return refuse(statusCode.unimplemented, `there is no method ${head.path.slice(0, 200)}`);
  const encoding = headers.get("grpc-encoding") ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip" && encoding !== "deflate") {
    return refuseBy(stream, unknownEncoding);
  }

  const timeout = readGrpcTimeout(headers.get("grpc-timeout"));
  if (timeout === undefined) return refuse(statusCode.internal, "grpc-timeout is malformed");

  const { unary } = method;
  let handler: ConnectionHandler | undefined;
  let ended = false;
  let closed = false;
  /** Of a unary call: its answer goes out only with a status of OK. */
  let answer: readonly Uint8Array[] | undefined;
  let hasHead = false;
  let cutOff: NodeJS.Timeout | undefined;

  function send(parts: readonly Uint8Array[]): boolean {
    if (!hasHead) stream.respond(responseHead);
    hasHead = true;
    return stream.send(...parts);
  }

  function end(code: StatusCode, message: string): void {
    if (ended || closed) return;
    ended = true;
    reader.close();
    clearTimeout(deadline);
    if (unary && code === statusCode.ok && answer !== undefined) send(answer);
    const told = unary && code === statusCode.ok && answer === undefined ? statusCode.unavailable : code;
    // The status goes out once HTTP/2 has let go of all messages, which for a client that reads nothing is never.
    if (unary || told !== statusCode.ok) {
      cutOff = setTimeout(() => stream.reset(http2Error.cancel), unary ? unreadMs : lastWordMs).unref();
    }
    stream.end(statusBlock(told, message, hasHead));
  }

  const call: Call = {
    peer,
    send(body, tail) {
      if (ended || closed) return false;
      const prefix = Buffer.allocUnsafe(5);
      prefix[0] = 0;
      prefix.writeUInt32BE(body.byteLength + tail.byteLength, 1);
      if (!unary) return send([prefix, body, tail]);
      answer = [prefix, body, tail];
      return false;
    },
    end,
  };
  const request: { bytes: Uint8Array | undefined } = { bytes: undefined };
  const reader = createMessageReader({
    mostBytes: context.requestBytes,
    encoding: encoding === "identity" ? undefined : encoding,
    hold: context.hold,
    message(bytes) {
      if (!unary) handler?.received(bytes);
      else if (request.bytes === undefined) request.bytes = Buffer.from(bytes);
      else end(statusCode.unimplemented, "a unary call has one request");
    },
    ended() {
      if (unary) callUnary();
      else if (!ended && !closed) handler?.finished();
    },
    failed: end,
  });

  /** A unary call is accepted once its request is whole, so that a half one costs nothing behind here. */
  function callUnary(): void {
    if (ended || closed) return;
    if (request.bytes === undefined) {
      end(statusCode.internal, "a unary call without a request");
      return;
    }
    if (!accept()) return;
    handler?.received(request.bytes);
    if (!ended) handler?.finished();
  }

  function accept(): boolean {
    const accepted = (method as GrpcMethod).accept(call);
    if (!("code" in accepted)) {
      handler = accepted;
      return true;
    }
    end(accepted.code, accepted.message);
    return false;
  }

  const deadline = Number.isFinite(timeout)
    ? setTimeout(
        () => end(deadlineExceeded, "the client's deadline is over"),
        Math.min(timeout, longestTimerMs),
      ).unref()
    : undefined;
  if (!unary) accept();
  return {
    data: (bytes) => reader.receive(bytes),
    ended: () => reader.end(),
    drained() {
      if (!ended && !closed && !unary) handler?.drained();
    },
    closed() {
      closed = true;
      reader.close();
      clearTimeout(cutOff);
      clearTimeout(deadline);
      handler?.closed();
    },
  };
}

/** It says which are known, as gRPC wants it. */
const unknownEncoding = statusBlock(
  statusCode.unimplemented,
  "requests may be compressed by gzip or deflate only",
  false,
  [acceptEncoding],
);

const deadlineExceeded = 4 as StatusCode;

function refuseBy(stream: ServerStream, block: Uint8Array): StreamHandler {
  stream.end(block);
  return { data() {}, ended() {}, drained() {}, closed() {} };
}
