import { type StatusCode, statusCode } from "@xdskit/protocol";
import { inflateMessage, type MessageEncoding } from "./inflate-message.js";
import { spareMemory } from "./spare-memory.js";

/** Whether a message is compressed, and its length. */
const prefixBytes = 5;
/** So many times what came of a message may be kept for it. */
const mostGrowth = 8;

/** Who is told of messages. */
export interface MessageSink {
  /** One message, whole; only good until the call returns. */
  message(bytes: Uint8Array): void;
  /** All messages before the end were told. */
  lastMessage(): void;
  /** Nothing is told behind this. */
  failed(code: StatusCode, message: string): void;
}

/** Cuts the body of a gRPC request into messages. After `failed`, or `close`, nothing is told any more. */
export class MessageReader {
  readonly #sink: MessageSink;
  readonly #mostBytes: number;
  readonly #encoding: MessageEncoding | undefined;
  readonly #hold: (bytes: number) => string | undefined;
  /** Begins with what waits, and may have room for more. */
  #kept = nothing;
  #waiting = 0;
  /** How many bytes the message that waits has, with its prefix; undefined until that came. */
  #needed: number | undefined;
  #isOver = false;
  #isEnding = false;
  /** A message is being inflated: those behind it wait, so that they stay in order. */
  #isInflating = false;

  /**
   * `mostBytes`: the largest message, also after it was inflated. `encoding`: what `grpc-encoding` says. `hold` is told how many bytes more, or less, are held
   * of messages of which the rest has not come, or that wait to be inflated; where it says why, no more are to be held.
   */
  constructor(
    sink: MessageSink,
    mostBytes: number,
    encoding: MessageEncoding | undefined,
    hold: (bytes: number) => string | undefined,
  ) {
    this.#sink = sink;
    this.#mostBytes = mostBytes;
    this.#encoding = encoding;
    this.#hold = hold;
  }

  /** Bytes of a message of which the rest has not come, or that waits for one before it. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The bytes from there on; they are copied where they are kept. */
  receive(bytes: Buffer, from = 0): void {
    if (this.#isOver) return;
    if (this.#waiting === 0 && !this.#isInflating) {
      this.#read(bytes, from);
      return;
    }
    if (!this.#add(bytes.subarray(from))) return;
    if (this.#isInflating) {
      if (this.#waiting > 2 * this.#mostBytes)
        this.#fail(statusCode.resourceExhausted, "requests come faster than they can be read");
      return;
    }
    if (this.#needed !== undefined && this.#waiting < this.#needed) return;
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
    if (this.#waiting > 0) this.#hold(-this.#kept.length);
    this.#kept = nothing;
    this.#waiting = 0;
  }

  #fail(code: StatusCode, message: string): void {
    this.close();
    this.#sink.failed(code, message);
  }

  #add(bytes: Buffer): boolean {
    const before = this.#kept;
    const waiting = this.#waiting + bytes.length;
    if (waiting > before.length) {
      // At once as much as the message needs where that is not far: a claim of a fleet that comes back is some frames long, and each copy of it counts. Where
      // nobody knows how much comes, twice as much, so that what comes in small parts is not copied for each of them.
      const room = this.#needed === undefined ? 2 * before.length : Math.min(this.#needed, mostGrowth * waiting);
      this.#kept = spareMemory.take(Math.max(waiting, room));
      before.copy(this.#kept, 0, 0, this.#waiting);
      spareMemory.give(before);
    }
    // A copy: what comes with it is not ours, and is larger.
    bytes.copy(this.#kept, this.#waiting);
    this.#waiting = waiting;
    const refused = this.#kept === before ? undefined : this.#hold(this.#kept.length - before.length);
    if (refused === undefined) return true;
    this.#fail(statusCode.resourceExhausted, refused);
    return false;
  }

  #readAll(): void {
    const kept = this.#kept;
    const waiting = this.#waiting;
    this.#hold(-kept.length);
    this.#kept = nothing;
    this.#waiting = 0;
    this.#read(kept.subarray(0, waiting), 0);
    // Whoever was told of a message is done with its bytes, and a rest was copied.
    spareMemory.give(kept);
  }

  /** Tells what is whole in these bytes, and keeps the rest. */
  #read(bytes: Buffer, from: number): void {
    let at = from;
    while (!this.#isOver && !this.#isInflating && bytes.length - at >= prefixBytes) {
      const length = bytes.readUInt32BE(at + 1);
      if (length > this.#mostBytes) {
        this.#fail(statusCode.resourceExhausted, `a request of ${length} bytes is larger than ${this.#mostBytes}`);
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
        this.#fail(statusCode.internal, "a compressed request, and no word of how");
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
    if (refused !== undefined) this.#fail(statusCode.resourceExhausted, refused);
    void inflateMessage(how, bytes, this.#mostBytes, isWanted, (result) => {
      this.#hold(-bytes.length);
      this.#isInflating = false;
      if (this.#isOver) return;
      if ("code" in result) {
        this.#fail(result.code, result.message);
        return;
      }
      this.#sink.message(result.bytes);
      if (this.#isOver) return;
      if (this.#waiting > 0) this.#readAll();
      this.#finishIfDone();
    });
  }

  #finishIfDone(): void {
    if (!this.#isEnding || this.#isOver || this.#isInflating) return;
    if (this.#waiting > 0) {
      this.#fail(statusCode.internal, "the stream ended in the middle of a request");
      return;
    }
    this.#isOver = true;
    this.#sink.lastMessage();
  }
}

const nothing = Buffer.alloc(0);
