import { lastWordMs } from "../connection/connection-end.js";
import type { Http2Stream, Http2StreamHandler } from "../connection/http2-stream.js";
import type { RemakableBytes } from "../connection/outgoing-queue.js";
import { http2Error } from "../frames/http2-errors.js";
import type { HttpRequestHead } from "../frames/request-head.js";
import { type GrpcCode, grpcCode } from "../messages/grpc-code.js";
import type { MessageEncoding } from "../messages/inflate-message.js";
import { GrpcMessageReader, type MessageSink } from "../messages/message-reader.js";
import type { Peer } from "../sockets/peer.js";
import { longestTimerMs } from "../timing/longest-timer.js";
import type { Patience, Waited } from "../timing/patience.js";
import type { GrpcCall, GrpcCallHandler, GrpcMethod } from "./call.js";
import type { ConnectionUse } from "./client-use.js";
import { acceptEncoding, plainStatus, responseHead, statusBlock } from "./grpc-status.js";
import { readGrpcTimeout } from "./grpc-timeout.js";

/**
 * The time that a client may take to read the response of a unary call, in milliseconds. Until then the response is
 * kept and counts.
 */
const unreadMs = 60_000;

/** The parts that all calls of a connection share. */
export interface GrpcContext {
  /** By path: `/service/Method`. */
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  readonly requestBytes: number;
  readonly peer: Peer;
  readonly use: ConnectionUse;
  /** For requests that do not come, and for their missing parts. */
  readonly patience: Patience;
  /** Called for a call that was ended because of its client, before its handler is told. */
  readonly refused: (code: GrpcCode, message: string) => void;
  /** Called for a fault of the method outside of a read of the connection, which it ends. */
  readonly fault: (error: unknown) => void;
}

/** A client that sends a request at this many bytes a second has longer. */
const leastRate = 64 * 1024;

/** Serves one gRPC call, streaming or unary, on an HTTP/2 stream. */
export function serveGrpc(context: GrpcContext, head: HttpRequestHead, stream: Http2Stream): Http2StreamHandler {
  const { headers } = head;
  if (head.method !== "POST") return refuseBy(stream, plainStatus(405));
  if (!/^application\/grpc($|[;+])/.test(headers.get("content-type") ?? "")) return refuseBy(stream, plainStatus(415));
  const refuse = (code: GrpcCode, message: string) => refuseBy(stream, statusBlock(code, message, false));
  const method = context.methods.get(head.path);
  if (method === undefined) return refuse(grpcCode.unimplemented, `there is no method ${head.path.slice(0, 200)}`);
  const encoding = headers.get("grpc-encoding") ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip" && encoding !== "deflate") {
    return refuseBy(stream, unknownEncoding);
  }

  const timeout = readGrpcTimeout(headers.get("grpc-timeout"));
  if (timeout === undefined) return refuse(grpcCode.internal, "grpc-timeout is malformed");

  const call = new ServedCall(context, method, head, stream, encoding === "identity" ? undefined : encoding);
  call.open(timeout);
  return call;
}

/** The request of a unary call, and its answer, which goes out only with status OK. */
interface UnaryExchange {
  request: Uint8Array | undefined;
  answer: readonly [body: Uint8Array, tail: Uint8Array, again: RemakableBytes | undefined] | undefined;
}

