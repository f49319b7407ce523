import { isAscii } from "node:buffer";
import { LineIndex } from "./line-index.js";
import type { SyntaxProblem } from "./source-document.js";

/** A file's text, with the line and column of each character. */
export interface FileText {
  readonly text: string;
  at(offset: number): { readonly line: number; readonly column: number };
}

/**
 * Decodes UTF-8, and drops a byte order mark. Bytes that a text file cannot contain are a problem with its position.
 * YAML may also be UTF-16, with a mark or without: Envoy reads that, too.
 */
export function decodeText(
  bytes: Uint8Array,
  form: "json" | "yaml" | "text",
): FileText & { readonly problem: SyntaxProblem | undefined } {
  const wide = wideEncoding(bytes);
  const text = wide === undefined ? decode(bytes) : form === "yaml" ? decodeWide(bytes, wide) : undefined;
  let lines: LineIndex | undefined;
  const at = (offset: number) => {
    lines ??= new LineIndex(text ?? new TextDecoder().decode(bytes));
    return lines.at(offset);
  };
  return { text: text ?? "", at, problem: text === undefined ? undecodable(bytes, wide) : unprintable(text) };
}

type WideEncoding = "UTF-16LE" | "UTF-16BE" | "UTF-32";

/** The encoding of a text that begins with a byte order mark, or with an ASCII character, as YAML and JSON do. */
function wideEncoding([a, b, c, d]: Uint8Array): WideEncoding | undefined {
  const begins = (...starts: readonly (number | undefined)[]) =>
    starts.every((byte, index) => [a, b, c, d][index] === byte);
  if (begins(0, 0, 0xfe, 0xff) || begins(0xff, 0xfe, 0, 0)) return "UTF-32";
  if (begins(0xff, 0xfe)) return "UTF-16LE";
  if (begins(0xfe, 0xff)) return "UTF-16BE";
  if (a === undefined || b === undefined) return undefined;
  if ((a === 0 && b === 0 && c === 0 && d !== 0) || (a !== 0 && b === 0 && c === 0 && d === 0)) return "UTF-32";
  if (a === 0 && b !== 0) return "UTF-16BE";
  return a !== 0 && b === 0 ? "UTF-16LE" : undefined;
}

function decodeWide(bytes: Uint8Array, encoding: WideEncoding): string | undefined {
  if (encoding === "UTF-32") return undefined;
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  // Most files are ASCII, and to check that takes a fraction of the time of decoding.
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function undecodable(bytes: Uint8Array, wide: WideEncoding | undefined): SyntaxProblem {
  if (wide !== undefined) {
    const name = wide.slice(0, "UTF-16".length);
    return { offset: 0, message: `the file is ${name} as its first bytes say; save it as UTF-8` };
  }
  const offset = new TextDecoder().decode(bytes).indexOf("\ufffd");
  return { offset: Math.max(offset, 0), message: "a byte here is not UTF-8; save the file as UTF-8" };
}

function unprintable(text: string): SyntaxProblem | undefined {
  const offset = text.indexOf("\0");
  return offset === -1 ? undefined : { offset, message: "a NUL byte: this is not a text file" };
}
