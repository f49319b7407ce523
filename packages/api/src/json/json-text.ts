import type { JsonValue } from "@bufbuild/protobuf";
import { LineIndex } from "../text/line-index.js";
import { parseJson } from "./json-source.js";

/** The value of a text, or where and why it is not JSON. Lines and columns start at 1. */
export type JsonText =
  | { readonly kind: "value"; readonly value: JsonValue }
  | { readonly kind: "problem"; readonly line: number; readonly column: number; readonly message: string };

/** Reads one JSON value. A problem never shows the text: it may be a secret. */
export function parseJsonText(text: string): JsonText {
  try {
    return { kind: "value", value: JSON.parse(text) as JsonValue };
  } catch {
    // Slow, but it knows where.
    const [problem] = parseJson(text).problems;
    const { line, column } = new LineIndex(text).at(problem?.offset ?? 0);
    return { kind: "problem", line, column, message: problem?.message ?? "not a JSON value" };
  }
}
