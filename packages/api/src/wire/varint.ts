/** The number of bytes that an integer from 0 to 2^53 − 1 takes as a varint. */
export function varintLength(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  return value < 2 ** 35 ? 5 : 1 + varintLength(Math.floor(value / 0x80));
}

/** Writes an integer from 0 to 2^53 − 1 as a varint, and returns the position behind it. */
export function putVarint(bytes: Uint8Array, position: number, value: number): number {
  let at = position;
  let rest = value;
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 0x80);
  }
  bytes[at++] = rest;
  return at;
}
