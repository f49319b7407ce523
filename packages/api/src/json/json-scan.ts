/** A number with this many characters may be more than a double can hold. */
const longNumber = 16;

/** The results of a scan of a JSON text that JSON.parse does not report. */
export interface JsonScan {
  /** The number of written keys. If the value has fewer, some are duplicates: JSON.parse keeps the last. */
  readonly keys: number;
  /** Whether some numbers are too long for a double. */
  readonly hasLongNumbers: boolean;
  /** The depth to which objects and arrays are nested. */
  readonly depth: number;
  /** The offsets of values in a top-level array (depth 1), or in an array of a top-level object (depth 2). */
  readonly items: { readonly 1: readonly number[]; readonly 2: readonly number[] };
}

/** Scans a text that JSON.parse has accepted. */
export function scanJson(text: string): JsonScan {
  const items = { 1: [] as number[], 2: [] as number[] };
  let keys = 0;
  let hasLongNumbers = false;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 /* " */) {
      at = endOfString(text, at);
    } else if (code === 0x7b /* { */ || code === 0x5b /* [ */) {
      if (code === 0x7b && (depth === 1 || depth === 2)) items[depth].push(at);
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d /* } */ || code === 0x5d /* ] */) {
      depth--;
    } else if (code === 0x3a /* : */) {
      keys++;
    } else if (code >= 0x30 && code <= 0x39) {
      const start = at;
      while (isNumberPart(text.charCodeAt(at + 1))) at++;
      if (at - start >= longNumber - 1) hasLongNumbers = true;
    }
  }
  return { keys, hasLongNumbers, depth: deepest, items };
}

/** The number of keys of all objects in a value. */
export function countKeys(value: unknown): number {
  if (value === null || typeof value !== "object") return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const key in value) {
    count += 1 + countKeys((value as Record<string, unknown>)[key]);
  }
  return count;
}

/** The end of the string that begins here: its closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** Digits, `.`, `e`, `E`, `+`, `-`. */
function isNumberPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d
  );
}
