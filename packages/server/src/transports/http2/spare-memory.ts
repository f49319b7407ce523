/** Lengths are multiples of this, so that messages that are about as long as each other can have the same memory. What is less than one is cheap. */
const stepBytes = 16 * 1024;
/** So many bytes are kept at most. */
const mostBytes = 1024 * 1024;

/**
 * Memory for messages that come in several parts, used again: it lies outside of the heap, and V8 collects garbage for what is allocated there as well. A fleet that comes
 * back says what it has in thousands of such messages, nearly all of which are whole before the next begins.
 */
export class SpareMemory {
  #pieces: Buffer<ArrayBuffer>[] = [];
  #bytes = 0;

  /** Of at least this length; whatever is in it. */
  take(length: number): Buffer<ArrayBuffer> {
    if (length < stepBytes) return Buffer.allocUnsafe(length);
    const size = Math.ceil(length / stepBytes) * stepBytes;
    const at = this.#pieces.findLastIndex((piece) => piece.length === size);
    if (at < 0) return Buffer.allocUnsafeSlow(size);
    this.#bytes -= size;
    return this.#pieces.splice(at, 1)[0] as Buffer<ArrayBuffer>;
  }

  /** Takes back what `take` gave; nobody may use it any more. */
  give(piece: Buffer<ArrayBuffer>): void {
    if (piece.length < stepBytes || piece.length > mostBytes / 4) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    // Those that were not asked for lately.
    while (this.#bytes > mostBytes) this.#bytes -= this.#pieces.shift()?.length ?? 0;
  }
}

export const spareMemory = new SpareMemory();
