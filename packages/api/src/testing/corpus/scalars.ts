import { type DescField, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { boundsOf, durationOf, secondsOf } from "./numbers.js";
import { type Rules, rulesIn } from "./rules.js";

/** A value and its label: a name of an enum, or the rule at whose end it stands. */
export interface Labelled {
  readonly label: string;
  readonly value: JsonValue;
}

/** One value in a field: its own value, an item of it, or a key. */
export type Where = "whole" | "items" | "keys";

/**
 * The scalar type of a value of the field: for a wrapper the wrapped type; undefined for messages and enums.
 */
export function scalarOf(field: DescField, where: Where): ScalarType | undefined {
  if (where === "keys") return field.fieldKind === "map" ? field.mapKey : undefined;
  if (field.scalar !== undefined) return field.scalar;
  return field.message === undefined ? undefined : wrapped[field.message.typeName];
}

const wrapped: Readonly<Record<string, ScalarType>> = {
  "google.protobuf.DoubleValue": ScalarType.DOUBLE,
  "google.protobuf.FloatValue": ScalarType.FLOAT,
  "google.protobuf.Int64Value": ScalarType.INT64,
  "google.protobuf.UInt64Value": ScalarType.UINT64,
  "google.protobuf.Int32Value": ScalarType.INT32,
  "google.protobuf.UInt32Value": ScalarType.UINT32,
  "google.protobuf.BoolValue": ScalarType.BOOL,
  "google.protobuf.StringValue": ScalarType.STRING,
  "google.protobuf.BytesValue": ScalarType.BYTES,
};

/** The rules of one value of the field. */
export function rulesFor(rules: Rules, where: Where): Rules {
  if (where === "keys") return rulesIn(rules.set.keys);
  if (rules.kind === "repeated") return rulesIn(rules.set.items);
  if (rules.kind === "map") return rulesIn(rules.set.values);
  return rules;
}

const integers = new Set([
  ScalarType.INT32,
  ScalarType.SINT32,
  ScalarType.SFIXED32,
  ScalarType.UINT32,
  ScalarType.FIXED32,
]);
const longs = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);

/** The smallest difference between two numbers that rules are about. */
export function stepOf(scalar: ScalarType): number {
  return integers.has(scalar) || longs.has(scalar) ? 1 : 0.125;
}

/**
 * Values of a number that keep its rules: an ordinary one first, then those at the ends. `broken.ts` makes those that
 * break them.
 */
export function numberValues(scalar: ScalarType, rules: JsonObject, keeps: (value: unknown) => boolean): Labelled[] {
  const asRule = (value: number): unknown => (longs.has(scalar) ? BigInt(Math.trunc(value)) : value);
  const ends = boundsOf(rules, stepOf(scalar)).within;
  const listed = (Array.isArray(rules.in) ? rules.in : []).map(Number);
  const ordinary = [1, 2, 10, 100, 1000, ...listed, ...ends.map(({ value }) => value)].find((value) =>
    keeps(asRule(value)),
  );
  if (ordinary === undefined) return [];
  const others = ends.filter(({ value }) => value !== ordinary && keeps(asRule(value)));
  return [
    { label: "", value: ordinary },
    ...others.map(({ rule, value }) => ({ label: `end of ${rule}`, value: longs.has(scalar) ? String(value) : value })),
  ];
}

/** The same for durations, in JSON's form of them. */
export function durationValues(rules: JsonObject, keeps: (value: unknown) => boolean): Labelled[] {
  const asRule = (seconds: number): unknown => ({
    seconds: BigInt(Math.floor(seconds)),
    nanos: Math.round((seconds - Math.floor(seconds)) * 1e9),
  });
  // Nobody means the longest duration that protobuf knows.
  const ends = boundsOf(rules, 0.001, secondsOf).within.filter(({ value }) => value < 1e9);
  const ordinary = [1, 0.5, 60, ...ends.map(({ value }) => value)].find((value) => keeps(asRule(value)));
  if (ordinary === undefined) return [];
  const others = ends.filter(({ value }) => value !== ordinary && keeps(asRule(value)));
  return [
    { label: "", value: durationOf(ordinary) },
    ...others.map(({ rule, value }) => ({ label: `end of ${rule}`, value: durationOf(value) })),
  ];
}

const usualTexts = [
  "text",
  "x-text",
  "/text",
  "/text*",
  "127.0.0.1",
  "GET",
  "%text%",
  "text/",
  "http://text/",
  "text@text.org",
];

/** A text that keeps the rules; the wish comes first. */
export function textValue(
  wish: string | undefined,
  rules: JsonObject,
  keeps: (value: unknown) => boolean,
): string | undefined {
  const least = Math.max(Number(rules.min_len ?? rules.len ?? rules.min_bytes ?? 0), 1);
  const listed = Array.isArray(rules.in) ? rules.in.map(String) : [];
  const parts = ["prefix", "contains", "suffix"].map((rule) => String(rules[rule] ?? "")).join("");
  const candidates = [
    ...(wish === undefined ? [] : [wish]),
    ...usualTexts,
    ...listed,
    String(rules.const ?? ""),
    parts,
    "a".repeat(least),
    "0123456789abcdef".repeat(8).slice(0, least),
  ];
  return candidates.find((candidate) => candidate !== "" && keeps(candidate));
}

/** Texts at the ends of rules of length. */
export function textEnds(rules: JsonObject, keeps: (value: unknown) => boolean): Labelled[] {
  return ["min_len", "max_len", "max_bytes", "min_bytes"].flatMap((rule) => {
    const length = Number(rules[rule] ?? 0);
    // One letter is seldom a meaningful text; it only must not be empty.
    if (length <= 1 || length > 20_000) return [];
    const value = "a".repeat(length);
    return keeps(value) ? [{ label: `end of ${rule}`, value }] : [];
  });
}