/** One call: the server's `GrpcCall`, the handler of its HTTP/2 stream, and the sink of its messages. */
class ServedCall implements GrpcCall, Http2StreamHandler, MessageSink, Waited {
  readonly #context: GrpcContext;
  readonly #method: GrpcMethod;
  /** The request, until the method has it. */
  #head: HttpRequestHead | undefined;
  readonly #stream: Http2Stream;
  readonly #reader: GrpcMessageReader;
  since = 0;
  due = 0;
  /** The first request came whole; for a unary call, the end came too. */
  #wasAsked = false;
  #handler: GrpcCallHandler | undefined;
  /** `ended`: its status is on the way. `closed`: the stream is gone. */
  #phase: "open" | "ended" | "closed" = "open";
  #hasHead = false;
  readonly #unary: UnaryExchange | undefined;
  #cutOff: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    context: GrpcContext,
    method: GrpcMethod,
    head: HttpRequestHead,
    stream: Http2Stream,
    encoding: MessageEncoding | undefined,
  ) {
    this.#head = head;
    this.#context = context;
    this.#method = method;
    this.#unary = method.unary ? { request: undefined, answer: undefined } : undefined;
    this.#stream = stream;
    const { requestBytes: maxBytes, use, fault } = context;
    this.#reader = new GrpcMessageReader(this, { maxBytes, encoding, hold: use.hold, fault });
  }

  get peer(): string {
    return this.#context.peer.text;
  }

  /** Begins the call; `timeout` is the time that is left, in milliseconds. */
  open(timeout: number): void {
    if (Number.isFinite(timeout)) {
      const late = () => this.#guard(() => this.end(grpcCode.deadlineExceeded, "the client's deadline is over"));
      this.#deadline = setTimeout(late, Math.min(timeout, longestTimerMs)).unref();
    }
    const refused = this.#context.use.openStream();
    if (refused !== undefined) {
      this.failed(grpcCode.resourceExhausted, refused);
      return;
    }
    this.#context.patience.begin(this);
    if (this.#unary === undefined) this.#accept();
  }

  send(body: Uint8Array, tail: Uint8Array = nothing, again?: RemakableBytes): boolean {
    if (this.#phase !== "open") return false;
    if (this.#unary === undefined) return this.#send(body, tail, again);
    this.#unary.answer = [body, tail, again];
    return false;
  }

  end(code: GrpcCode, message: string): void {
    if (this.#phase !== "open") return;
    this.#phase = "ended";
    this.#reader.close();
    this.#context.patience.end(this);
    clearTimeout(this.#deadline);
    const unary = this.#unary;
    let sentCode = code;
    if (unary !== undefined && code === grpcCode.ok) {
      if (unary.answer === undefined) sentCode = grpcCode.unavailable;
      else this.#send(...unary.answer);
      unary.answer = undefined;
    }
    // The status goes out once all messages have left the queue, which never happens if the client reads nothing.
    if (unary !== undefined || sentCode !== grpcCode.ok) {
      const cutOff = () => this.#guard(() => this.#stream.reset(http2Error.cancel));
      this.#cutOff = setTimeout(cutOff, unary === undefined ? lastWordMs : unreadMs).unref();
    }
    this.#stream.end(statusBlock(sentCode, message, this.#hasHead));
  }

  get isInSync(): boolean | undefined {
    return this.#handler?.isInSync;
  }

  data(bytes: Buffer, from: number): void {
    this.#reader.receive(bytes, from);
    if (this.#isLacking !== this.due > 0) this.#waitOrNot();
  }

  /** The client still has to send its first request, or the rest of one. */
  get #isLacking(): boolean {
    return this.#phase === "open" && (!this.#wasAsked || this.#reader.waiting > 0);
  }

  #waitOrNot(): void {
    if (this.#isLacking) this.#context.patience.begin(this);
    else this.#context.patience.end(this);
  }

  get grantedMs(): number {
    return (this.#reader.waiting / leastRate) * 1_000;
  }

  late(): void {
    // A message that waited for another one may have been read with that one.
    if (!this.#isLacking) return;
    const message = this.#reader.waiting > 0 ? restIsLate : requestIsLate;
    this.#guard(() => this.failed(grpcCode.deadlineExceeded, message));
  }

  /** For what a timer does: nobody else would catch a fault. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#context.fault(error);
    }
  }

  ended(): void {
    this.#reader.end();
  }

  drained(): void {
    if (this.#phase === "open" && this.#unary === undefined) this.#handler?.drained();
  }

  stopped(): void {
    this.end(grpcCode.ok, "");
  }

  closed(): void {
    this.#phase = "closed";
    this.#reader.close();
    this.#context.patience.end(this);
    this.#context.use.closeStream();
    clearTimeout(this.#cutOff);
    clearTimeout(this.#deadline);
    this.#handler?.closed();
  }

  message(bytes: Uint8Array): void {
    if (this.#unary === undefined) this.#wasAsked = true;
    if (this.due > 0) this.#context.patience.begin(this);
    if (this.#unary === undefined) this.#handler?.received(bytes);
    else if (this.#unary.request === undefined) this.#unary.request = Buffer.from(bytes);
    else this.end(grpcCode.unimplemented, "a unary call has one request");
  }

  lastMessage(): void {
    this.#wasAsked = true;
    this.#context.patience.end(this);
    if (this.#unary !== undefined) this.#callUnary(this.#unary);
    else if (this.#phase === "open") this.#handler?.finished();
  }

  failed(code: GrpcCode, message: string): void {
    if (this.#phase === "open") this.#context.refused(code, message);
    this.end(code, message);
  }

  #send(body: Uint8Array, tail: Uint8Array = nothing, again: RemakableBytes | undefined): boolean {
    if (!this.#hasHead) this.#stream.respond(responseHead);
    this.#hasHead = true;
    const length = body.length + tail.length;
    prefix[1] = length >>> 24;
    prefix[2] = length >>> 16;
    prefix[3] = length >>> 8;
    prefix[4] = length;
    return this.#stream.send(prefix, body, tail, again);
  }

  /** A unary call is accepted once its request is whole, so that half a request costs the method nothing. */
  #callUnary({ request }: UnaryExchange): void {
    if (this.#phase !== "open") return;
    if (request === undefined) {
      this.end(grpcCode.internal, "a unary call without a request");
      return;
    }
    if (!this.#accept()) return;
    this.#handler?.received(request);
    if (this.#phase === "open") this.#handler?.finished();
  }

  #accept(): boolean {
    const { path, headers } = this.#head as HttpRequestHead;
    this.#head = undefined;
    const accepted = this.#method.accept(this, { path, headers, peer: this.#context.peer });
    if (!("code" in accepted)) {
      this.#handler = accepted;
      return true;
    }
    this.end(accepted.code, accepted.message);
    return false;
  }
}

/** The prefix of each message: not compressed, and its length. A stream copies it, so one is enough for all. */
const prefix = new Uint8Array(5);

const nothing = new Uint8Array(0);

/** gRPC requires that the answer names the known encodings. */
const unknownEncoding = statusBlock(
  grpcCode.unimplemented,
  "requests may be compressed by gzip or deflate only",
  false,
  [acceptEncoding],
);

const requestIsLate = "a stream was opened, and no request came in time";
const restIsLate = "a request began, and its rest did not come in time";

function refuseBy(stream: Http2Stream, block: Uint8Array): Http2StreamHandler {
  stream.end(block);
  return { data() {}, ended() {}, drained() {}, stopped() {}, closed() {} };
}
