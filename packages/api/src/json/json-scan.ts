import { endOfString } from "./json-strings.js";

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
  /** The offset of the first value too many. Undefined if there is none. */
  readonly tooMany: number | undefined;
}

/** Scans a text before JSON.parse makes values of it: a few bytes each can be more than the memory holds. */
export function scanJson(text: string, maxValues: number): JsonScan {
  let keys = 0;
  let hasLongNumbers = false;
  let depth = 0;
  let deepest = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 /* " */) {
      at = endOfString(text, at);
    } else if (code === 0x7b /* { */ || code === 0x5b /* [ */) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (++values > maxValues) return { keys, hasLongNumbers, depth: deepest, tooMany: at };
    } else if (code === 0x7d /* } */ || code === 0x5d /* ] */) {
      depth--;
    } else if (code === 0x2c /* , */) {
      if (++values > maxValues) return { keys, hasLongNumbers, depth: deepest, tooMany: at };
    } else if (code === 0x3a /* : */) {
      keys++;
    } else if (code >= 0x30 && code <= 0x39) {
      const start = at;
      while (isNumberPart(text.charCodeAt(at + 1))) at++;
      if (at - start >= longNumber - 1) hasLongNumbers = true;
    }
  }
  return { keys, hasLongNumbers, depth: deepest, tooMany: undefined };
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

/** Digits, `.`, `e`, `E`, `+`, `-`. */
function isNumberPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d
  );
}
