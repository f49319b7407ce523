import { putVarint, varintLength } from "./varint.js";

/** The number of bytes of a text in UTF-8. A lone surrogate counts as U+FFFD, as it is written. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      length += 2;
      index++;
    } else length += 2;
  }
  return length;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

const encoder = new TextEncoder();

/**
 * Writes protobuf's wire format into one buffer whose size was computed before, so responses of 100,000 resources are
 * built without another copy.
 */
export class WireWriter {
  readonly bytes: Uint8Array;
  readonly #leftOut: Uint8Array | undefined;
  #position = 0;
  /** The place of the omitted part. */
  gap = 0;

  /** `leftOut`: a value for which `field` writes only the head, and which the length does not count. */
  constructor(length: number, leftOut?: Uint8Array) {
    this.bytes = new Uint8Array(length);
    this.#leftOut = leftOut;
  }

  /** The head of a length-delimited field; its content follows. */
  head(field: number, length: number): void {
    // One byte for all fields of discovery responses, and of each resource in them.
    if (field < 16) this.bytes[this.#position++] = field * 8 + 2;
    else this.varint(field * 8 + 2);
    this.#position = putVarint(this.bytes, this.#position, length);
  }

  /** An integer from 0 to 2^53 − 1. */
  number(field: number, value: number): void {
    this.varint(field * 8);
    this.varint(value);
  }

  varint(value: number): void {
    this.#position = putVarint(this.bytes, this.#position, value);
  }

  field(field: number, value: Uint8Array): void {
    this.head(field, value.length);
    if (value === this.#leftOut) {
      this.gap = this.#position;
      return;
    }
    this.bytes.set(value, this.#position);
    this.#position += value.length;
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** A text whose length in UTF-8 is known. */
  text(field: number, text: string, length: number): void {
    this.head(field, length);
    if (length === text.length) {
      const { bytes } = this;
      const from = this.#position;
      for (let index = 0; index < length; index++) bytes[from + index] = text.charCodeAt(index);
      this.#position = from + length;
      return;
    }
    this.#position += encoder.encodeInto(text, this.bytes.subarray(this.#position)).written;
  }
}

/** The length of a length-delimited field; without `field`, of one with a number below 16. */
export function fieldLength(contentLength: number, field = 1): number {
  return (field < 16 ? 1 : varintLength(field * 8)) + varintLength(contentLength) + contentLength;
}

/** A length-delimited field. */
export function fieldBytes(field: number, content: Uint8Array): Uint8Array {
  const writer = new WireWriter(fieldLength(content.length, field));
  writer.field(field, content);
  return writer.bytes;
}

/** A field with a text, whose number is below 16. */
export function textBytes(field: number, text: string): Uint8Array {
  const length = utf8Length(text);
  const writer = new WireWriter(fieldLength(length));
  writer.text(field, text, length);
  return writer.bytes;
}
