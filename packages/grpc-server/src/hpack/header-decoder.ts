import { decodeHuffman } from "./huffman.js";
import { type HeaderField, staticTable } from "./static-table.js";

/**
 * A header block that cannot be read. The compression state of the connection is lost with it, so the connection must
 * end with COMPRESSION_ERROR.
 */
export class BadHeaderBlock extends Error {}

/** The content of a header block. */
export interface HeaderBlock {
  readonly fields: readonly HeaderField[];
  /** True if it was larger than allowed; then some fields are missing. */
  readonly isTooLarge: boolean;
}

/** Each field counts 32 bytes beside its characters (RFC 7541, 4.1). */
const fieldOverhead = 32;

/** The receiving half of HPACK (RFC 7541) for one connection. */
export class HeaderDecoder {
  readonly #tableBytes: number;
  /** The newest is the last. */
  readonly #entries: HeaderField[] = [];
  #size = 0;
  #most: number;

  /** `tableBytes`: the largest dynamic table that the peer may use, by SETTINGS_HEADER_TABLE_SIZE 4,096 by default. */
  constructor(tableBytes = 4_096) {
    this.#tableBytes = tableBytes;
    this.#most = tableBytes;
  }

  /**
   * Reads a whole block: also one that is too large, since later ones build on it. Throws BadHeaderBlock. `maxBytes`
   * bounds the kept part of it, counted as the dynamic table counts.
   */
  decode(block: Uint8Array, maxBytes: number): HeaderBlock {
    const reader = new BlockReader(block);
    const fields: HeaderField[] = [];
    let total = 0;
    while (!reader.atEnd) {
      const first = reader.peek();
      if (first >= 0x20 && first < 0x40) {
        // Only if no field came before (4.2).
        if (total > 0) throw new BadHeaderBlock("the table changes its size in the middle of a block");
        this.#resize(reader.integer(5));
        continue;
      }
      const field = this.#field(reader, first);
      total += sizeOf(field);
      if (total <= maxBytes) fields.push(field);
    }
    return { fields, isTooLarge: total > maxBytes };
  }

  #field(reader: BlockReader, first: number): HeaderField {
    if (first >= 0x80) return this.#fieldAt(reader.integer(7));
    const isRemembered = first >= 0x40;
    const index = reader.integer(isRemembered ? 6 : 4);
    const name = index === 0 ? reader.text() : this.#fieldAt(index)[0];
    const field: HeaderField = [name, reader.text()];
    if (isRemembered) this.#remember(field);
    return field;
  }

  #resize(bytes: number): void {
    if (bytes > this.#tableBytes) throw new BadHeaderBlock(`a table of ${bytes} bytes is too large`);
    this.#most = bytes;
    this.#evict(bytes);
  }

  #evict(room: number): void {
    while (this.#entries.length > 0 && this.#size > room) this.#size -= sizeOf(this.#entries.shift() as HeaderField);
  }

  #remember(field: HeaderField): void {
    const length = sizeOf(field);
    // One that is larger than the table empties it (4.4).
    this.#evict(this.#most - length);
    if (length > this.#most) return;
    this.#entries.push(field);
    this.#size += length;
  }

  #fieldAt(index: number): HeaderField {
    const dynamic = index - staticTable.length;
    const field = dynamic <= 0 ? staticTable[index - 1] : this.#entries[this.#entries.length - dynamic];
    if (field === undefined) throw new BadHeaderBlock(`there is no field ${index}`);
    return field;
  }
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + fieldOverhead;
}

class BlockReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  peek(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new BadHeaderBlock("the block ends in the middle of a field");
    return byte;
  }

  #byte(): number {
    const byte = this.peek();
    this.#at += 1;
    return byte;
  }

  /** An integer whose first part has this many bits (5.1). */
  integer(bits: number): number {
    const mask = 2 ** bits - 1;
    let value = this.#byte() & mask;
    if (value < mask) return value;
    for (let shift = 0; ; shift += 7) {
      // Nothing here is larger than the largest header block.
      if (shift > 21) throw new BadHeaderBlock("an integer is too large");
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  /** A string, plain or in Huffman's code (5.2), one character a byte. */
  text(): string {
    const isHuffman = this.peek() >= 0x80;
    const length = this.integer(7);
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new BadHeaderBlock("a string is longer than its block");
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    if (!isHuffman) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const text = decodeHuffman(bytes);
    if (text === undefined) throw new BadHeaderBlock("a string is not in Huffman's code");
    return text;
  }
}
