/** So many are compared in the time in which Node is asked to. */
const few = 100;

/** Whether `bytes` has exactly `part` at a place. Costs next to nothing for a `Buffer`, however long the part is. */
export function hasAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  const end = at + part.length;
  if (end > bytes.length) return false;
  if (part.length > few && bytes instanceof Buffer) return bytes.compare(part, 0, part.length, at, end) === 0;
  for (let index = 0; index < part.length; index++) if (bytes[at + index] !== part[index]) return false;
  return true;
}

/** Whether `bytes` has exactly this text at a place; only ASCII is ever the same. */
export function hasTextAt(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80 || unit !== bytes[at + index]) return false;
  }
  return true;
}
