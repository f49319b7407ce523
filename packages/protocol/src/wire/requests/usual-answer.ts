import type { Nonce, Version } from "@xdskit/api";
import { delimited, type Span, WireReader } from "@xdskit/api/wire";
import { hasAt, hasTextAt } from "../basics/equal-bytes.js";

/**
 * The field numbers in which one acknowledgement differs from the next. SotW has a version, and any may have a node.
 */
export interface AnswerFields {
  readonly version: number | undefined;
  readonly node: number;
  readonly nonce: number;
}

/**
 * The form in which clients acknowledge the responses of one type: the same bytes as the last time, except for the
 * nonce, in SotW the version, and the node, which is only read from the first request of a stream (rules 113–115). If
 * one acknowledgement was read, the next of the same form need not be: the other bytes mean the same again.
 */
export class UsualAnswer {
  /** The bytes in front of the version; empty if there is none. */
  readonly #head: Uint8Array;
  readonly #hasVersion: boolean;
  /** The tag of the node, which stands first, or right behind the version; undefined where there is no node. */
  readonly #node: number | undefined;
  /** The bytes in front of the nonce. */
  readonly #middle: Uint8Array;
  readonly #tail: Uint8Array;

  private constructor(
    head: Uint8Array,
    hasVersion: boolean,
    node: number | undefined,
    middle: Uint8Array,
    tail: Uint8Array,
  ) {
    this.#head = head;
    this.#hasVersion = hasVersion;
    this.#node = node;
    this.#middle = middle;
    this.#tail = tail;
  }

  /**
   * Makes one from an acknowledgement that was read. Undefined if that does not have the usual form: each field once,
   * the version first, then the node.
   */
  static of(bytes: Uint8Array, { version, node, nonce }: AnswerFields): UsualAnswer | undefined {
    const reader = new WireReader(bytes);
    let versionAt: Span | undefined;
    let nonceAt: Span | undefined;
    let nodeFrom: number | undefined;
    let nodeTo = 0;
    while (!reader.atEnd) {
      const from = reader.position;
      const tag = reader.tag();
      if (version !== undefined && tag === delimited(version)) {
        if (versionAt !== undefined || nonceAt !== undefined) return undefined;
        versionAt = reader.span();
      } else if (tag === delimited(nonce)) {
        if (nonceAt !== undefined) return undefined;
        nonceAt = reader.span();
      } else if (tag === delimited(node)) {
        if (nodeFrom !== undefined || bytes[from] !== tag) return undefined;
        nodeFrom = from;
        reader.skip(tag);
        nodeTo = reader.position;
      } else reader.skip(tag);
    }
    if (nonceAt === undefined || !hasShortLength(bytes, nonceAt)) return undefined;
    if (version !== undefined && (versionAt === undefined || !hasShortLength(bytes, versionAt))) return undefined;
    const start = versionAt?.end ?? 0;
    if (nodeFrom !== undefined && nodeFrom !== start) return undefined;
    // Copied, since the rest of the request's buffer is larger and not ours. A `Buffer` has another `slice`.
    const copy = (from: number, to: number) => new Uint8Array(bytes.subarray(from, to));
    const head = copy(0, versionAt === undefined ? 0 : versionAt.start - 1);
    const hasNode = nodeFrom !== undefined;
    const middle = copy(hasNode ? nodeTo : start, nonceAt.start - 1);
    const tail = copy(nonceAt.end, bytes.length);
    return new UsualAnswer(head, version !== undefined, hasNode ? delimited(node) : undefined, middle, tail);
  }

  /** The bytes are the usual acknowledgement of the response with this version and nonce, and nothing else. */
  is(bytes: Uint8Array, version: Version, nonce: Nonce): boolean {
    const middle = this.#middle;
    const nonceAt = bytes.length - this.#tail.length - nonce.length;
    const middleAt = nonceAt - 1 - middle.length;
    const start = this.#hasVersion ? this.#head.length + 1 + version.length : 0;
    if (this.#node === undefined ? middleAt !== start : !isField(bytes, start, middleAt, this.#node)) return false;
    if (nonce.length >= 0x80 || version.length >= 0x80) return false;
    // The longest part last: usually something else differs.
    if (bytes[nonceAt - 1] !== nonce.length || !hasTextAt(bytes, nonceAt, nonce)) return false;
    if (!hasAt(bytes, nonceAt + nonce.length, this.#tail)) return false;
    if (this.#hasVersion) {
      const at = this.#head.length;
      if (bytes[at] !== version.length || !hasTextAt(bytes, at + 1, version)) return false;
      if (!hasAt(bytes, 0, this.#head)) return false;
    }
    return hasAt(bytes, middleAt, middle);
  }
}

/** Tells whether exactly one field with this tag is there, with any content; `tag` is one byte. */
function isField(bytes: Uint8Array, from: number, to: number, tag: number): boolean {
  if (bytes[from] !== tag) return false;
  try {
    return new WireReader(bytes, { start: from + 1, end: to }).span().end === to;
  } catch {
    return false;
  }
}

/** Its length is the one byte in front of it. */
function hasShortLength(bytes: Uint8Array, { start, end }: Span): boolean {
  return end - start < 0x80 && bytes[start - 1] === end - start;
}
