import fc from "fast-check";

const beforeSurrogates = 0xd800;
const surrogates = 0x800;

/**
 * Texts of any code points besides surrogates, as `fc.string({ unit: "binary" })` has them: that one first lists all
 * million of them, which takes seconds.
 */
export function anyText({ maxLength }: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  const scalar = fc.oneof(fc.nat(0x7f), fc.nat(0x10ffff - surrogates));
  const codePoint = scalar.map((value) => (value < beforeSurrogates ? value : value + surrogates));
  return fc.array(codePoint, { maxLength }).map((values) => String.fromCodePoint(...values));
}
