import type { Output } from "./output.js";

/** Bytes that need not be kept, since they can be made again. */
export interface RemakableBytes {
  /** Their number. */
  readonly length: number;
  /** All of them, if they are kept anyway. */
  readonly atHand: Uint8Array | undefined;
  /** The bytes from `from` on, in pieces that can be released one by one. */
  rest(from: number): Iterator<Uint8Array>;
}

type QueuedPart = Uint8Array | RemakableBytes;

const nothing: QueuedPart[] = [];
const noBytes = new Uint8Array(0);

/**
 * The unsent messages of one stream: whole messages in parts that may be shared. Nothing is copied before it is sent.
 */
export class OutgoingQueue {
  #parts = nothing;
  #next = 0;
  /** The number of sent bytes of the next part. */
  #offset = 0;
  /** The rest of the next part, if its bytes are made again, and its piece that was not sent yet. */
  #rest: Iterator<Uint8Array> | undefined;
  #piece: Uint8Array = noBytes;
  /**
   * Make bytes again wherever that is possible, even if they are at hand, so that a socket that keeps a frame does
   * not keep the whole message.
   */
  isSparing = false;
  /** Bytes that wait. */
  bytes = 0;

  push(part: QueuedPart): void {
    if (part.length === 0) return;
    if (this.#parts === nothing) this.#parts = [];
    this.#parts.push(part);
    this.bytes += part.length;
  }

  /** Moves `length` bytes to the output; not more than wait. */
  move(output: Output, length: number): void {
    this.bytes -= length;
    let left = length;
    while (left > 0) {
      const part = this.#parts[this.#next] as QueuedPart;
      const size = Math.min(left, part.length - this.#offset);
      this.#put(output, part, size);
      left -= size;
      this.#offset += size;
      if (this.#offset === part.length) {
        this.#next += 1;
        this.#offset = 0;
        this.#rest = undefined;
        this.#piece = noBytes;
      }
    }
    if (this.bytes === 0) this.clear();
    else if (this.#next > 64) {
      this.#parts.splice(0, this.#next);
      this.#next = 0;
    }
  }

  clear(): void {
    this.#parts = nothing;
    this.#next = 0;
    this.#offset = 0;
    this.#rest = undefined;
    this.#piece = noBytes;
    this.bytes = 0;
    this.isSparing = false;
  }

  /** Puts this many bytes of the next part, from the offset on. */
  #put(output: Output, part: QueuedPart, size: number): void {
    if (this.#rest === undefined) {
      const bytes = part instanceof Uint8Array ? part : this.isSparing ? undefined : part.atHand;
      if (bytes !== undefined) {
        const from = this.#offset;
        output.put(size === bytes.length ? bytes : bytes.subarray(from, from + size));
        return;
      }
      this.#rest = (part as RemakableBytes).rest(this.#offset);
    }
    for (let left = size; left > 0; ) {
      if (this.#piece.length === 0) this.#piece = this.#rest.next().value as Uint8Array;
      const piece = this.#piece;
      const most = Math.min(left, piece.length);
      output.put(most === piece.length ? piece : piece.subarray(0, most));
      this.#piece = piece.subarray(most);
      left -= most;
    }
  }
}
