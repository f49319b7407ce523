import type { DescField } from "@bufbuild/protobuf";
import type { FieldCheck } from "../validate/field-check.js";
import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";
import type { JsonBytes, TextPiece } from "./json-bytes.js";
import { createMemo, type Memo } from "./memo.js";

/** Writes a field of a message, with its tag, of what JSON has for it. */
export type WriteField = (out: Encoding, json: unknown) => void;

/** Writes a field of a message, with its tag, of the text that JSON has for it. */
export type ReadField = (out: Encoding, src: JsonBytes) => void;

/** A field that may be written. */
export interface Member {
  readonly field: DescField;
  readonly check: FieldCheck | undefined;
  readonly write: WriteField;
  /** Made once it is needed. */
  read: ReadField | undefined;
}

/** What a message of one schema must and may have. */
export interface Members {
  /** By either of its names in JSON. Undefined where there is no such field, or none that is read here. */
  readonly find: (key: string) => Member | undefined;
  /** How many fields there are. */
  readonly count: number;
  /** Numbers of fields that keep their rules only if they are there. */
  readonly required: readonly number[];
  /** Local names of the oneofs of which one member must be there. */
  readonly requiredOneofs: readonly string[];
}

/** In which order the values of an object, by their places in it, become fields. */
interface Order {
  readonly places: readonly number[];
  readonly writes: readonly WriteField[];
  /** Whether they come in the order in which they are written. */
  readonly isKept: boolean;
}

/** How many sequences of keys are remembered of one schema; others are looked at each time that they come. */
const mostShapes = 500;

/** What the keys of an object, in their sequence, mean: found once for all objects with the same keys. */
export interface Shape {
  readonly parent: Shape | undefined;
  /** How many keys there are. */
  readonly length: number;
  readonly key: string;
  /** Undefined for `"@type"`, and where an object begins. */
  readonly member: Member | undefined;
  lastKey: string | undefined;
  lastNext: Shape | undefined;
  readonly next: Map<string, Shape>;
  order: Order | undefined;
  /** What came last in a text behind the value, up to the next one's or the object's end. */
  ahead: TextPiece | undefined;
  /** How many lines end in it. */
  aheadLines: number;
  /** What it led to; undefined is the end. */
  aheadNext: Shape | undefined;
  /** The value that was read last. */
  readonly memo: Memo;
}

function createShape(parent: Shape | undefined, key: string, member: Member | undefined): Shape {
  return {
    parent,
    length: parent === undefined ? 0 : parent.length + 1,
    key,
    member,
    lastKey: undefined,
    lastNext: undefined,
    next: new Map(),
    order: undefined,
    ahead: undefined,
    aheadLines: 0,
    aheadNext: undefined,
    memo: createMemo(),
  };
}

/** The shapes of the messages of one schema. */
export interface Shapes {
  /** Where an object begins. */
  readonly root: Shape;
  /** With one key more; gives up where it is no field, or there are more keys than fields. */
  readonly after: (shape: Shape, key: string) => Shape;
  /** Gives up where a field is there twice, two of one oneof are, or one that must be there is not. */
  readonly orderOf: (shape: Shape) => Order;
}

/** @param typed whether the objects say their type, in `"@type"` */
export function createShapes(members: Members, typed: boolean): Shapes {
  const root = createShape(undefined, "", undefined);
  let count = 0;

  function after(shape: Shape, key: string): Shape {
    let next = shape.next.get(key);
    if (next === undefined) {
      const isType = typed && key === "@type";
      const member = isType ? undefined : members.find(key);
      if (member === undefined && !isType) return giveUp();
      // Some come twice, in a text maybe millions of times.
      if (shape.length > members.count) return giveUp();
      next = createShape(shape, key, member);
      if (count >= mostShapes) return next;
      count += 1;
      shape.next.set(key, next);
    }
    shape.lastKey = key;
    shape.lastNext = next;
    return next;
  }

  function orderOf(last: Shape): Order {
    const fields: { readonly place: number; readonly member: Member }[] = [];
    const places = new Map<Shape, number>();
    const chain: Shape[] = [];
    for (let shape = last; shape.parent !== undefined; shape = shape.parent) chain.push(shape);
    for (const [place, shape] of chain.reverse().entries()) {
      places.set(shape, place);
      if (shape.member !== undefined) fields.push({ place, member: shape.member });
    }
    // A text may say its type twice.
    if (chain.length > fields.length + 1) giveUp();
    const numbers = new Set(fields.map(({ member }) => member.field.number));
    const oneofs = fields.flatMap(({ member: { field } }) => field.oneof?.localName ?? []);
    if (numbers.size < fields.length || new Set(oneofs).size < oneofs.length) giveUp();
    if (members.required.some((number) => !numbers.has(number))) giveUp();
    if (members.requiredOneofs.some((name) => !oneofs.includes(name))) giveUp();
    fields.sort((a, b) => a.member.field.number - b.member.field.number);
    const inText = fields.map(({ place }) => place);
    const isKept = inText.every((place, index) => index === 0 || place > (inText[index - 1] as number));
    const order = { places: inText, writes: fields.map(({ member }) => member.write), isKept };
    last.order = order;
    return order;
  }

  return { root, after, orderOf };
}
