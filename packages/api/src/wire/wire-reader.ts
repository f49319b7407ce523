/** The bytes are no protobuf message of the kind that was expected (rule 157). */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/**
 * A message repeats a field too often (rule 162). Reading stops there, since two bytes of gzip may stand for thousands
 * of fields.
 */
export class TooManyFields extends Error {
  override readonly name = "TooManyFields";
}

/** A part of a message in place: not copied, not decoded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Protobuf's wire types. */
export const wireType = { varint: 0, fixed64: 1, lengthDelimited: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** A byte order mark is a character of a name like any other. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Node's own conversion from ASCII to a string, if there is one: for short texts it costs a quarter of a `TextDecoder`.
 */
type Slice = (start: number, end: number) => string;
const latin1 = (globalThis as { readonly Buffer?: { readonly prototype: { readonly latin1Slice?: Slice } } }).Buffer
  ?.prototype.latin1Slice;
/** From this length on a `TextDecoder` is as fast as a search for characters that are not ASCII. */
const longText = 200;

/**
 * Reads protobuf's wire format field by field, and skips the fields that the caller does not ask for. A discovery
 * request holds 60 kB of node extensions, and thousands of names; for an acknowledgement none of them need become
 * strings.
 */
export class WireReader {
  readonly bytes: Uint8Array;
  #position: number;
  #end: number;

  constructor(bytes: Uint8Array, span: Span = { start: 0, end: bytes.length }) {
    this.bytes = bytes;
    this.#position = span.start;
    this.#end = span.end;
  }

  get atEnd(): boolean {
    return this.#position >= this.#end;
  }

  /** The position of the next field. */
  get position(): number {
    return this.#position;
  }

  /** The end of the message. */
  get end(): number {
    return this.#end;
  }

  /** Continues from there; everything before it counts as read. */
  skipTo(position: number): void {
    this.#position = position;
  }

  /** The next field's number × 8 + wire type. */
  tag(): number {
    const tag = this.varint();
    if (tag < 8 || tag > 0xffff_ffff) throw new MalformedMessage("a field number is out of range");
    return tag;
  }

  /** A varint as a number of 32 bits; higher bits are dropped, as protobuf does for int32 and uint32. */
  varint(): number {
    let low = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#position >= this.#end) throw new MalformedMessage("the message is cut off");
      const byte = this.bytes[this.#position++] as number;
      if (shift < 35) low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low >>> 0;
    }
    throw new MalformedMessage("a number is longer than ten bytes");
  }

  /** A varint of 64 bits; above 2⁵³ it is as near as a number comes. */
  uint64(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#position >= this.#end) throw new MalformedMessage("the message is cut off");
      const byte = this.bytes[this.#position++] as number;
      // 64 bits hold only the lowest bit of the tenth byte.
      value += (shift < 63 ? byte & 0x7f : byte & 1) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new MalformedMessage("a number is longer than ten bytes");
  }

  /** A varint of 64 bits with a sign. */
  int64(): bigint {
    const start = this.#position;
    this.varint();
    let value = 0n;
    for (let at = this.#position - 1; at >= start; at--)
      value = (value << 7n) | BigInt((this.bytes[at] as number) & 0x7f);
    return BigInt.asIntN(64, value);
  }

  double(): number {
    const start = this.#position;
    this.#advance(8);
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + start, 8).getFloat64(0, true);
  }

  /** The place of a length-delimited field. */
  span(): Span {
    const start = this.pass();
    return { start, end: this.#position };
  }

  /** The start of a length-delimited field; `position` is then its end. */
  pass(): number {
    const length = this.varint();
    const start = this.#position;
    if (length > this.#end - start) throw new MalformedMessage("a field is longer than the message");
    this.#position = start + length;
    return start;
  }

  /** A view of the content of a length-delimited field. */
  part(): Uint8Array {
    const start = this.pass();
    return this.bytes.subarray(start, this.#position);
  }

  string(): string {
    return this.text(this.span());
  }

  text({ start, end }: Span): string {
    if (latin1 !== undefined && end - start < longText && this.#isAscii(start, end)) {
      return latin1.call(this.bytes, start, end);
    }
    try {
      return decoder.decode(this.bytes.subarray(start, end));
    } catch {
      throw new MalformedMessage("a string is not valid UTF-8");
    }
  }

  /** The span holds exactly this text. Only ASCII is compared; anything else counts as different. */
  isText({ start, end }: Span, text: string | undefined): boolean {
    if (text === undefined || text.length !== end - start) return false;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80 || unit !== this.bytes[start + index]) return false;
    }
    return true;
  }

  /** Throws if the bytes between the two are not UTF-8; costs next to nothing for ASCII. */
  checkText(start: number, end: number): void {
    if (!this.#isAscii(start, end)) this.text({ start, end });
  }

  #isAscii(start: number, end: number): boolean {
    const { bytes } = this;
    for (let index = start; index < end; index++) if ((bytes[index] as number) >= 0x80) return false;
    return true;
  }

  skip(tag: number): void {
    let depth = 0;
    for (let next = tag; ; next = this.tag()) {
      switch (next & 7) {
        case wireType.varint:
          this.varint();
          break;
        case wireType.fixed64:
          this.#advance(8);
          break;
        case wireType.lengthDelimited:
          this.span();
          break;
        case wireType.startGroup:
          depth++;
          break;
        case wireType.endGroup:
          depth--;
          break;
        case wireType.fixed32:
          this.#advance(4);
          break;
        default:
          throw new MalformedMessage(`wire type ${next & 7} does not exist`);
      }
      if (depth < 0) throw new MalformedMessage("a group ends that did not start");
      if (depth === 0) return;
    }
  }

  #advance(count: number): void {
    if (count > this.#end - this.#position) throw new MalformedMessage("the message is cut off");
    this.#position += count;
  }
}

/** The tag of a field that is a varint. */
export function varintTag(field: number): number {
  return field * 8 + wireType.varint;
}

/** The tag of a length-delimited field. */
export function delimited(field: number): number {
  return field * 8 + wireType.lengthDelimited;
}
