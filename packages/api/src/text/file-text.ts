import { isAscii } from "node:buffer";
import { LineIndex } from "./line-index.js";
import type { SyntaxProblem } from "./source-document.js";

/** A file's text, with the line and column of each character. */
export interface FileText {
  readonly text: string;
  at(offset: number): { readonly line: number; readonly column: number };
}

/** Decodes UTF-8 and drops a byte order mark. Bytes that a text file cannot contain are a problem with its position. */
export function decodeText(bytes: Uint8Array): FileText & { readonly problem: SyntaxProblem | undefined } {
  const text = decode(bytes);
  let lines: LineIndex | undefined;
  const at = (offset: number) => {
    lines ??= new LineIndex(text ?? new TextDecoder().decode(bytes));
    return lines.at(offset);
  };
  return { text: text ?? "", at, problem: text === undefined ? undecodable(bytes) : unprintable(text) };
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

function undecodable(bytes: Uint8Array): SyntaxProblem {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { offset: 0, message: "the file is UTF-16; save it as UTF-8" };
  }
  const offset = new TextDecoder().decode(bytes).indexOf("\ufffd");
  return { offset: Math.max(offset, 0), message: "a byte here is not UTF-8; save the file as UTF-8" };
}

function unprintable(text: string): SyntaxProblem | undefined {
  const offset = text.indexOf("\0");
  return offset === -1 ? undefined : { offset, message: "a NUL byte: this is not a text file" };
}
