import fc from "fast-check";

/**
 * One change of bytes. Positions are parts of 65,536 of the length, so that an edit fits any input.
 */
type Edit =
  | { readonly kind: "flip"; readonly at: number; readonly bit: number }
  | { readonly kind: "cut"; readonly at: number }
  | { readonly kind: "replace"; readonly at: number; readonly drop: number; readonly add: Uint8Array }
  | { readonly kind: "repeat"; readonly at: number; readonly length: number; readonly times: number }
  | { readonly kind: "splice"; readonly at: number; readonly from: number; readonly length: number };

const whole = 65_536;
const place = fc.nat(whole - 1);
/** No input grows beyond this by edits. */
const longest = 256 * 1024;

/** Bytes that mean something in wire formats: ends of ranges of varints and lengths. */
const telling = fc.constantFrom(
  ...["00", "01", "7f", "80", "ff", "ffff", "ffffffff0f", "ffffffffffffffffff01", "80808080808080808000"].map((hex) =>
    Uint8Array.from(Buffer.from(hex, "hex")),
  ),
);

/**
 * Valid inputs with faults: bytes flipped, cut off, dropped, inserted, repeated, grown, and joined to parts of each
 * other. Shrinks towards few edits. `pieces` are inserted besides random bytes: texts with a meaning in the format.
 */
export function damaged(samples: readonly Uint8Array[], pieces: readonly string[] = []): fc.Arbitrary<Uint8Array> {
  const encoded = pieces.map((piece) => new TextEncoder().encode(piece));
  const add = fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    telling,
    ...(encoded.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...encoded) }] : []),
  );
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.record({ kind: fc.constant("flip" as const), at: place, bit: fc.nat(7) }),
    fc.record({ kind: fc.constant("cut" as const), at: place }),
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("replace" as const), at: place, drop: fc.nat(9), add }) },
    fc.record({
      kind: fc.constant("repeat" as const),
      at: place,
      length: fc.integer({ min: 1, max: 64 }),
      times: fc.oneof({ weight: 4, arbitrary: fc.nat(4) }, fc.integer({ min: 100, max: 2_000 })),
    }),
    fc.record({
      kind: fc.constant("splice" as const),
      at: place,
      from: place,
      length: fc.integer({ min: 1, max: 64 }),
    }),
  );
  return fc
    .tuple(fc.constantFrom(...samples), fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 5 }))
    .map(([first, second, edits]) =>
      edits.reduce<Uint8Array>((bytes, each) => apply(bytes, each, second).subarray(0, longest), first),
    );
}

function apply(bytes: Uint8Array, edit: Edit, other: Uint8Array): Uint8Array {
  const at = Math.floor((edit.at / whole) * (bytes.length + 1));
  switch (edit.kind) {
    case "flip":
      return at < bytes.length ? bytes.with(at, (bytes[at] ?? 0) ^ (1 << edit.bit)) : bytes;
    case "cut":
      return bytes.subarray(0, at);
    case "replace":
      return joined(bytes.subarray(0, at), edit.add, bytes.subarray(at + edit.drop));
    case "repeat": {
      const part = bytes.subarray(at, at + edit.length);
      return joined(bytes.subarray(0, at), ...Array<Uint8Array>(edit.times).fill(part), bytes.subarray(at));
    }
    case "splice": {
      const from = Math.floor((edit.from / whole) * other.length);
      return joined(bytes.subarray(0, at), other.subarray(from, from + edit.length), bytes.subarray(at));
    }
  }
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}
