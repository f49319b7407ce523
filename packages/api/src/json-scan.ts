/**
 * Whether JSON.parse may have lost something of a text that it accepted: keys that come twice (it keeps the last), or numbers that a double does not hold.
 * True for more texts than need be, never false for one that does.
 */
export function mayLoseContent(text: string, keys: number): boolean {
  let colons = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 /* " */) {
      at = endOfString(text, at);
    } else if (code === 0x3a /* : */) {
      colons++;
    } else if (code >= 0x30 && code <= 0x39) {
      const start = at;
      while (isNumberPart(text.charCodeAt(at + 1))) at++;
      if (at - start >= 15) return true;
    }
  }
  return colons !== keys;
}

/** How many keys the objects in a value have. */
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

function endOfString(text: string, start: number): number {
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
