import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { TooManyFields } from "@xdskit/api/wire";
import fc from "fast-check";
import { addFingerprints, emptyFingerprint, fingerprintOf } from "../../model/names/fingerprint.js";
import { NameSet } from "../../model/names/name-set.js";
import { times } from "../../testing/effort.js";
import { equalBytes } from "../basics/equal-bytes.js";
import { KnownRuns } from "./known-runs.js";
import { readDeltaRequest, readSotwRequest } from "./requests.js";

const long = "x".repeat(40);
const name = fc.constantFrom(..."abcdefgh").map((letter) => `${letter}${long}`);
/** Long enough to be remembered, mostly; with names that repeat. */
const names = fc.array(name, { maxLength: 14 });

/** Consecutive parts of requests: protobuf reads them as one, whatever lies between repeated fields. */
const joined = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const subscribing = (resourceNamesSubscribe: string[]) =>
  toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { resourceNamesSubscribe }));
const claiming = (entries: readonly string[], version: string) =>
  joined(
    ...entries.map((entry) =>
      toBinary(
        DeltaDiscoveryRequestSchema,
        create(DeltaDiscoveryRequestSchema, { initialResourceVersions: { [entry]: version } }),
      ),
    ),
  );
const typed = toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { typeUrl: "t" }));

test("known names and claims are read as protobuf reads them: alone, with more behind, and with fields in between", () => {
  fc.assert(
    fc.property(names, names, fc.boolean(), fc.constantFrom("1", "2"), (one, two, isApart, version) => {
      const between = isApart ? [typed] : [];
      const all = [
        joined(subscribing(one), claiming(one, version)),
        joined(claiming(one, version), ...between, claiming(two, "3"), subscribing(one), ...between, subscribing(two)),
      ];
      // Each twice, so that the second read meets a known one.
      for (const bytes of [...all, ...all]) {
        const expected = fromBinary(DeltaDiscoveryRequestSchema, bytes);
        const { subscribe, claimed } = readDeltaRequest(bytes);
        assert.deepEqual(new Set(subscribe.toSet()), new Set(expected.resourceNamesSubscribe));
        assert.equal(subscribe.length, expected.resourceNamesSubscribe.length);
        assert.deepEqual(claimed.toMap(), new Map(Object.entries(expected.initialResourceVersions)));
        assert.equal(subscribe.identity.count, subscribe.length);
      }
    }),
  );
});

test("requests with the same claims in the same bytes share the result, which stays valid when their bytes are gone", () => {
  const fleet = Array.from({ length: 100 }, (_, index) => `cluster-${index}`);
  const bytes = [1, 2].map(() => Buffer.from(joined(subscribing(fleet), claiming(fleet, "v"))));
  const [first, second] = bytes.map((each) => readDeltaRequest(each));
  assert.equal(second?.claimed, first?.claimed);
  assert.equal(second?.subscribe.toSet(), first?.subscribe.toSet());
  assert.equal(first?.subscribe.toSet(), NameSet.of(fleet));
  for (const each of bytes) each.fill(0);
  assert.deepEqual(first?.claimed.toMap(), new Map(fleet.map((each) => [each, "v"])));
  assert.equal(first?.claimed.toMap(), first?.claimed.toMap(), "read once, however many look for its names");
  assert.deepEqual([...readDeltaRequest(joined(subscribing(fleet))).subscribe.toSet()], fleet);
});

test("limits hold for known names and claims too", () => {
  const fleet = Array.from({ length: 50 }, (_, index) => `listener-${index}`);
  const bytes = joined(subscribing(fleet), claiming(fleet, "v"));
  readDeltaRequest(bytes);
  assert.throws(() => readDeltaRequest(bytes, { names: 10, claims: 50 }), TooManyFields);
  assert.throws(() => readDeltaRequest(bytes, { names: 50, claims: 20 }), TooManyFields);
  const { subscribe, claimed } = readDeltaRequest(bytes, { names: 50, claims: 50 });
  assert.deepEqual([subscribe.toSet().size, claimed.toMap().size], [50, 50]);
  const sotw = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { resourceNames: fleet }));
  assert.equal(readSotwRequest(sotw).names.toSet().size, 50);
  assert.throws(() => readSotwRequest(sotw, { names: 49, claims: 0 }), TooManyFields);
});

