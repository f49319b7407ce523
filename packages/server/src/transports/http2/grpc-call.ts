import { type ResponseBody, type StatusCode, statusCode } from "@xdskit/protocol";
import { longestTimerMs } from "../../clock.js";
import { type Call, type ConnectionHandler, lastWordMs, type Refusal } from "../../transport.js";
import type { ConnectionUse } from "./client-use.js";
import { acceptEncoding, plainStatus, responseHead, statusBlock } from "./grpc-status.js";
import { readGrpcTimeout } from "./grpc-timeout.js";
import { http2Error } from "./http2-errors.js";
import type { ServerStream, StreamHandler } from "./http2-stream.js";
import type { MessageEncoding } from "./inflate-message.js";
import { MessageReader, type MessageSink } from "./message-reader.js";
import type { Patience, Waited } from "./patience.js";
import type { RequestHead } from "./request-head.js";

/** How long a client may take to read the response of a unary call, in milliseconds. Until then it is kept, and counts: nobody may keep it for ever. */
const unreadMs = 60_000;

/** A method as it is found by its path. */
export interface GrpcMethod {
  readonly unary: boolean;
  readonly accept: (call: Call) => ConnectionHandler | Refusal;
}

/** What all calls of a connection share. */
export interface GrpcContext {
  /** By path: `/service/Method`. */
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  readonly requestBytes: number;
  readonly peer: string;
  readonly use: ConnectionUse;
  /** For requests that do not come, and their rests. */
  readonly patience: Patience;
  /** Hears of a call that was ended for what its client did, before anybody else heard of that. */
  readonly refused: (code: StatusCode, message: string) => void;
}

/** Who sends so many bytes of a request each second is waited for longer. */
const leastRate = 64 * 1024;

/** Serves one gRPC call, streaming or unary, on an HTTP/2 stream. */
export function serveGrpc(context: GrpcContext, head: RequestHead, stream: ServerStream): StreamHandler {
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

  const call = new GrpcCall(context, method, stream, encoding === "identity" ? undefined : encoding);
  call.open(timeout);
  return call;
}

