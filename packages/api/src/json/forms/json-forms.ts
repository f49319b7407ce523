import { type DescEnum, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { isObject, setOwn } from "../../text/source-document.js";

/*
 * The forms of a single value that Envoy's JSON reader accepts beside proto3's canonical form. Each function returns
 * the canonical form of such a value, and every other value unchanged: the plain reader then judges it.
 */

const words: ReadonlyMap<string, boolean> = new Map([
  ...["true", "t", "yes", "y", "1"].map((word) => [word, true] as const),
  ...["false", "f", "no", "n", "0"].map((word) => [word, false] as const),
]);

/** @param written the spelling in the file, which a text field takes instead */
export function scalarForm(scalar: ScalarType | undefined, json: JsonValue, written?: string): JsonValue {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return written ?? json;
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT)
    return typeof json === "string" ? numberForm(json) : asNumber(json);
  if (typeof json !== "string") return json;
  return scalar === ScalarType.BOOL ? (words.get(json.toLowerCase()) ?? json) : integerForm(json);
}

/**
 * The parsers return bigints for integers that a double cannot hold, so that fields of 64 bits keep every digit. Where
 * a double is taken, they become numbers.
 */
function asNumber(json: JsonValue): JsonValue {
  return typeof json === "bigint" ? Number(json) : json;
}

/** A number in a string. One that is too large for a double is not a number. */
function numberForm(json: string): JsonValue {
  const text = json.trim();
  const [, sign, endless] = /^([-+]?)\.?(inf|infinity|nan)$/i.exec(text) ?? [];
  if (endless !== undefined) return /^n/i.test(endless) ? "NaN" : sign === "-" ? "-Infinity" : "Infinity";
  const value = numberIn(text);
  return Number.isFinite(value) ? value : json;
}

/** An integer in a string, in any notation. */
function integerForm(json: string): JsonValue {
  // BigInt does not accept a plus sign, and is slow for long texts.
  if (/^[-+]?\d{1,40}$/.test(json)) return String(BigInt(json.replace("+", "")));
  const value = numberIn(json);
  return Number.isSafeInteger(value) ? value : json;
}

/** From decimal digits with fraction and exponent, or hexadecimal digits; NaN for anything else. */
function numberIn(text: string): number {
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text)) return Number(text);
  const [, sign, digits = ""] = /^([-+]?)(0x[\da-f]+)$/i.exec(text) ?? [];
  return sign === "-" ? -Number(digits) : Number(digits === "" ? Number.NaN : digits);
}

/** The name of an enum value in any case, or its number in a string. */
export function enumForm(schema: DescEnum, value: JsonValue, written?: string): JsonValue {
  const json = typeof value === "boolean" ? (written ?? value) : value;
  if (typeof json !== "string") return json;
  const upper = json.toUpperCase();
  const isName = (name: string) => schema.values.some((value) => value.name === name);
  if (isName(json)) return json;
  if (isName(upper)) return upper;
  const number = /^\s*[-+]?\d{1,10}\s*$/.test(json) ? Number(json) : Number.NaN;
  return Math.abs(number) <= 2 ** 31 ? number : json;
}

/** A duration or a time that is written with the fields of its message; the content of a `Struct` without bigints. */
export function wellKnownForm(typeName: string, json: JsonValue): JsonValue {
  if (/^google\.protobuf\.(?:Struct|Value|ListValue)$/.test(typeName)) return structForm(json);
  if (!isObject(json)) return json;
  if (typeName === "google.protobuf.Duration") return durationForm(json);
  return typeName === "google.protobuf.Timestamp" ? timeForm(json) : json;
}

function structForm(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(structForm);
  if (!isObject(json)) return asNumber(json);
  const form: JsonObject = {};
  for (const [key, value] of Object.entries(json)) setOwn(form, key, structForm(value));
  return form;
}

function durationForm(json: JsonObject): JsonValue {
  const parts = partsOf(json);
  if (parts === undefined) return json;
  const { seconds, nanos } = parts;
  if (seconds * nanos < 0) return json;
  const sign = seconds < 0 || nanos < 0 ? "-" : "";
  return `${sign}${Math.abs(seconds)}.${String(Math.abs(nanos)).padStart(9, "0")}s`;
}

function timeForm(json: JsonObject): JsonValue {
  const parts = partsOf(json);
  if (parts === undefined || parts.nanos < 0) return json;
  const time = new Date(parts.seconds * 1000);
  if (Number.isNaN(time.getTime()) || !/^\d{4}-/.test(time.toISOString())) return json;
  return `${time.toISOString().slice(0, -5)}.${String(parts.nanos).padStart(9, "0")}Z`;
}

function partsOf(json: JsonObject): { readonly seconds: number; readonly nanos: number } | undefined {
  const { seconds = 0, nanos = 0, ...others } = json;
  const [whole, part] = [seconds, nanos].map((value) => Number(scalarForm(ScalarType.INT64, value ?? 0)));
  if (whole === undefined || part === undefined || Object.keys(others).length > 0) return undefined;
  const isKept = Number.isSafeInteger(whole) && Number.isInteger(part) && Math.abs(part) < 1e9;
  return isKept ? { seconds: whole, nanos: part } : undefined;
}
