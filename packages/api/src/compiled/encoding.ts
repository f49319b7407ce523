import type { ResourceName, TypeUrl } from "../identifiers.js";
import type { Reference } from "../resource-types/resource-type.js";
import { canonicalName } from "../xdstp.js";
import { giveUp } from "./doubt.js";
import type { Move, Recording } from "./recording.js";

/** Bytes that are free behind every write: enough for a tag, a number and a length. */
const slack = 32;
/** Strings up to this length are written here, a character at a time: calling out costs more. */
const shortString = 48;
/** Far from where the readers of JSON and of bytes end (100), counted as the one that counts most does. */
const deepest = 60;
const shortCopy = 400;
const sizeToStart = 65_536;
const sizeToKeep = 1 << 20;

/** The bytes of one message while it is written, and what is gathered on the way. One for all: it is used again and again. */
export class Encoding {
  /** How deep the message is that is being written. */
  depth = 0;
  /** How many messages enclose the present place whose references do not count. */
  muted = 0;
  /** Values of the messages that are being written, those of the outer ones first. */
  readonly values: unknown[] = [];
  top = 0;
  /** Those of one message only: who keeps them copies them. */
  references: Reference[] = [];
  /** Whether references are noted as often as they come: until `eachOnce`. */
  repeats = false;
  /** Where the fields of the messages begin that are being read, in bytes and in references, those of the outer ones first. */
  readonly starts: number[] = [];
  started = 0;
  /** What is noted of how the bytes came about, while somebody wants to know. */
  recording: Recording | undefined;
  /** How often something stands in the place of an address that is none, such as the name of a host. */
  hosts = 0;
  private bytes = Buffer.allocUnsafeSlow(sizeToStart);
  private at = 0;

  /** Forgets all that was written. */
  start(): void {
    this.at = 0;
    this.depth = 0;
    this.muted = 0;
    this.top = 0;
    // A length that is set gives the memory of the list back.
    while (this.references.length > 0) this.references.pop();
    this.repeats = false;
    this.started = 0;
    this.hosts = 0;
    if (this.bytes.length > sizeToKeep) this.bytes = Buffer.allocUnsafeSlow(sizeToStart);
  }

  /** Lets go of the values that were written last: a string of them may be a view of a whole file. */
  forget(): void {
    this.values.fill(undefined);
    this.references = [];
  }

  get length(): number {
    return this.at;
  }

  /** Copies what was written to the beginning of `target`. */
  copyTo(target: Uint8Array): void {
    const { bytes, at } = this;
    // A call costs more than to copy a few hundred bytes here.
    if (at > shortCopy) target.set(bytes.subarray(0, at));
    else for (let index = 0; index < at; index += 1) target[index] = bytes[index] as number;
  }

  /** Gives up where values are nested too deep for other readers. Each call needs one of `leave`. */
  enter(levels = 1): void {
    this.depth += levels;
    if (this.depth > deepest) giveUp();
  }

  leave(levels = 1): void {
    this.depth -= levels;
  }

  /** Notes that the message names a resource; each is noted once. */
  refer(type: TypeUrl, name: ResourceName): void {
    if (this.muted > 0 || name === "") return;
    this.add({ type, name: canonicalName(name) });
  }

  /** Lets go of the references that came before, in the order in which they are now. */
  eachOnce(): void {
    const { references } = this;
    this.repeats = false;
    if (references.length < 2) return;
    this.references = [];
    for (const reference of references) this.add(reference);
  }

  private add(reference: Reference): void {
    const { references } = this;
    if (!this.repeats) {
      for (const { name, type } of references) if (name === reference.name && type === reference.type) return;
    }
    // Looking through many takes time that grows with their square.
    if (references.length >= 1000) giveUp();
    references.push(reference);
  }

  /** Notes where a field begins. */
  begin(): void {
    const { starts, started } = this;
    starts[started] = this.at;
    starts[started + 1] = this.references.length;
    this.started = started + 2;
  }

