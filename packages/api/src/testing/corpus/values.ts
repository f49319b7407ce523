import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { contentHints, textHints } from "./hints/field-hints.js";
import type { RuleBook } from "./rules.js";
import {
  durationValues,
  type Labelled,
  numberValues,
  rulesFor,
  scalarOf,
  textEnds,
  textValue,
  type Where,
} from "./scalars.js";

/**
 * The values that a field, an item of it or a key may hold: an ordinary one first, then every value of an enum and the
 * ends of the ranges that rules allow. Undefined for a message without its own JSON form.
 */
export function ownValues(field: DescField, where: Where, book: RuleBook): readonly Labelled[] | undefined {
  const isMany = field.fieldKind === "list" || field.fieldKind === "map";
  const place: Where = where === "whole" && isMany ? "items" : where;
  const { set } = rulesFor(book.of(field), place);
  const keeps = (value: unknown): boolean => book.keeps(field, place, value);
  const scalar = scalarOf(field, where);
  switch (scalar) {
    case ScalarType.STRING: {
      const text = textValue(textHints.find(([pattern]) => pattern.test(field.name))?.[1], set, keeps);
      if (text === undefined) return [];
      return [{ label: "", value: text }, ...textEnds(set, keeps).filter(({ value }) => value !== text)];
    }
    case ScalarType.BOOL:
      if (where === "keys") return [{ label: "", value: "true" }];
      return [{ label: "", value: true }, ...(field.fieldKind === "message" ? [{ label: "false", value: false }] : [])];
    case ScalarType.BYTES: {
      const length = Math.max(Number(set.min_len ?? set.len ?? 1), 1);
      return [{ label: "", value: Buffer.alloc(length, "b").toString("base64") }];
    }
    case undefined:
      break;
    default:
      return numberValues(scalar, set, keeps);
  }
  if (field.enum !== undefined) return enumValues(field.enum.values, keeps);
  if (field.message?.typeName === "google.protobuf.Duration") return durationValues(set, keeps);
  const content = contentHints[field.message?.typeName ?? ""];
  return content === undefined ? undefined : [{ label: "", value: structuredClone(content) }];
}

/** A value that says something comes first: neither 0, the default of most enums, nor a deprecated one. */
function enumValues(
  values: readonly { readonly name: string; readonly number: number; readonly deprecated: boolean }[],
  keeps: (value: unknown) => boolean,
): readonly Labelled[] {
  const allowed = values.filter(({ number }) => keeps(number));
  const ordinary = allowed.find(({ number, deprecated }) => number !== 0 && !deprecated) ?? allowed[0];
  if (ordinary === undefined) return [];
  const rest = allowed.filter((value) => value !== ordinary);
  return [{ label: "", value: ordinary.name }, ...rest.map(({ name }) => ({ label: name, value: name }))];
}

/** The value of a scalar that is not set. */
export function emptyScalar(scalar: ScalarType | undefined): unknown {
  switch (scalar) {
    case ScalarType.STRING:
      return "";
    case ScalarType.BOOL:
      return false;
    case ScalarType.BYTES:
      return new Uint8Array();
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 0n;
    default:
      return 0;
  }
}
