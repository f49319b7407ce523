import { type StatusCode, statusCode } from "@xdskit/protocol";
import { inflateMessage, type MessageEncoding } from "./inflate-message.js";

/** Whether a message is compressed, and its length. */
const prefixBytes = 5;
const tooManyHeld = "too many requests are under way of which the rest has not come";

/** What a reader of messages needs and tells. */
export interface MessageReaderOptions {
  /** The largest message, also after it was inflated. */
  readonly mostBytes: number;
  /** What `grpc-encoding` says. */
  readonly encoding: MessageEncoding | undefined;
  /** How many bytes more, or less, are held of messages of which the rest has not come, or that wait to be inflated. False: no more are to be held. */
  readonly hold: (bytes: number) => boolean;
  readonly message: (bytes: Uint8Array) => void;
  /** All messages before the end were told. */
  readonly ended: () => void;
  readonly failed: (code: StatusCode, message: string) => void;
}

/** Cuts the body of a gRPC request into messages. After `failed`, or `close`, nothing is told any more. */
export interface MessageReader {
  receive(bytes: Buffer): void;
  end(): void;
  close(): void;
}

/** Makes the reader of one call. */
export function createMessageReader(options: MessageReaderOptions): MessageReader {
  const { mostBytes, encoding } = options;
  let parts: Buffer[] = [];
  let waiting = 0;
  /** How many bytes the message that begins at the first part has, with its prefix; undefined until that came. */
  let needed: number | undefined;
  let isOver = false;
  let isEnding = false;
  /** A message is being inflated: those behind it wait, so that they stay in order. */
  let isInflating = false;

  function fail(code: StatusCode, message: string): void {
    close();
    options.failed(code, message);
  }

  function close(): void {
    isOver = true;
    options.hold(-waiting);
    parts = [];
    waiting = 0;
  }

  function add(bytes: Buffer): boolean {
    // A copy: what comes with it is not ours, and is larger.
    parts.push(Buffer.from(bytes));
    waiting += bytes.length;
    if (options.hold(bytes.length)) return true;
    fail(statusCode.resourceExhausted, tooManyHeld);
    return false;
  }

  function takeAll(): Buffer {
    const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, waiting);
    options.hold(-waiting);
    parts = [];
    waiting = 0;
    return bytes;
  }

  /** Tells what is whole in these bytes, and keeps the rest. */
  function read(bytes: Buffer): void {
    let at = 0;
    while (!isOver && !isInflating && bytes.length - at >= prefixBytes) {
      const length = bytes.readUInt32BE(at + 1);
      if (length > mostBytes) {
        fail(statusCode.resourceExhausted, `a request of ${length} bytes is larger than ${mostBytes}`);
        return;
      }
      const start = at + prefixBytes;
      if (bytes.length - start < length) {
        needed = prefixBytes + length;
        break;
      }
      const isCompressed = bytes[at];
      at = start + length;
      const message = bytes.subarray(start, at);
      if (isCompressed === 0) options.message(message);
      else if (isCompressed === 1 && encoding !== undefined) inflate(encoding, Buffer.from(message));
      else {
        fail(statusCode.internal, "a compressed request, and no word of how");
        return;
      }
    }
    if (!isOver && at < bytes.length) add(bytes.subarray(at));
  }

  function inflate(how: MessageEncoding, bytes: Buffer): void {
    isInflating = true;
    const hasRoom = options.hold(bytes.length);
    const isWanted = () => {
      if (isOver) options.hold(-bytes.length);
      return !isOver;
    };
    if (!hasRoom) fail(statusCode.resourceExhausted, tooManyHeld);
    void inflateMessage(how, bytes, mostBytes, isWanted, (result) => {
      options.hold(-bytes.length);
      isInflating = false;
      if (isOver) return;
      if ("code" in result) {
        fail(result.code, result.message);
        return;
      }
      options.message(result.bytes);
      if (isOver) return;
      if (waiting > 0) read(takeAll());
      finishIfDone();
    });
  }

  function finishIfDone(): void {
    if (!isEnding || isOver || isInflating) return;
    if (waiting > 0) {
      fail(statusCode.internal, "the stream ended in the middle of a request");
      return;
    }
    isOver = true;
    options.ended();
  }

  return {
    receive(bytes) {
      if (isOver) return;
      if (waiting === 0 && !isInflating) {
        read(bytes);
        return;
      }
      if (!add(bytes) || isInflating) {
        if (isInflating && waiting > 2 * mostBytes)
          fail(statusCode.resourceExhausted, "requests come faster than they can be read");
        return;
      }
      if (needed !== undefined && waiting < needed) return;
      needed = undefined;
      read(takeAll());
    },
    end() {
      isEnding = true;
      finishIfDone();
    },
    close() {
      if (!isOver) close();
    },
  };
}
