import { type HeaderField, staticTable } from "./static-table.js";

/**
 * Writes a header block without the dynamic table. We send few fields, made once or rarely, and without state
 * connections can share a block. Characters above 255 must not occur.
 */
export function encodeHeaders(fields: readonly HeaderField[]): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of fields) {
    const whole = staticTable.findIndex(([known, content]) => known === name && content === value) + 1;
    if (whole > 0) {
      parts.push(integer(whole, 7, 0x80));
      continue;
    }
    const index = staticTable.findIndex(([known]) => known === name) + 1;
    parts.push(integer(index, 4, 0));
    if (index === 0) parts.push(text(name));
    parts.push(text(value));
  }
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  return Buffer.concat([integer(bytes.length, 7, 0), bytes]);
}

function integer(value: number, bits: number, flags: number): Buffer {
  const mask = 2 ** bits - 1;
  if (value < mask) return Buffer.of(flags | value);
  const bytes = [flags | mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}
