import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../../../api/src/testing/any-text.js";
import {
  addFingerprints,
  emptyFingerprint,
  equalFingerprints,
  fingerprintOf,
  formatFingerprint,
  MemberHash,
  subtractFingerprints,
} from "./fingerprint.js";

const text = anyText({ maxLength: 20 });

test("a member hashes the same as strings and as bytes of UTF-8", () => {
  const hash = new MemberHash();
  const encoder = new TextEncoder();
  fc.assert(
    fc.property(fc.array(text, { maxLength: 3 }), (parts) => {
      for (const part of parts) {
        const bytes = encoder.encode(`..${part}.`);
        hash.bytes(bytes, 2, bytes.length - 1);
      }
      assert.deepEqual(hash.finish(), fingerprintOf(...parts));
    }),
  );
});

test("the sum of fingerprints does not depend on their order, and subtracting undoes adding", () => {
  const member = text.map((name) => fingerprintOf(name));
  fc.assert(
    fc.property(fc.array(member), member, (members, extra) => {
      const sum = members.reduce(addFingerprints, emptyFingerprint);
      assert.deepEqual([...members].reverse().reduce(addFingerprints, emptyFingerprint), sum);
      assert.deepEqual(subtractFingerprints(addFingerprints(sum, extra), extra), sum);
    }),
  );
});

test("a fingerprint differs if its parts are divided elsewhere, or if any bit differs", () => {
  assert.equal(equalFingerprints(fingerprintOf("ab", "c"), fingerprintOf("a", "bc")), false);
  assert.equal(equalFingerprints(fingerprintOf("ab"), fingerprintOf("a", "b")), false);
  const seen = new Set<string>();
  for (let index = 0; index < 20_000; index++) seen.add(formatFingerprint(fingerprintOf(`cluster-${index}`, "v")));
  assert.equal(seen.size, 20_000);
});

test("one changed letter changes half of the bits, in both halves of a fingerprint", () => {
  let high = 0;
  let low = 0;
  for (let index = 0; index < 1000; index++) {
    const [a, b] = [fingerprintOf(`name-${index}`), fingerprintOf(`name-${index}x`)];
    high += ones(a.high ^ b.high);
    low += ones(a.low ^ b.low);
  }
  for (const average of [high / 1000, low / 1000]) assert.ok(average > 15 && average < 17, `${average} of 32 bits`);
});

function ones(bits: number): number {
  return (bits >>> 0).toString(2).replaceAll("0", "").length;
}
