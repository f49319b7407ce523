import type { JsonValue } from "@bufbuild/protobuf";
import { parseJson } from "./json-source.js";
import { LineIndex } from "./line-index.js";

/** What a text holds, or where and why it is no JSON. Lines and columns count from 1. */
export type JsonText =
  | { readonly kind: "value"; readonly value: JsonValue }
  | { readonly kind: "problem"; readonly line: number; readonly column: number; readonly message: string };

/** Reads one JSON value. A problem never shows what stands in the text: it may be a secret. */
export function parseJsonText(text: string): JsonText {
  try {
    return { kind: "value", value: JSON.parse(text) as JsonValue };
  } catch {
    // Slow, and says where.
    const [problem] = parseJson(text).problems;
    const { line, column } = new LineIndex(text).at(problem?.offset ?? 0);
    return { kind: "problem", line, column, message: problem?.message ?? "not a JSON value" };
  }
}
