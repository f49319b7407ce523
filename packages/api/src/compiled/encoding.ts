import type { Categories } from "../envoy-versions/extension-types.js";
import { canonicalName } from "../names/xdstp.js";
import type { Reference } from "../references/reference.js";
import type { Refer } from "../references/rules.js";
import { putVarint, varintLength } from "../wire/varint.js";
import { giveUp } from "./doubt.js";

/** Free bytes after every write: enough for a tag, a number and a length. */
const slack = 32;
/** Shorter strings are written here, one character at a time: a call would cost more. */
const shortString = 48;
/** References that are searched one after the other. */
const shortList = 32;
/** Far below the limit of the readers of JSON and of bytes (100), counted as the strictest of them counts. */
const deepest = 60;
const sizeToStart = 65_536;
const sizeToKeep = 1 << 20;

/**
 * The bytes of one message while it is written, and the facts that are gathered on the way. There is one for all
 * messages.
 */
export class Encoding {
  /** The depth of the message that is being written. */
  depth = 0;
  /** The number of enclosing messages that exclude their references from the resource's. */
  muted = 0;
  /** Where extensions of some categories stand, by the depth of the message that holds their `Any`. */
  readonly slots: { readonly depth: number; readonly categories: Categories }[] = [];
  /** Values of the messages that are being written, the outermost first. */
  readonly values: unknown[] = [];
  top = 0;
  /** References of the current message only: copy them to keep them. */
  references: Reference[] = [];
  /** The same, once they are many: to search the list takes time that grows with the square of their number. */
  private readonly referred = new Set<string>();
  private bytes = Buffer.allocUnsafeSlow(sizeToStart);
  private at = 0;

  /** Resets everything. */
  start(): void {
    this.at = 0;
    this.depth = 0;
    this.muted = 0;
    this.top = 0;
    this.slots.length = 0;
    // Setting the length would release the list's memory.
    while (this.references.length > 0) this.references.pop();
    this.referred.clear();
    if (this.bytes.length > sizeToKeep) this.bytes = Buffer.allocUnsafeSlow(sizeToStart);
  }

  /** Releases the values that were written last: a string may be a view of a whole file. */
  forget(): void {
    this.values.fill(undefined);
    this.references = [];
    this.referred.clear();
  }

  /** A copy of what was written. */
  body(): Uint8Array {
    const body = new Uint8Array(this.at);
    body.set(this.bytes.subarray(0, this.at));
    return body;
  }

  /** Gives up where values are nested too deep for other readers. Every call needs a `leave`. */
  enter(levels = 1): void {
    this.depth += levels;
    if (this.depth > deepest) giveUp();
  }

  leave(levels = 1): void {
    this.depth -= levels;
  }

  /** Notes a resource that the message names, once each. */
  readonly refer: Refer = (type, name) => {
    if (this.muted > 0 || typeof name !== "string" || name === "") return;
    const { references } = this;
    const canonical = canonicalName(name);
    if (references.length < shortList) {
      for (const known of references) if (known.name === canonical && known.type === type) return;
    } else {
      if (this.referred.size === 0) for (const known of references) this.referred.add(`${known.type} ${known.name}`);
      const key = `${type} ${canonical}`;
      if (this.referred.has(key)) return;
      this.referred.add(key);
    }
    references.push({ type, name: canonical });
  };

  /** Reserves room for a tag, a number and a length. */
  room(): void {
    if (this.at + slack > this.bytes.length) this.grow(slack);
  }

  /** A field's number and wire type. */
  tag(tag: number): void {
    this.room();
    if (tag < 0x80) this.bytes[this.at++] = tag;
    else this.varint(tag);
  }

  /** An integer from 0 to 2^53 − 1. */
  varint(value: number): void {
    this.at = putVarint(this.bytes, this.at, value);
  }

  double(value: number): void {
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }

  float(value: number): void {
    this.at = this.bytes.writeFloatLE(value, this.at);
  }

  /** A string with its length. Gives up at characters that UTF-8 cannot hold. */
  string(text: string): void {
    const { length } = text;
    if (length >= shortString) {
      this.longString(text);
      return;
    }
    if (this.at + length + slack > this.bytes.length) this.grow(length + slack);
    const { bytes } = this;
    let at = this.at + 1;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) {
        this.longString(text);
        return;
      }
      bytes[at++] = code;
    }
    bytes[this.at] = length;
    this.at = at;
  }

  private longString(text: string): void {
    const most = 3 * text.length + slack;
    if (this.at + most > this.bytes.length) this.grow(most);
    const reserved = text.length < 0x80 ? 1 : 2;
    const start = this.open(reserved);
    const written = this.bytes.write(text, this.at, "utf8");
    if (written !== text.length && /\p{Surrogate}/u.test(text)) giveUp();
    this.at += written;
    this.close(start, reserved);
  }

  /** Bytes with their length. */
  raw(value: Uint8Array): void {
    if (this.at + value.length + slack > this.bytes.length) this.grow(value.length + slack);
    this.varint(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** Bytes as they are. */
  copy(field: Uint8Array): void {
    const { length } = field;
    if (this.at + length + slack > this.bytes.length) this.grow(length + slack);
    const { bytes, at } = this;
    if (length > shortString) bytes.set(field, at);
    else for (let index = 0; index < length; index += 1) bytes[at + index] = field[index] as number;
    this.at = at + length;
  }

  /**
   * Leaves as many bytes free as the length of the next message probably takes. Returns their position, for `close`.
   */
  open(reserved: number): number {
    const start = this.at;
    this.at += reserved;
    return start;
  }

  /**
   * Writes the length of the message into the free bytes. Returns the number of bytes that the length took: the best
   * guess for the next message of its kind.
   */
  close(start: number, reserved: number): number {
    const begin = start + reserved;
    const length = this.at - begin;
    const needed = varintLength(length);
    if (needed !== reserved) {
      this.room();
      this.bytes.copyWithin(start + needed, begin, this.at);
    }
    this.at = start;
    this.varint(length);
    this.at += length;
    return needed;
  }

  /** Whether nothing was written since `open`. */
  isEmptySince(start: number, reserved: number): boolean {
    return this.at === start + reserved;
  }

  /** Drops the bytes after `at`. */
  takeBack(at: number): void {
    this.at = at;
  }

  private grow(more: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.at + more));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }
}
