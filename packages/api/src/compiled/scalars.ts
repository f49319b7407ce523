import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";
import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";

/** Reads and writes the values of one scalar type. */
export interface Scalar<Value = unknown> {
  /** Reads a JSON value. Gives up if it is invalid, or a rare spelling. */
  read(json: unknown): Value;
  /** The value, without its tag. */
  write(out: Encoding, value: Value): void;
  /** The value that is omitted if the field has no presence. */
  readonly zero: Value;
  readonly wireType: 0 | 1 | 2 | 5;
  /** The value as the rules' checks expect it, if that differs. */
  checked?(value: Value): unknown;
}

const text: Scalar<string> = {
  read: (json) => (typeof json === "string" ? json : giveUp()),
  write: (out, value) => out.string(value),
  zero: "",
  wireType: 2,
};

const boolean: Scalar<boolean> = {
  read: (json) => (typeof json === "boolean" ? json : giveUp()),
  write: (out, value) => out.varint(value ? 1 : 0),
  zero: false,
  wireType: 0,
};

function whole(most: number): Scalar<number> {
  return {
    read: (json) => (typeof json === "number" && Number.isInteger(json) && json >= 0 && json <= most ? json : giveUp()),
    write: (out, value) => out.varint(value),
    zero: 0,
    wireType: 0,
  };
}

const maxInt32 = 0x7fffffff;
const int32 = whole(maxInt32);
const uint32 = whole(0xffffffff);

/** Numbers that a double can hold, as digits or as a number. */
const whole64: Scalar<number> = {
  read: (json) => {
    if (typeof json === "number") return Number.isSafeInteger(json) && json >= 0 ? json : giveUp();
    return typeof json === "string" && /^\d{1,15}$/.test(json) ? Number(json) : giveUp();
  },
  write: (out, value) => out.varint(value),
  zero: 0,
  wireType: 0,
  checked: BigInt,
};

const double: Scalar<number> = {
  // −0 is not the omitted value.
  read: (json) => (typeof json === "number" && Number.isFinite(json) && !Object.is(json, -0) ? json : giveUp()),
  write: (out, value) => out.double(value),
  zero: 0,
  wireType: 1,
};

const float: Scalar<number> = {
  read: (json) => {
    const value = double.read(json);
    const rounded = Math.fround(value);
    // A later reader would omit a value that rounds to zero.
    return Number.isFinite(rounded) && (rounded !== 0 || value === 0) ? value : giveUp();
  },
  write: (out, value) => out.float(value),
  zero: 0,
  wireType: 5,
};

const noBytes = new Uint8Array(0);

const bytes: Scalar<Uint8Array> = {
  read: (json) => {
    if (json === "") return noBytes;
    const isBase64 = typeof json === "string" && json.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(json);
    return isBase64 ? Buffer.from(json, "base64") : giveUp();
  },
  write: (out, value) => out.raw(value),
  zero: noBytes,
  wireType: 2,
};

const scalars: { readonly [type: number]: Scalar } = {
  [ScalarType.STRING]: text,
  [ScalarType.BOOL]: boolean,
  [ScalarType.INT32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.INT64]: whole64,
  [ScalarType.UINT64]: whole64,
  [ScalarType.DOUBLE]: double,
  [ScalarType.FLOAT]: float,
  [ScalarType.BYTES]: bytes,
};

/** Undefined for types that Envoy's API does not use. */
export function scalarOf(type: ScalarType): Scalar | undefined {
  return scalars[type];
}

/** Reads and writes one value of a field. Undefined for messages, and for types that Envoy's API does not use. */
export function scalarOfField(field: DescField): Scalar | undefined {
  if (field.enum !== undefined) return enumScalar(field.enum) as Scalar | undefined;
  return field.scalar === undefined ? undefined : scalarOf(field.scalar);
}

/** The values of an enum, by name or by number. Undefined if null is one of its values. */
function enumScalar(schema: DescEnum): Scalar<number> | undefined {
  const [first] = schema.values;
  if (first === undefined || schema.typeName === "google.protobuf.NullValue") return undefined;
  const numbers = new Map<unknown, number>();
  for (const { jsonName, number } of schema.values) numbers.set(jsonName, number);
  for (const { name, number } of schema.values) numbers.set(name, number);
  return {
    read: (json) => {
      const number = numbers.get(json);
      if (number !== undefined) return number >= 0 ? number : giveUp();
      return schema.open ? int32.read(json) : giveUp();
    },
    write: int32.write,
    zero: first.number,
    wireType: 0,
  };
}