test("the number of remembered runs is bounded, and those in use stay", () => {
  const runs = new KnownRuns<number>();
  const run = (value: number) => new Uint8Array(300).fill(value);
  for (let value = 0; value < 100; value++) {
    runs.learn(run(value), 0, 300, value);
    assert.equal(runs.find(run(0), 0, 300)?.value, 0);
  }
  const known = Array.from({ length: 100 }, (_, value) => runs.find(run(value), 0, 300)).filter(Boolean);
  assert.equal(known.length, 16);
  // A run that is longer than the rest is not found.
  assert.equal(runs.find(run(0), 1, 300), undefined);
  const large = new Uint8Array(2 * 1024 * 1024).fill(200);
  runs.learn(large, 0, large.length, -1);
  assert.equal(runs.find(large, 0, large.length), undefined);
});

test("parts of byte arrays are compared in place", () => {
  const bytes = new Uint8Array([1, 2, 3, 1, 2, 4]);
  assert.equal(equalBytes(bytes, 0, bytes, 3, 2), true);
  assert.equal(equalBytes(bytes, 0, bytes, 3, 3), false);
  assert.equal(equalBytes(Buffer.from(bytes), 1, bytes, 4, 1), true);
});

/** A length-delimited field. */
const field = (number: number, value: Uint8Array) => {
  const { length } = value;
  const size = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return joined(Uint8Array.from([number * 8 + 2, ...size]), value);
};
const text = (number: number, value: string) => field(number, new TextEncoder().encode(value));

test("claims are read as protobuf reads them, however their entries are written", () => {
  const lengths = [0, 1, 126, 127, 128, 300];
  const part = (letters: string) =>
    fc.oneof(
      fc.constantFrom(...lengths).map((length) => letters.repeat(length)),
      fc.constantFrom("a", "\u00fc", "b\u20ac"),
    );
  const entry = fc.tuple(part("n"), part("v"), fc.nat(8)).map(([name, version, form]) => {
    const [key, value, stranger] = [text(1, name), text(2, version), text(9, "x")];
    const forms: readonly (readonly [fields: Uint8Array[], name: string, version: string])[] = [
      [[key, value], name, version],
      [[value, key], name, version],
      [[key], name, ""],
      [[value], "", version],
      [[stranger, value], "", version],
      [[stranger, key, value], name, version],
      [[key, value, stranger], name, version],
      [[text(1, "y"), key, value], name, version],
      [[key, value, text(1, "z")], "z", version],
    ];
    const [fields, ...said] = forms[form] as (typeof forms)[number];
    return { bytes: field(5, joined(...fields)), said };
  });
  const other = fc
    .constantFrom(typed, text(3, "subscribed"), text(77, "unknown"))
    .map((bytes) => ({ bytes, said: undefined }));
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 4, arbitrary: entry }, other), { maxLength: 12 }), (fields) => {
      const bytes = joined(...fields.map((one) => one.bytes));
      const expected = fromBinary(DeltaDiscoveryRequestSchema, bytes).initialResourceVersions;
      const lent = joined(bytes);
      const { claimed } = readDeltaRequest(lent);
      lent.fill(0xff);
      assert.deepEqual(Object.fromEntries(claimed.toMap()), expected);
      const members = fields.flatMap(({ said }) => (said === undefined ? [] : [fingerprintOf(...said)]));
      const sum = members.reduce(addFingerprints, emptyFingerprint);
      assert.deepEqual(claimed.fingerprint, sum);
      assert.deepEqual(readDeltaRequest(bytes).claimed.fingerprint, sum);
    }),
    { numRuns: times(100) },
  );
});