  /**
   * Puts fields in order that were written in another one.
   * @param places which of the fields begun since `first` comes where
   */
  reorder(places: readonly number[], first: number): void {
    const { starts, started, bytes, at } = this;
    const from = starts[first] as number;
    const firstReference = starts[first + 1] as number;
    const references = this.references.slice(firstReference);
    starts[started] = at;
    starts[started + 1] = this.references.length;
    if (bytes.length < at + at - from) this.grow(at - from);
    const { bytes: room } = this;
    // Behind what was written there is room for it once more.
    if (at - from > shortCopy) room.copyWithin(at, from, at);
    else for (let index = from; index < at; index += 1) room[at + index - from] = room[index] as number;
    let to = from;
    let toReference = firstReference;
    const moves: Move[] | undefined = this.recording === undefined ? undefined : [];
    for (const place of places) {
      const start = first + 2 * place;
      const end = starts[start + 2] as number;
      moves?.push({ start: starts[start] as number, end, to });
      for (let index = starts[start] as number; index < end; index += 1) room[to++] = room[at + index - from] as number;
      if (references.length < 2) continue;
      const endReference = starts[start + 3] as number;
      for (let index = starts[start + 1] as number; index < endReference; index += 1)
        this.references[toReference++] = references[index - firstReference] as Reference;
    }
    if (moves !== undefined) this.recording?.reorder(moves);
  }

  /** Makes sure that there is room for a tag, a number and a length. */
  room(): void {
    if (this.at + slack > this.bytes.length) this.grow(slack);
  }

  /** Of a field: its number and wire type in one. */
  tag(tag: number): void {
    this.room();
    if (tag < 0x80) this.bytes[this.at++] = tag;
    else this.varint(tag);
  }

  /** A whole number from 0 to 2^53 − 1. */
  varint(value: number): void {
    const { bytes } = this;
    let rest = value;
    while (rest >= 0x80) {
      bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    bytes[this.at++] = rest;
  }

  double(value: number): void {
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }

  float(value: number): void {
    this.at = this.bytes.writeFloatLE(value, this.at);
  }

  /** A string behind its length. Gives up at what UTF-8 cannot hold. */
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

  /** Bytes behind their length. */
  raw(value: Uint8Array): void {
    if (this.at + value.length + slack > this.bytes.length) this.grow(value.length + slack);
    this.varint(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** ASCII behind its length, from a text that has it. */
  piece(text: Uint8Array, from: number, to: number): void {
    const length = to - from;
    const start = this.at;
    if (this.at + length + slack > this.bytes.length) this.grow(length + slack);
    this.varint(length);
    const { bytes } = this;
    let { at } = this;
    for (let index = from; index < to; index += 1) bytes[at++] = text[index] as number;
    this.at = at;
    this.recording?.holes.push({
      from,
      to,
      at: start,
      length: at - start,
      isNumber: false,
      member: undefined,
      key: undefined,
    });
  }

  /** A copy of what was written from there on. */
  since(from: number): Uint8Array {
    return new Uint8Array(this.bytes.subarray(from, this.at));
  }

  /** Some bytes as they are. */
  copy(field: Uint8Array): void {
    const { length } = field;
    if (this.at + length + slack > this.bytes.length) this.grow(length + slack);
    const { bytes, at } = this;
    if (length > shortString) bytes.set(field, at);
    else for (let index = 0; index < length; index += 1) bytes[at + index] = field[index] as number;
    this.at = at + length;
  }

  /** Leaves as many bytes free as the length of what follows is expected to take. Returns where that is, for `close`. */
  open(reserved: number): number {
    const start = this.at;
    this.at += reserved;
    return start;
  }

  /** Writes the length of what follows the free bytes. Returns how many the length took: the best guess for the next of its kind. */
  close(start: number, reserved: number): number {
    const begin = start + reserved;
    const length = this.at - begin;
    const needed = length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : length < 0x10000000 ? 4 : 5;
    if (needed !== reserved) {
      this.room();
      this.bytes.copyWithin(start + needed, begin, this.at);
    }
    this.at = start;
    this.varint(length);
    this.at += length;
    if (this.recording !== undefined) {
      this.recording.shift(begin, needed - reserved);
      this.recording.prefixes.push({ at: start, width: needed, length });
    }
    return needed;
  }

  /** Writes the length of a message that was written before. It takes as many bytes as are there for it. */
  setLength(at: number, length: number): void {
    if (length < 0x80) {
      this.bytes[at] = length;
      return;
    }
    const end = this.at;
    this.at = at;
    this.varint(length);
    this.at = end;
  }

  /** Whether another has the same bytes and references. */
  isSame({ bytes, at, references }: Encoding): boolean {
    if (this.bytes.compare(bytes, 0, at, 0, this.at) !== 0 || this.references.length !== references.length)
      return false;
    return references.every(({ type, name }, index) => {
      const own = this.references[index];
      return own?.type === type && own.name === name;
    });
  }

  /** Whether nothing was written since `open`. */
  isEmptySince(start: number, reserved: number): boolean {
    return this.at === start + reserved;
  }

  /** Drops what was written from there on. */
  takeBack(at: number): void {
    this.at = at;
    if (this.recording !== undefined) this.recording.isWhole = false;
  }

  private grow(more: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.at + more));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }
}
