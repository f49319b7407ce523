import { type DescEnum, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { didYouMean } from "../errors/nearest-name.js";

/** How messages with their own JSON form are written. */
export const expectedForm: Readonly<Record<string, string>> = {
  "google.protobuf.Duration": 'a duration in seconds such as "0.25s"',
  "google.protobuf.Timestamp": 'a time such as "2026-01-31T12:00:00Z"',
  "google.protobuf.FieldMask": 'field names in camelCase, joined by commas, such as "a,b.cD"',
  "google.protobuf.Struct": "a mapping",
  "google.protobuf.ListValue": "a list",
  "google.protobuf.Value": "any JSON value",
};

/** Go's units of time, which other configurations use, in seconds. */
const secondsIn: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86_400 };

/** The protobuf JSON form of a duration that was written in another way: `500ms`, `1m30s`, or plain seconds. */
export function suggestion({ typeName }: DescMessage, json: JsonValue): string {
  if (typeName !== "google.protobuf.Duration" || (typeof json !== "string" && typeof json !== "number")) return "";
  const text = /^\d{1,9}(?:\.\d{1,9})?$/.test(String(json)) ? `${json}s` : String(json);
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:[num]?s|[mhd]))+$/.test(text) || text.length > 40) return "";
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-z]+)/g))
    seconds += Number(count) * (secondsIn[unit ?? ""] ?? Number.NaN);
  const shown = seconds.toFixed(9).replace(/\.?0+$/, "");
  return `; write "${shown}s"`;
}

/** A duration with trailing text that the reader accepts: `1s500ms` is not 1.5 seconds. */
export function isTrailed(schema: DescMessage, json: JsonValue): boolean {
  return schema.typeName === "google.protobuf.Duration" && typeof json === "string" && !/^-?\d+(?:\.\d+)?s$/.test(json);
}

/**
 * Whether a text may contain mistakes that the plain reader silently accepts: text after a duration, or keys beside the
 * `value` of an `Any` whose content has its own JSON form.
 */
export function mayHideMistakes(text: string): boolean {
  if (/google\.protobuf\.(?!Empty\b)/.test(text)) return true;
  return /[\s"':]-?\d+(?:\.\d+)?s(?:[^\s"',}\]#]| +[^\s#,}\]])/.test(text);
}

/** Describes a value without showing it: it may be a secret. */
export function kindOf(json: JsonValue): string {
  if (json === null) return "nothing";
  if (Array.isArray(json)) return "a list";
  if (typeof json === "object") return "a mapping";
  if (typeof json === "boolean") return `the boolean ${json}`;
  return typeof json === "string" ? "a string" : "a number";
}

/** The values of an enum. */
export function expectedEnum(schema: DescEnum, json: JsonValue): string {
  const names = schema.values.map((value) => value.name);
  const hint = typeof json === "string" ? didYouMean(json.toUpperCase(), names) : "";
  const listed = names.length > 12 ? [...names.slice(0, 12), "…"] : names;
  return `one of ${listed.join(", ")}${hint === "" ? "" : ` (${hint.slice(2)})`}`;
}

/** How a scalar is written. */
export function expectedScalar(scalar: ScalarType | undefined): string {
  switch (scalar) {
    case ScalarType.BOOL:
      return "true or false";
    case ScalarType.STRING:
      return "a string (numbers and booleans in quotes)";
    case ScalarType.BYTES:
      return "base64 text";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "a number";
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return "a whole number from 0 to 4294967295";
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return "a whole number from 0 to 18446744073709551615";
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return "a whole number of 64 bits";
    default:
      return "a whole number from -2147483648 to 2147483647";
  }
}
