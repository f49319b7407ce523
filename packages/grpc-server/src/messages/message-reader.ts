import { WaitingBytes } from "../bytes/waiting-bytes.js";
import { prefixBytes } from "./framing.js";
import { type GrpcCode, grpcCode } from "./grpc-code.js";
import { inflateMessage, type MessageEncoding } from "./inflate-message.js";

/** Receives the messages. */
export interface MessageSink {
  /** One message, whole; only good until the call returns. */
  message(bytes: Uint8Array): void;
  /** The end came, after all messages. */
  lastMessage(): void;
  /** Reading failed; nothing follows. */
  failed(code: GrpcCode, message: string): void;
}

/** Options for reading messages. */
export interface MessageReaderOptions {
  /** The largest message, in bytes, also after it was inflated. */
  readonly maxBytes: number;
  /** The request's `grpc-encoding`. Default: no message may be compressed. */
  readonly encoding?: MessageEncoding | undefined;
  /**
   * Called with the number of bytes that are retained in addition or, if negative, released: of messages that are not
   * whole yet, or wait to be inflated. If it returns a reason, no more of them are retained. Default: bytes are not
   * counted.
   */
  readonly hold?: ((bytes: number) => string | undefined) | undefined;
  /** Called if the sink throws for a message that was inflated: no caller of the reader waits for that. */
  readonly fault?: ((error: unknown) => void) | undefined;
  /** The noun for a message in errors. Default: `request`. */
  readonly noun?: string | undefined;
}

/**
 * Cuts the body of a gRPC call, in one direction, into messages. After `failed` or `close` it calls nothing any more.
 */
export class GrpcMessageReader {
  readonly #sink: MessageSink;
  readonly #maxBytes: number;
  readonly #encoding: MessageEncoding | undefined;
  readonly #hold: (bytes: number) => string | undefined;
  readonly #fault: ((error: unknown) => void) | undefined;
  readonly #noun: string;
  /** Undefined if no bytes wait. */
  #kept: WaitingBytes | undefined;
  /** Bytes of the waiting message with its prefix; undefined until the prefix came. */
  #needed: number | undefined;
  #isOver = false;
  #isEnding = false;
  /** A message is being inflated: later ones wait, so that they stay in order. */
  #isInflating = false;

  constructor(
    sink: MessageSink,
    { maxBytes, encoding, hold = () => undefined, fault, noun = "request" }: MessageReaderOptions,
  ) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
    this.#encoding = encoding;
    this.#hold = hold;
    this.#fault = fault;
    this.#noun = noun;
  }

  /** Bytes of a message that is not whole yet, or that waits for one before it. */
  get waiting(): number {
    return this.#kept?.length ?? 0;
  }

  /** Reads the bytes from `from` on; it copies those that it keeps. */
  receive(bytes: Buffer, from = 0): void {
    if (this.#isOver) return;
    if (this.#kept === undefined && !this.#isInflating) {
      this.#read(bytes, from);
      return;
    }
    if (!this.#add(bytes.subarray(from))) return;
    if (this.#isInflating) {
      if (this.waiting > 2 * this.#maxBytes)
        this.#fail(grpcCode.resourceExhausted, `${this.#noun}s come faster than they can be read`);
      return;
    }
    if (this.#needed !== undefined && this.waiting < this.#needed) return;
    this.#needed = undefined;
    this.#readAll();
  }

  end(): void {
    this.#isEnding = true;
    this.#finishIfDone();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#take()?.release();
  }

  #fail(code: GrpcCode, message: string): void {
    this.close();
    this.#sink.failed(code, message);
  }

  /** Keeps a copy. The claim of a reconnecting client is some frames long, and each copy of it counts. */
  #add(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    this.#kept ??= new WaitingBytes();
    const before = this.#kept.capacity;
    this.#kept.add(bytes, this.#needed);
    const more = this.#kept.capacity - before;
    const refused = more === 0 ? undefined : this.#hold(more);
    if (refused === undefined) return true;
    this.#fail(grpcCode.resourceExhausted, refused);
    return false;
  }

  /** The bytes that wait, which no longer count. */
  #take(): WaitingBytes | undefined {
    const kept = this.#kept;
    if (kept === undefined) return undefined;
    this.#kept = undefined;
    this.#hold(-kept.capacity);
    return kept;
  }

  #readAll(): void {
    const kept = this.#take();
    if (kept === undefined) return;
    try {
      this.#read(kept.bytes, 0);
    } finally {
      kept.release();
    }
  }

  /** Passes on the messages that are whole, and keeps the rest. */
  #read(bytes: Buffer, from: number): void {
    let at = from;
    while (!this.#isOver && !this.#isInflating && bytes.length - at >= prefixBytes) {
      const length = bytes.readUInt32BE(at + 1);
      if (length > this.#maxBytes) {
        this.#fail(grpcCode.resourceExhausted, `a ${this.#noun} of ${length} bytes is larger than ${this.#maxBytes}`);
        return;
      }
      const start = at + prefixBytes;
      if (bytes.length - start < length) {
        this.#needed = prefixBytes + length;
        break;
      }
      const isCompressed = bytes[at];
      at = start + length;
      const message = bytes.subarray(start, at);
      if (isCompressed === 0) this.#sink.message(message);
      else if (isCompressed === 1 && this.#encoding !== undefined) this.#inflate(this.#encoding, Buffer.from(message));
      else {
        this.#fail(grpcCode.internal, `a compressed ${this.#noun}, and no word of how`);
        return;
      }
    }
    if (!this.#isOver && at < bytes.length) this.#add(bytes.subarray(at));
  }

  #inflate(how: MessageEncoding, bytes: Buffer): void {
    this.#isInflating = true;
    const refused = this.#hold(bytes.length);
    const isWanted = () => {
      if (this.#isOver) this.#hold(-bytes.length);
      return !this.#isOver;
    };
    if (refused !== undefined) this.#fail(grpcCode.resourceExhausted, refused);
    inflateMessage(how, bytes, this.#maxBytes, isWanted, (result) => {
      this.#hold(-bytes.length);
      this.#isInflating = false;
      if (this.#isOver) return;
      if ("code" in result) {
        this.#fail(result.code, result.message);
        return;
      }
      this.#sink.message(result.bytes);
      if (this.#isOver) return;
      this.#readAll();
      this.#finishIfDone();
    }).catch(this.#fault);
  }

  #finishIfDone(): void {
    if (!this.#isEnding || this.#isOver || this.#isInflating) return;
    if (this.#kept !== undefined) {
      this.#fail(grpcCode.internal, `the stream ended in the middle of a ${this.#noun}`);
      return;
    }
    this.#isOver = true;
    this.#sink.lastMessage();
  }
}
