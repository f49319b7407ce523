import type { DescField } from "@bufbuild/protobuf";
import type { JsonReferenceRule } from "../references/json-rules.js";
import type { JsonCheck } from "../validate/refused/json-fields.js";
import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";
import type { JsonBytes } from "./json-bytes.js";
import { type Memo, writeRemembered } from "./memo.js";
import type { Hole } from "./recording.js";
import type { Member, ReadField, Shape, Shapes } from "./shape.js";

/** Values of some fields of an object, by the keys under which they stand. */
export type Kept = { [key: string]: unknown };

/** Writes a message, without its tag and length, of the text of an object. Returns the fields that were asked for. */
export type ReadMessage = (out: Encoding, src: JsonBytes) => Kept;

/** How a message is read, and what tells by its values whether it is well, and what it names. */
export interface Reader {
  readonly read: ReadMessage;
  readonly check: JsonCheck | undefined;
  readonly reference: JsonReferenceRule | undefined;
}

/** What is done with a message besides writing its fields. */
export interface MessageTraits {
  readonly check: JsonCheck | undefined;
  readonly reference: JsonReferenceRule | undefined;
  /** Keys of what those two look at, and of what else is asked for. */
  readonly kept: ReadonlySet<string>;
  /** How the references of what is inside do not count: 1, or 0 where they do. */
  readonly mutes: number;
}

/** More characters than that between two values are not remembered. */
const longestAhead = 256;
const nothing: Kept = Object.freeze({});

/** Compiles the reading of messages out of texts: what writes their JSON, without making that JSON. */
export function createReadMessage(
  { root, after, orderOf }: Shapes,
  { check, reference, kept, mutes }: MessageTraits,
  readOf: (member: Member) => ReadField,
): ReadMessage {
  return (out, src) => {
    if (src.bytes[src.at] !== 0x7b) giveUp();
    src.at += 1;
    out.enter();
    out.muted += mutes;
    const first = out.started;
    const found: Kept = kept.size === 0 ? nothing : {};
    const names = out.references.length;
    let shape = root;
    for (;;) {
      const { ahead } = shape;
      const next =
        ahead !== undefined && src.passes(ahead, shape.aheadLines)
          ? shape.aheadNext
          : lookAhead(shape, root, src, after);
      if (next === undefined) break;
      // There may be more space than the last time.
      if ((src.bytes[src.at] as number) <= 0x20) src.space();
      shape = next;
      out.begin();
      const { member } = shape;
      if (member === undefined) src.plainString();
      else if (kept.has(shape.key)) found[shape.key] = readAsked(shape, member, out, src);
      else (member.read ?? readOf(member))(out, src);
    }
    const order = shape.order ?? orderOf(shape);
    if (!order.isKept) out.reorder(order.places, first);
    out.started = first;
    if (check !== undefined && !check(found)) giveUp();
    if (reference !== undefined) {
      const inside = out.references.splice(names);
      reference(found, out);
      for (const one of inside) out.references.push(one);
    }
    out.muted -= mutes;
    out.leave();
    return found;
  };
}

/** A value that is asked for. Of objects further inside, who asks is not asked again: there it has to be the same the next time. */
function readAsked({ memo, key }: Shape, member: Member, out: Encoding, src: JsonBytes): unknown {
  if (out.recording === undefined || out.depth > 1) return writeRemembered(memo, out, src, member.write);
  return readValue(memo, out, src, member, key);
}

/** The same as `writeRemembered`, and notes where the value stood while somebody wants to know. */
function readValue(memo: Memo, out: Encoding, src: JsonBytes, member: Member, key: Hole["key"]): unknown {
  const { recording } = out;
  const from = src.at;
  const at = out.length;
  const value = writeRemembered(memo, out, src, member.write);
  recording?.value(src, from, at, out, value, member, key);
  return value;
}

/** Reads what is between two values, or behind the last. Undefined: the object ended. */
function lookAhead(shape: Shape, root: Shape, src: JsonBytes, after: Shapes["after"]): Shape | undefined {
  const from = src.at;
  const before = src.lines;
  let code = src.space();
  let next: Shape | undefined;
  if (code === 0x7d) {
    src.at += 1;
  } else {
    if (shape !== root) {
      if (code !== 0x2c) giveUp();
      src.at += 1;
      code = src.space();
    }
    if (code !== 0x22) giveUp();
    const key = src.text();
    if (src.space() !== 0x3a) giveUp();
    src.at += 1;
    src.space();
    next = shape.next.get(key) ?? after(shape, key);
  }
  if (src.at - from <= longestAhead) {
    shape.ahead = src.since(from);
    shape.aheadLines = src.lines - before;
    shape.aheadNext = next;
  }
  return next;
}

/** Reads any value first, and then writes it. */
export function readRemembered(member: Member, memo: Memo): ReadField {
  return (out, src) => {
    if (out.recording === undefined) writeRemembered(memo, out, src, member.write);
    else readValue(memo, out, src, member, undefined);
  };
}

/** Reads strings that may be whatever they want, if they are not empty. */
export function readText({ number }: DescField, write: Member["write"]): ReadField {
  const tag = number * 8 + 2;
  return (out, src) => {
    const from = src.at + 1;
    const end = src.plainString();
    if (end === from) write(out, "");
    else {
      out.tag(tag);
      out.piece(src.bytes, from, end);
    }
  };
}

/** Reads a message in a field of its own. */
export function readOne(number: number, messageOf: () => ReadMessage): ReadField {
  const tag = number * 8 + 2;
  let usual = 1;
  return (out, src) => {
    out.tag(tag);
    // A message of its own kind inside may change what is usual.
    const reserved = usual;
    const start = out.open(reserved);
    messageOf()(out, src);
    usual = out.close(start, reserved);
  };
}

/** Reads a list of messages. */
export function readList(number: number, messageOf: () => ReadMessage, keeps: (count: number) => boolean): ReadField {
  const item = readOne(number, messageOf);
  return (out, src) => {
    if (src.bytes[src.at] !== 0x5b) giveUp();
    src.at += 1;
    let count = 0;
    if (src.space() === 0x5d) src.at += 1;
    else {
      for (;;) {
        item(out, src);
        count += 1;
        const code = src.space();
        src.at += 1;
        if (code === 0x5d) break;
        if (code !== 0x2c) giveUp();
        src.space();
      }
    }
    if (!keeps(count)) giveUp();
  };
}
