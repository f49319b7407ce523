import type { JsonValue } from "@bufbuild/protobuf";
import type { Scalar, ScalarTag } from "yaml";
import { longestInteger } from "../text/source-document.js";

/** The value of a scalar in YAML 1.2. */
export function scalarValue({ value, source }: Scalar): JsonValue {
  // A value tagged as base64 stays base64.
  if (value instanceof Uint8Array) return source ?? "";
  if (typeof value !== "number") return value as JsonValue;
  // A double cannot hold 64-bit integers, and protobuf also reads bigints.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && isWholeInteger(source ?? "")) {
    return BigInt(source ?? "") as unknown as JsonValue;
  }
  return Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function isWholeInteger(source: string): boolean {
  return source.length <= longestInteger && /^[-+]?\d+$/.test(source);
}

/** YAML 1.1's booleans besides `true` and `false`. */
const words: ReadonlyMap<unknown, boolean> = new Map([
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

/**
 * What Envoy takes under a tag besides what YAML 1.2 does. They are defaults of keys alone, which are never asked:
 * they count where the tag is written.
 */
export const wideTags: readonly ScalarTag[] = [
  { tag: "tag:yaml.org,2002:float", default: "key", test: /^[-+]?(?:0|[1-9]\d*)$/, resolve: Number },
  {
    tag: "tag:yaml.org,2002:bool",
    default: "key",
    test: /^(?:[yn]|yes|no|on|off)$/i,
    resolve: (text) => wordOf(text) ?? text,
  },
];

/**
 * The meaning of a scalar to Envoy, independent of the field's type: `yes` is true, and `0644` is 420. Envoy turns
 * fractions and large numbers into text. Only a `Struct` shows that, and there they stay numbers.
 */
export function envoyScalar(scalar: Scalar): JsonValue {
  const { value, source = "", type, tag } = scalar;
  if (type !== "PLAIN" || tag !== undefined) return scalarValue(scalar);
  if (typeof value === "string")
    return isHex(value) ? (numberOf(envoyInteger(value)) ?? value) : (wordOf(value) ?? value);
  if (typeof value !== "number") return scalarValue(scalar);
  // Not Infinity: a text field takes the spelling.
  if (!Number.isFinite(value)) return source;
  const whole = /^[-+]?0./.test(source) ? envoyInteger(source) : undefined;
  return numberOf(whole) ?? scalarValue(scalar);
}

function wordOf(value: string): boolean | undefined {
  return value.length <= 3 ? words.get(value) : undefined;
}

/** A hexadecimal number that is text in YAML 1.2. */
function isHex(value: string): boolean {
  return /^[-+]?0x[\da-f]+$/i.test(value);
}

/** A double if it holds every digit. */
function numberOf(whole: bigint | undefined): JsonValue | undefined {
  if (whole === undefined) return undefined;
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : (whole as unknown as JsonValue);
}

/**
 * The value of a scalar in a text field, if that differs from `envoyScalar`: a word that is a boolean elsewhere, or a
 * number that Envoy turns into text. Otherwise undefined.
 */
export function asWritten({ value, source = "", type, tag }: Scalar): string | undefined {
  if (type !== "PLAIN" || tag !== undefined) return undefined;
  if (typeof value === "string" && !isHex(value)) return wordOf(value) === undefined ? undefined : value;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const whole = envoyInteger(source);
  if (whole === undefined) return source;
  return BigInt.asIntN(32, whole) === whole ? undefined : String(whole);
}

/** A 64-bit integer: decimal, octal with a leading zero, or hexadecimal with 0x. */
function envoyInteger(source: string): bigint | undefined {
  const [, sign, octal, other] = /^([-+]?)(?:0([0-7]+)|(0x[\da-f]+|0|[1-9]\d*))$/i.exec(source) ?? [];
  if (sign === undefined || source.length > longestInteger) return undefined;
  const size = BigInt(octal === undefined ? (other ?? "") : `0o${octal}`);
  const whole = sign === "-" ? -size : size;
  return BigInt.asIntN(64, whole) === whole ? whole : undefined;
}
