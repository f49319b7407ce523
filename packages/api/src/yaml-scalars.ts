import type { JsonValue } from "@bufbuild/protobuf";
import type { Scalar } from "yaml";
import { longestInteger } from "./source-document.js";

/** What a scalar is by YAML 1.2. */
export function scalarValue({ value, source }: Scalar): JsonValue {
  // What is tagged as base64 stays that.
  if (value instanceof Uint8Array) return source ?? "";
  if (typeof value !== "number") return value as JsonValue;
  // 64-bit integers are more than a double holds: protobuf reads them from bigints as well.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && isWholeInteger(source ?? "")) {
    return BigInt(source ?? "") as unknown as JsonValue;
  }
  return Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function isWholeInteger(source: string): boolean {
  return source.length <= longestInteger && /^[-+]?\d+$/.test(source);
}

/** YAML 1.1's booleans beside `true` and `false`. */
const words: ReadonlyMap<unknown, boolean> = new Map([
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

/**
 * What a scalar is to Envoy, where that is no matter of a field's type: `yes` is true, and `0644` is 420. Of fractions
 * and large numbers Envoy makes text, which only a `Struct` shows: there they stay numbers.
 */
export function envoyScalar(scalar: Scalar): JsonValue {
  const { value, source = "", type, tag } = scalar;
  if (type !== "PLAIN" || tag !== undefined) return scalarValue(scalar);
  if (typeof value === "string")
    return isHex(value) ? (numberOf(envoyInteger(value)) ?? value) : (wordOf(value) ?? value);
  if (typeof value !== "number") return scalarValue(scalar);
  // Not Infinity: a field of text takes what is written.
  if (!Number.isFinite(value)) return source;
  const whole = /^[-+]?0./.test(source) ? envoyInteger(source) : undefined;
  return numberOf(whole) ?? scalarValue(scalar);
}

function wordOf(value: string): boolean | undefined {
  return value.length <= 3 ? words.get(value) : undefined;
}

/** A hexadecimal number that YAML 1.2 takes for text. */
function isHex(value: string): boolean {
  return /^[-+]?0x[\da-f]+$/i.test(value);
}

/** A double where that holds every digit. */
function numberOf(whole: bigint | undefined): JsonValue | undefined {
  if (whole === undefined) return undefined;
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : (whole as unknown as JsonValue);
}

/**
 * The text that a scalar is to a field of text: a word that is a boolean elsewhere, and a number that Envoy makes text
 * of. Undefined where it is what `envoyScalar` says to all fields.
 */
export function asWritten({ value, source = "", type, tag }: Scalar): string | undefined {
  if (type !== "PLAIN" || tag !== undefined) return undefined;
  if (typeof value === "string" && !isHex(value)) return wordOf(value) === undefined ? undefined : value;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const whole = envoyInteger(source);
  if (whole === undefined) return source;
  return BigInt.asIntN(32, whole) === whole ? undefined : String(whole);
}

/** An integer of 64 bits: in digits, after a zero in octal ones, after 0x in hexadecimal ones. */
function envoyInteger(source: string): bigint | undefined {
  const [, sign, octal, other] = /^([-+]?)(?:0([0-7]+)|(0x[\da-f]+|0|[1-9]\d*))$/i.exec(source) ?? [];
  if (sign === undefined || source.length > longestInteger) return undefined;
  const size = BigInt(octal === undefined ? (other ?? "") : `0o${octal}`);
  const whole = sign === "-" ? -size : size;
  return BigInt.asIntN(64, whole) === whole ? whole : undefined;
}
