import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A serialized `google.protobuf.Duration` of this many milliseconds, 0 or more. */
export function durationBytes(milliseconds: number): Uint8Array {
  const whole = Math.floor(milliseconds / 1000);
  const rest = Math.round((milliseconds - whole * 1000) * 1e6);
  const [seconds, nanos] = rest === 1e9 ? [whole + 1, 0] : [whole, rest];
  const writer = new BinaryWriter();
  if (seconds > 0) writer.tag(1, WireType.Varint).int64(seconds);
  if (nanos > 0) writer.tag(2, WireType.Varint).int32(nanos);
  return writer.finish();
}
