import type { DescField } from "@bufbuild/protobuf";
import { maxKept } from "../errors/limits.js";
import type { MessageFields } from "../references/rules.js";
import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";
import type { WriteField } from "./writers.js";

/** A field that an object may have. */
export interface ShapeMember {
  readonly field: DescField;
  readonly write: WriteField;
}

/** The fields that messages of one schema must and may have. */
export interface Members {
  /** By either JSON name. Undefined if there is no such field, or it is not compiled. */
  readonly find: (key: string) => ShapeMember | undefined;
  /** Numbers of the fields that break a rule if they are missing. */
  readonly required: readonly number[];
  /** Local names of the oneofs that need a member. */
  readonly requiredOneofs: readonly string[];
}

/** The order in which the values of an object, by their positions, are written as fields. */
interface Order {
  readonly places: readonly number[];
  readonly writes: readonly WriteField[];
}

/** Gives up at a message that a rule refuses, or notes the resources that the message names. */
export type MessageCheck = (out: Encoding, message: MessageFields) => void;

/** The meaning of an object's keys, in their sequence. It is computed once for all objects with the same keys. */
export interface Shape {
  readonly parent: Shape | undefined;
  /** Undefined for `"@type"`, and at the start of an object. */
  readonly member: ShapeMember | undefined;
  lastKey: string | undefined;
  lastNext: Shape | undefined;
  readonly next: Map<string, Shape>;
  order: Order | undefined;
  /**
   * The judges that depend on the values of such an object. The others read no value of the first such object, so for
   * them all are alike. Undefined until there was one.
   */
  judges: readonly MessageCheck[] | undefined;
}

function createShape(parent: Shape | undefined, member: ShapeMember | undefined): Shape {
  return {
    parent,
    member,
    lastKey: undefined,
    lastNext: undefined,
    next: new Map(),
    order: undefined,
    judges: undefined,
  };
}

/** The shapes of the messages of one schema. */
export interface Shapes {
  /** The start of an object. */
  readonly root: Shape;
  /** The shape with one more key. Gives up if the key is not a field. */
  readonly after: (shape: Shape, key: string) => Shape;
  /** Gives up if a field or a oneof is set twice, or a required one is missing. */
  readonly orderOf: (shape: Shape) => Order;
}

/** @param typed whether objects have `"@type"` */
export function createShapes(members: Members, typed: boolean): Shapes {
  const root = createShape(undefined, undefined);
  let count = 0;

  function after(shape: Shape, key: string): Shape {
    let next = shape.next.get(key);
    if (next === undefined) {
      const isType = typed && key === "@type";
      const member = isType ? undefined : members.find(key);
      if (member === undefined && !isType) return giveUp();
      next = createShape(shape, member);
      // Other key sequences are looked up every time.
      if (count >= maxKept) return next;
      count += 1;
      shape.next.set(key, next);
    }
    shape.lastKey = key;
    shape.lastNext = next;
    return next;
  }

  function orderOf(last: Shape): Order {
    const fields: { readonly place: number; readonly member: ShapeMember }[] = [];
    const chain: Shape[] = [];
    for (let shape = last; shape.parent !== undefined; shape = shape.parent) chain.push(shape);
    for (const [place, shape] of chain.reverse().entries()) {
      if (shape.member !== undefined) fields.push({ place, member: shape.member });
    }
    const numbers = new Set(fields.map(({ member }) => member.field.number));
    const oneofs = fields.flatMap(({ member: { field } }) => field.oneof?.localName ?? []);
    if (numbers.size < fields.length || new Set(oneofs).size < oneofs.length) giveUp();
    if (members.required.some((number) => !numbers.has(number))) giveUp();
    if (members.requiredOneofs.some((name) => !oneofs.includes(name))) giveUp();
    fields.sort((a, b) => a.member.field.number - b.member.field.number);
    const order = { places: fields.map(({ place }) => place), writes: fields.map(({ member }) => member.write) };
    last.order = order;
    return order;
  }

  return { root, after, orderOf };
}
