import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import fc from "fast-check";
import { NameSet } from "../../model/names/name-set.js";
import { type RequestNames, sameNames } from "./names.js";
import { readSotwRequest } from "./requests.js";

const names = fc.array(fc.constantFrom("a", "b", "c", "aa", "ä", "日本", ""), { maxLength: 5 });

function requested(resourceNames: string[]): RequestNames {
  return readSotwRequest(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { resourceNames }))).names;
}

test("the names of a request become the set that others share, or a new one, and never a different one", () => {
  fc.assert(
    fc.property(names, names, (one, two) => {
      const held = requested(one).toSet();
      assert.equal(held, NameSet.of(one));
      // Once compared as bytes with the held names, in another order.
      assert.equal(requested([...one].reverse()).toSet(), held);
      assert.deepEqual(new Set(requested(two).toSet()), new Set(two));
    }),
  );
});

test("a request that repeats the names of another in any order is known without reading them", () => {
  fc.assert(
    fc.property(names, names, (one, two) => {
      assert.ok(sameNames(requested(one).identity, requested([...one].reverse()).identity));
      const equal = JSON.stringify([...one].sort()) === JSON.stringify([...two].sort());
      assert.equal(sameNames(requested(one).identity, requested(two).identity), equal);
    }),
  );
});

test("names with an equal sum are told apart by their letters", () => {
  const held = NameSet.of(["a", "b"]);
  const others = requested(["c", "d"]);
  const known = NameSet.like(2, requested(["b", "a"]).identity.fingerprint);
  assert.equal(known, held);
  assert.notEqual(others.toSet(), held);
  assert.equal(NameSet.like(3, requested(["b", "a"]).identity.fingerprint), undefined);
});
