import { varintLength, WireWriter } from "@xdskit/api/wire";

/** A serialized `google.protobuf.Duration` of this many milliseconds, 0 or more. */
export function durationBytes(milliseconds: number): Uint8Array {
  const whole = Math.floor(milliseconds / 1000);
  const rest = Math.round((milliseconds - whole * 1000) * 1e6);
  const [seconds, nanos] = rest === 1e9 ? [whole + 1, 0] : [whole, rest];
  const lengths = [seconds, nanos].map((value) => (value > 0 ? 1 + varintLength(value) : 0));
  const writer = new WireWriter(lengths.reduce((a, b) => a + b));
  if (seconds > 0) writer.number(1, seconds);
  if (nanos > 0) writer.number(2, nanos);
  return writer.bytes;
}