/** One call: what the server has of it, what its stream tells, and what is made of the stream's bytes. */
class GrpcCall implements Call, StreamHandler, MessageSink, Waited {
  readonly #context: GrpcContext;
  readonly #method: GrpcMethod;
  readonly #stream: ServerStream;
  readonly #reader: MessageReader;
  since = 0;
  due = 0;
  /** Its first request came whole; of a unary call, and its end. */
  #wasAsked = false;
  #handler: ConnectionHandler | undefined;
  #isEnded = false;
  #isClosed = false;
  #hasHead = false;
  /** Of a unary call: its request, and its answer, which goes out only with a status of OK. */
  #request: Uint8Array | undefined;
  #answer: readonly [body: Uint8Array, tail: Uint8Array, again: ResponseBody | undefined] | undefined;
  #cutOff: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(context: GrpcContext, method: GrpcMethod, stream: ServerStream, encoding: MessageEncoding | undefined) {
    this.#context = context;
    this.#method = method;
    this.#stream = stream;
    this.#reader = new MessageReader(this, context.requestBytes, encoding, context.use.hold);
  }

  get peer(): string {
    return this.#context.peer;
  }

  /** Begins, with so many milliseconds left. */
  open(timeout: number): void {
    if (Number.isFinite(timeout)) {
      const late = () => this.end(deadlineExceeded, "the client's deadline is over");
      this.#deadline = setTimeout(late, Math.min(timeout, longestTimerMs)).unref();
    }
    const refused = this.#context.use.openStream();
    if (refused !== undefined) {
      this.failed(statusCode.resourceExhausted, refused);
      return;
    }
    this.#context.patience.begin(this);
    if (!this.#method.unary) this.#accept();
  }

  send(body: Uint8Array, tail: Uint8Array, again?: ResponseBody): boolean {
    if (this.#isEnded || this.#isClosed) return false;
    if (!this.#method.unary) return this.#send(body, tail, again);
    this.#answer = [body, tail, again];
    return false;
  }

  end(code: StatusCode, message: string): void {
    if (this.#isEnded || this.#isClosed) return;
    this.#isEnded = true;
    this.#reader.close();
    this.#context.patience.end(this);
    clearTimeout(this.#deadline);
    const { unary } = this.#method;
    let told = code;
    if (unary && code === statusCode.ok) {
      if (this.#answer === undefined) told = statusCode.unavailable;
      else this.#send(...this.#answer);
      this.#answer = undefined;
    }
    // The status goes out once HTTP/2 has let go of all messages, which for a client that reads nothing is never.
    if (unary || told !== statusCode.ok) {
      const cutOff = () => this.#stream.reset(http2Error.cancel);
      this.#cutOff = setTimeout(cutOff, unary ? unreadMs : lastWordMs).unref();
    }
    this.#stream.end(statusBlock(told, message, this.#hasHead));
  }

  get isSettled(): boolean | undefined {
    return this.#handler?.isSettled;
  }

  data(bytes: Buffer, from: number): void {
    this.#reader.receive(bytes, from);
    if (this.#isLacking !== this.due > 0) this.#waitOrNot();
  }

  /** A request, or a part of one, is to come now. */
  get #isLacking(): boolean {
    return !this.#isEnded && !this.#isClosed && (!this.#wasAsked || this.#reader.waiting > 0);
  }

  #waitOrNot(): void {
    if (this.#isLacking) this.#context.patience.begin(this);
    else this.#context.patience.end(this);
  }

  get grantedMs(): number {
    return (this.#reader.waiting / leastRate) * 1_000;
  }

  late(): void {
    // What waited for a message before it may have been read with that one.
    if (this.#isLacking) this.failed(deadlineExceeded, this.#reader.waiting > 0 ? restIsLate : requestIsLate);
  }

  ended(): void {
    this.#reader.end();
  }

  drained(): void {
    if (!this.#isEnded && !this.#isClosed && !this.#method.unary) this.#handler?.drained();
  }

  stopped(): void {
    this.end(statusCode.ok, "");
  }

  closed(): void {
    this.#isClosed = true;
    this.#reader.close();
    this.#context.patience.end(this);
    this.#context.use.closeStream();
    clearTimeout(this.#cutOff);
    clearTimeout(this.#deadline);
    this.#handler?.closed();
  }

  message(bytes: Uint8Array): void {
    if (!this.#method.unary) this.#wasAsked = true;
    if (this.due > 0) this.#context.patience.begin(this);
    if (!this.#method.unary) this.#handler?.received(bytes);
    else if (this.#request === undefined) this.#request = Buffer.from(bytes);
    else this.end(statusCode.unimplemented, "a unary call has one request");
  }

  lastMessage(): void {
    this.#wasAsked = true;
    this.#context.patience.end(this);
    if (this.#method.unary) this.#callUnary();
    else if (!this.#isEnded && !this.#isClosed) this.#handler?.finished();
  }

  failed(code: StatusCode, message: string): void {
    if (!this.#isEnded && !this.#isClosed) this.#context.refused(code, message);
    this.end(code, message);
  }

  #send(body: Uint8Array, tail: Uint8Array, again: ResponseBody | undefined): boolean {
    if (!this.#hasHead) this.#stream.respond(responseHead);
    this.#hasHead = true;
    const length = body.length + tail.length;
    prefix[1] = length >>> 24;
    prefix[2] = length >>> 16;
    prefix[3] = length >>> 8;
    prefix[4] = length;
    return this.#stream.send(prefix, body, tail, again);
  }

  /** A unary call is accepted once its request is whole, so that a half one costs nothing behind here. */
  #callUnary(): void {
    if (this.#isEnded || this.#isClosed) return;
    if (this.#request === undefined) {
      this.end(statusCode.internal, "a unary call without a request");
      return;
    }
    if (!this.#accept()) return;
    this.#handler?.received(this.#request);
    if (!this.#isEnded) this.#handler?.finished();
  }

  #accept(): boolean {
    const accepted = this.#method.accept(this);
    if (!("code" in accepted)) {
      this.#handler = accepted;
      return true;
    }
    this.end(accepted.code, accepted.message);
    return false;
  }
}

/** Before each message: that it is not compressed, and its length. A stream copies it, so that one is enough for all. */
const prefix = new Uint8Array(5);

/** It says which are known, as gRPC wants it. */
const unknownEncoding = statusBlock(
  statusCode.unimplemented,
  "requests may be compressed by gzip or deflate only",
  false,
  [acceptEncoding],
);

const deadlineExceeded = 4 as StatusCode;
const requestIsLate = "a stream was opened, and no request came in time";
const restIsLate = "a request began, and its rest did not come in time";

function refuseBy(stream: ServerStream, block: Uint8Array): StreamHandler {
  stream.end(block);
  return { data() {}, ended() {}, drained() {}, stopped() {}, closed() {} };
}
