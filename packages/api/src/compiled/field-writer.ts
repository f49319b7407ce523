import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { isObject } from "../text/source-document.js";
import type { FieldCheck } from "../validate/field-check.js";
import type { ValueCheck } from "../validate/values/value-check.js";
import { giveUp } from "./doubt.js";
import type { Encoding } from "./encoding.js";
import { type Scalar, scalarOf, scalarOfField } from "./scalars.js";
import { keysInOrder } from "./well-known.js";
import type { MessageWriter, WriteField } from "./writers.js";

const { IMPLICIT, EXPLICIT } = FeatureSet_FieldPresence;

type WriterOf = (schema: DescMessage) => MessageWriter;

/** The wire type of values with a length. */
const delimited = 2;

/**
 * Compiles a writer for one field, with the checks of its rules. Undefined for kinds of fields that Envoy's API does
 * not use.
 */
export function createWriteField(
  field: DescField,
  check: FieldCheck | undefined,
  writerOf: WriterOf,
): WriteField | undefined {
  if (field.presence !== IMPLICIT && field.presence !== EXPLICIT) return undefined;
  if (field.fieldKind === "message" || (field.fieldKind === "list" && field.listKind === "message")) {
    if (field.delimitedEncoding) return undefined;
  }
  switch (field.fieldKind) {
    case "message":
      return oneMessage(field.number, writerOf(field.message), check?.whole);
    case "scalar":
    case "enum": {
      const scalar = scalarOfField(field);
      const omitsZero = field.presence === IMPLICIT && field.oneof === undefined;
      return scalar && oneScalar(field.number, scalar, check?.whole, omitsZero);
    }
    case "list":
      return createWriteList(field, check, writerOf);
    case "map":
      return createWriteMap(field, check, writerOf);
  }
}

function oneScalar(number: number, scalar: Scalar, check: ValueCheck | undefined, omitsZero: boolean): WriteField {
  const { read, write, zero, wireType } = scalar;
  const checked = checkedBy(scalar, check);
  const tag = number * 8 + wireType;
  return (out, json) => {
    const value = read(json);
    if (checked !== undefined) checked(value);
    if (omitsZero && value === zero) return;
    out.tag(tag);
    write(out, value);
  };
}

/** Gives up at a value that breaks a rule. */
function checkedBy({ checked }: Scalar, check: ValueCheck | undefined): ((value: unknown) => void) | undefined {
  if (check === undefined) return undefined;
  if (checked === undefined) return (value) => keep(check(value));
  return (value) => keep(check(checked(value)));
}

function keep(violation: unknown): void {
  if (violation !== undefined) giveUp();
}

function oneMessage(number: number, writer: MessageWriter, check: ValueCheck | undefined): WriteField {
  // No check is known for other messages.
  if (check !== undefined && !isChecked(writer.schema)) return giveUp;
  const tag = number * 8 + delimited;
  let usual = 1;
  return (out, json) => {
    out.tag(tag);
    // A nested message of the same kind may change `usual`.
    const reserved = usual;
    const start = out.open(reserved);
    const value = writer.write(out, json);
    if (check !== undefined) keep(check(value));
    usual = out.close(start, reserved);
  };
}

/** Whether the writer returns the value that the checks of rules need. */
function isChecked({ typeName }: DescMessage): boolean {
  return /^google\.protobuf\.(Any|Duration|\w+Value)$/.test(typeName) && typeName !== "google.protobuf.ListValue";
}

function createWriteList(
  field: DescField & { fieldKind: "list" },
  check: FieldCheck | undefined,
  writerOf: WriterOf,
): WriteField | undefined {
  const whole = check?.whole;
  if (field.listKind === "message") {
    const item = oneMessage(field.number, writerOf(field.message), check?.items);
    return (out, json) => {
      if (!Array.isArray(json)) return giveUp();
      // Rules for a list of messages can only restrict its length, since messages are never equal.
      if (whole !== undefined) keep(whole(json));
      for (const value of json) {
        if (value === null) giveUp();
        item(out, value);
      }
    };
  }
  const scalar = scalarOfField(field);
  if (scalar === undefined) return undefined;
  const { read, write, wireType } = scalar;
  const checked = checkedBy(scalar, check?.items);
  const tag = field.number * 8 + (field.packed ? delimited : wireType);
  return (out, json) => {
    if (!Array.isArray(json)) return giveUp();
    const values = json.map(read);
    if (whole !== undefined) keep(whole(values));
    if (checked !== undefined) for (const value of values) checked(value);
    if (field.packed) writePacked(out, tag, values, write);
    else {
      for (const value of values) {
        out.tag(tag);
        write(out, value);
      }
    }
  };
}

function writePacked(out: Encoding, tag: number, values: readonly unknown[], write: Scalar["write"]): void {
  if (values.length === 0) return;
  out.tag(tag);
  const start = out.open(1);
  for (const value of values) {
    out.room();
    write(out, value);
  }
  out.close(start, 1);
}

function createWriteMap(
  field: DescField & { fieldKind: "map" },
  check: FieldCheck | undefined,
  writerOf: WriterOf,
): WriteField | undefined {
  const keyScalar = scalarOf(field.mapKey);
  // Keys of other types have several spellings in JSON, and are rare.
  if (keyScalar?.zero !== "") return undefined;
  const value = writeEntryValue(field, check?.items, writerOf);
  if (value === undefined) return undefined;
  const tag = field.number * 8 + delimited;
  return (out, json) => {
    if (!isObject(json)) return giveUp();
    if (check?.whole !== undefined) keep(check.whole(json));
    for (const key of keysInOrder(json)) {
      const item = json[key];
      if (item === null) giveUp();
      if (check?.keys !== undefined) keep(check.keys(key));
      out.tag(tag);
      const start = out.open(1);
      out.tag(8 + delimited);
      out.string(key);
      value(out, item);
      out.close(start, 1);
    }
  };
}

/** The value of an entry is field 2, and is written even if it is empty. */
function writeEntryValue(
  field: DescField & { fieldKind: "map" },
  check: ValueCheck | undefined,
  writerOf: WriterOf,
): WriteField | undefined {
  if (field.mapKind === "message") return oneMessage(2, writerOf(field.message), check);
  const scalar = scalarOfField(field);
  return scalar && oneScalar(2, scalar, check, false);
}
