/** A response that nobody needs would be one of this size: it is no message of discovery. */
const longestMessage = 0x4000_0000;

/** What gRPC puts before each message: whether it is compressed, and its length. */
export const headLength = 5;

/** Splits what comes in on a gRPC stream into messages. */
export class MessageReader {
  #parts: Buffer[] = [];
  #length = 0;
  /** With its head; 0 until that is whole. */
  #wanted = 0;

  /** Calls `each` for every message that is whole now; it may keep no part of it. Throws for what is no uncompressed gRPC message. */
  read(chunk: Buffer, each: (message: Uint8Array) => void): void {
    let rest = chunk;
    while (rest.length > 0) {
      // The usual case: a message is one chunk.
      if (this.#length === 0 && rest.length >= headLength) {
        const length = headLength + lengthOf(rest);
        if (length <= rest.length) {
          each(rest.subarray(headLength, length));
          rest = rest.subarray(length);
          continue;
        }
      }
      this.#parts.push(rest);
      this.#length += rest.length;
      if (this.#wanted === 0 && this.#length >= headLength) this.#wanted = headLength + lengthOf(this.#joined());
      if (this.#wanted === 0 || this.#length < this.#wanted) return;
      const whole = this.#joined();
      const end = this.#wanted;
      this.#parts = [];
      this.#length = 0;
      this.#wanted = 0;
      each(whole.subarray(headLength, end));
      rest = whole.subarray(end);
    }
  }

  #joined(): Buffer {
    const [first] = this.#parts;
    if (first !== undefined && this.#parts.length === 1) return first;
    const joined = Buffer.concat(this.#parts);
    this.#parts = [joined];
    return joined;
  }
}

function lengthOf(head: Buffer): number {
  if (head[0] !== 0) throw new Error("a message is compressed, which nobody asked for");
  const length = head.readUInt32BE(1);
  if (length > longestMessage) throw new Error(`a message of ${length} bytes`);
  return length;
}

/** A message with its head. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(headLength + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, headLength);
  return bytes;
}
