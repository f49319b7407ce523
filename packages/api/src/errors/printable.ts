import { describe, type Finding } from "./errors.js";

/**
 * Texts of clients and files must not move the cursor, forge a line or reverse the text: such characters are escaped.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A finding on one line, safe to print. */
export function findingText(finding: Finding): string {
  return printable(describe(finding));
}
