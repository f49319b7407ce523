import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { FieldStep } from "../errors/field-path.js";

/** One document of a YAML or JSON file: its value, and the position of each part. */
export interface SourceDocument {
  readonly value: JsonValue;
  /** Offset of the document's first character, in UTF-16 code units. */
  readonly offset: number;
  /** The offset of the part at these steps, or of the deepest part that exists. Slow: for errors only. */
  locate(steps: readonly FieldStep[]): number;
}

/** Why a text is not well-formed, and where. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

/** A text as documents. If there is a problem, documents may be missing. */
export interface SourceText {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly SyntaxProblem[];
}

/** How deep mappings and sequences may be nested: deeper than any message, and far from a stack overflow. */
export const nestingLimit = 256;

/**
 * Digits of the longest integer that is kept whole. It exceeds 64 bits, but stays small since parsing time grows with
 * the square.
 */
export const longestInteger = 40;

/** The keys for a step: a field's proto name and its JSON name, or a map entry's key. */
export function keysOfStep(step: FieldStep): readonly string[] {
  if (typeof step === "object") return [step.key];
  if (typeof step === "number") return [];
  const jsonName = step.replaceAll(/_+([^_]?)/g, (_, letter: string) => letter.toUpperCase());
  return jsonName === step ? [step] : [step, jsonName];
}

/** Whether a value is a mapping. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets an own property, whatever its name. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** How a value is spelled that is under a key of a mapping or an item of a list. */
const written = new WeakMap<object, Map<string | number, string>>();

/** Notes the spelling of a value, for fields of text: `1.10` in YAML must not become 1.1. */
export function noteWritten(container: object, key: string | number, text: string): void {
  const known = written.get(container);
  if (known === undefined) written.set(container, new Map([[key, text]]));
  else known.set(key, text);
}

/** How a value is spelled, if a text field needs that. */
export function writtenAs(container: object, key: string | number): string | undefined {
  return written.get(container)?.get(key);
}

/** Copies the spellings to a copy, or with `key` the spelling of one value to a list of one. */
export function keepWritten(from: object, to: object, key?: string): void {
  const known = written.get(from);
  if (known === undefined) return;
  if (key === undefined) written.set(to, known);
  else {
    const text = known.get(key);
    if (text !== undefined) noteWritten(to, 0, text);
  }
}
