/** A serialized `google.protobuf.Duration` of this many milliseconds, 0 or more. */
export function durationBytes(milliseconds: number): Uint8Array {
  let seconds = Math.floor(milliseconds / 1000);
  let nanos = Math.round((milliseconds - seconds * 1000) * 1e6);
  if (nanos === 1e9) {
    seconds += 1;
    nanos = 0;
  }
  const bytes: number[] = [];
  varintField(bytes, 1, seconds);
  varintField(bytes, 2, nanos);
  return Uint8Array.from(bytes);
}

function varintField(bytes: number[], field: number, value: number): void {
  if (value === 0) return;
  bytes.push(field * 8);
  let rest = value;
  // Seconds have more than 32 bits.
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}
