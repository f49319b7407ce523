import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { FieldStep } from "./field-path.js";

/** One document of a YAML or JSON file: what it holds, and where each part of it stands. */
export interface SourceDocument {
  readonly value: JsonValue;
  /** Offset of the document's first character, in UTF-16 code units. */
  readonly offset: number;
  /** The offset of the part that the steps lead to; where they lead nowhere, of the deepest part that is there. Not fast: for errors only. */
  locate(steps: readonly FieldStep[]): number;
}

/** Why a text is not well-formed, and where. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

/** A text as documents; with a problem, the documents may be missing. */
export interface SourceText {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly SyntaxProblem[];
}

/** How deep mappings and sequences may be nested: deeper than any message, and far from the end of the stack. */
export const nestingLimit = 256;

/** Digits of the longest integer that is kept whole: more than 64 bits have, and no more than a few, for the cost of a longer one grows with its square. */
export const longestInteger = 40;

/** The keys that a step may stand under: a field's proto name or its JSON name, or the key of a map's entry. */
export function keysOfStep(step: FieldStep): readonly string[] {
  if (typeof step === "object") return [step.key];
  if (typeof step === "number") return [];
  const jsonName = step.replaceAll(/_+([^_]?)/g, (_, letter: string) => letter.toUpperCase());
  return jsonName === step ? [step] : [step, jsonName];
}

/** Sets a key as the object's own, whatever it is called. */
export function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** As which text a value is written that stands under a key of a mapping or is an item of a list. */
const written = new WeakMap<object, Map<string | number, string>>();

/** Notes how a value is written that a field of text takes so: what is `1.10` in YAML is no 1.1 there. */
export function noteWritten(container: object, key: string | number, text: string): void {
  const known = written.get(container);
  if (known === undefined) written.set(container, new Map([[key, text]]));
  else known.set(key, text);
}

/** How a value is written, if a field of text takes it so. */
export function writtenAs(container: object, key: string | number): string | undefined {
  return written.get(container)?.get(key);
}

/** Lets a copy know how its values are written; a list of one, how the value under that key is. */
export function keepWritten(from: object, to: object, key?: string): void {
  const known = written.get(from);
  if (known === undefined) return;
  if (key === undefined) written.set(to, known);
  else {
    const text = known.get(key);
    if (text !== undefined) noteWritten(to, 0, text);
  }
}
