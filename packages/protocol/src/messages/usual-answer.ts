import type { Nonce, Version } from "@xdskit/api";
import { hasAt, hasTextAt } from "./equal-bytes.js";
import { delimited, type Span, WireReader } from "./wire-reader.js";

/** The numbers of the fields in which one acknowledgement of a client differs from the next; SotW has a version. */
export interface AnswerFields {
  readonly version: number | undefined;
  readonly nonce: number;
}

/**
 * How one client acknowledges the responses of one type: byte by byte as the last time, but for the nonce, and in SotW the version. Who knows how an acknowledgement
 * looked that was read need not read the next: whatever else the bytes say, they say it again.
 */
export class UsualAnswer {
  readonly #head: Uint8Array;
  /** Between version and nonce; undefined where there is no version. */
  readonly #middle: Uint8Array | undefined;
  readonly #tail: Uint8Array;

  private constructor(head: Uint8Array, middle: Uint8Array | undefined, tail: Uint8Array) {
    this.#head = head;
    this.#middle = middle;
    this.#tail = tail;
  }

  /** Of an acknowledgement that was read as one; undefined where it is not of the usual form: the fields once, the version first. */
  static of(bytes: Uint8Array, { version, nonce }: AnswerFields): UsualAnswer | undefined {
    const reader = new WireReader(bytes);
    let versionAt: Span | undefined;
    let nonceAt: Span | undefined;
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (version !== undefined && tag === delimited(version)) {
        if (versionAt !== undefined || nonceAt !== undefined) return undefined;
        versionAt = reader.span();
      } else if (tag === delimited(nonce)) {
        if (nonceAt !== undefined) return undefined;
        nonceAt = reader.span();
      } else reader.skip(tag);
    }
    if (nonceAt === undefined || !hasShortLength(bytes, nonceAt)) return undefined;
    // What comes with it is not ours, and is larger: copied. A `Buffer` has another `slice`.
    const copy = (start: number, end: number) => new Uint8Array(bytes.subarray(start, end));
    const tail = copy(nonceAt.end, bytes.length);
    if (version === undefined) return new UsualAnswer(copy(0, nonceAt.start - 1), undefined, tail);
    if (versionAt === undefined || !hasShortLength(bytes, versionAt)) return undefined;
    return new UsualAnswer(copy(0, versionAt.start - 1), copy(versionAt.end, nonceAt.start - 1), tail);
  }

  /** The bytes are the usual acknowledgement of the response with this version and nonce, and nothing else. */
  is(bytes: Uint8Array, version: Version, nonce: Nonce): boolean {
    const length = 1 + nonce.length + this.#head.length + this.#tail.length;
    const middle = this.#middle;
    if (bytes.length !== (middle === undefined ? length : length + 1 + version.length + middle.length)) return false;
    if (nonce.length >= 0x80 || version.length >= 0x80) return false;
    // Last what is long: mostly something else differs.
    let at = bytes.length - this.#tail.length - nonce.length;
    if (bytes[at - 1] !== nonce.length || !hasTextAt(bytes, at, nonce)) return false;
    if (!hasAt(bytes, at + nonce.length, this.#tail) || !hasAt(bytes, 0, this.#head)) return false;
    if (middle === undefined) return true;
    at = this.#head.length;
    if (bytes[at] !== version.length || !hasTextAt(bytes, at + 1, version)) return false;
    return hasAt(bytes, at + 1 + version.length, middle);
  }
}

/** Its length is the one byte in front of it. */
function hasShortLength(bytes: Uint8Array, { start, end }: Span): boolean {
  return end - start < 0x80 && bytes[start - 1] === end - start;
}
